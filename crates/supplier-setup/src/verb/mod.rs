//! The verbs: what each of them does, one per file. A verb returns its exit code, or an error that
//! carries one.

mod act;
mod approve;
mod cancel;
mod check;
mod demo;
mod list;
mod migrate;
mod pause;
mod reject;
mod release;
mod resume;
mod retry;
mod run;
mod show;
mod submit;
mod transfer;
mod work;

use crate::arguments::{Common, Verb};
use crate::error::Error;
use crate::exit::Exit;
use crate::log::LogTarget;
use crate::output::Output;

/// What every verb gets.
pub(crate) struct Context {
    /// The flags that hold for all.
    pub(crate) common: Common,
    /// Standard output.
    pub(crate) output: Output,
    /// Standard error, as far as logs go there.
    pub(crate) log_target: LogTarget,
}

/// Does one.
pub(crate) async fn run(context: &Context, verb: Verb) -> Result<Exit, Error> {
    match verb {
        Verb::Run(arguments) => run::run(context, arguments).await,
        Verb::Submit(arguments) => submit::submit(context, arguments).await,
        Verb::Check(arguments) => check::check(context, &arguments),
        Verb::Work(arguments) => work::work(context, arguments).await,
        Verb::List(arguments) => list::list(context, arguments).await,
        Verb::Show(arguments) => show::show(context, &arguments).await,
        Verb::Retry(arguments) => retry::retry(context, arguments).await,
        Verb::Cancel(arguments) => cancel::cancel(context, arguments).await,
        Verb::Pause(arguments) => pause::pause(context, arguments).await,
        Verb::Resume(arguments) => resume::resume(context, arguments).await,
        Verb::Approve(arguments) => approve::approve(context, arguments).await,
        Verb::Reject(arguments) => reject::reject(context, arguments).await,
        Verb::Release(arguments) => release::release(context, arguments).await,
        Verb::Migrate(arguments) => migrate::migrate(context, &arguments).await,
        Verb::Transfer(arguments) => transfer::transfer(context, arguments).await,
        Verb::Demo => demo::demo(context).await,
        Verb::DemoWorker(arguments) => demo::demo_worker(context, arguments).await,
    }
}
