//! The program as a whole: parse, set up logs and the runtime, do the verb, report once, exit.

use clap::Parser;
use tokio::runtime::Builder;

use crate::arguments::{Arguments, Verb};
use crate::database_url::without_passwords;
use crate::error::Error;
use crate::exit::Exit;
use crate::log::{self, LogTarget};
use crate::output::{Output, note};
use crate::verb::{self, Context};

/// Does what the command line says.
pub(crate) fn run() -> Exit {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let Arguments { common, verb } = arguments;
    let works = matches!(verb, Verb::Run(_) | Verb::Work(_));
    let target = LogTarget::default();
    log::start(common.log_format, works, target.clone());
    let context = Context { common, output: Output::default(), log_target: target };
    let done = with_runtime(verb::run(&context, verb));
    let written = context.output.finish();
    let exit = done.unwrap_or_else(|error| report(&error));
    written.map_or_else(|error| report(&error).or(exit), |()| exit)
}

fn with_runtime(work: impl Future<Output = Result<Exit, Error>>) -> Result<Exit, Error> {
    let started = Builder::new_multi_thread().enable_all().build();
    let runtime = started.map_err(|source| Error::System { doing: "start the program's threads", source })?;
    let done = runtime.block_on(work);
    // Whatever still blocks a thread (a name being resolved) is not waited for.
    runtime.shutdown_background();
    done
}

fn report(error: &Error) -> Exit {
    note(&error.report());
    error.exit()
}

/// What clap has to say: help and versions to standard output, wrong usage to standard error, where
/// a URL that was given in the wrong place loses its password.
fn usage(error: &clap::Error) -> Exit {
    let text = error.render().to_string();
    if error.use_stderr() && text.contains("://") {
        note(without_passwords(&text).trim_end());
    } else {
        // A closed pipe had enough.
        let _unheard = error.print();
    }
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}
