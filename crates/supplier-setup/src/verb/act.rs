//! What operators' verbs share: who acts, asking first, sending the action, and telling the answer.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use lease_core::{Action, Operator, OperatorVerdict, RunId, RunKey, StoreError, Who};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::Context;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::note;
use crate::output::plain::plain;
use crate::reason::refusal_in_words;
use crate::selected_run::select;
use crate::worker_settings::plain_connections;

/// How long an action that was not carried out is sent again for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long to wait before it is sent again.
const PAUSE: Duration = Duration::from_millis(250);
/// Where the environment says who the user is.
const USER_VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// One operator's verb.
pub(super) struct Act {
    /// The verb, as typed.
    pub(super) verb: &'static str,
    /// The run, as typed.
    pub(super) run: String,
    /// What to do.
    pub(super) action: Action,
    /// Who, and why.
    pub(super) who: Who,
    /// What to ask a person first; none: nothing.
    pub(super) question: Option<&'static str>,
    /// What to say once it is done.
    pub(super) done: &'static str,
}

/// The result.
#[derive(Debug, Serialize)]
struct ActDocument {
    run: String,
    key: String,
    action: &'static str,
    outcome: &'static str,
    reason: Option<String>,
}

/// Who acts: as named, or as the environment says, or the user's number.
///
/// # Errors
/// When the name or the reason cannot be kept.
pub(super) fn who(by: Option<String>, reason: Option<String>) -> Result<Who, Error> {
    let named =
        || USER_VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    let by = by.or_else(named).unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    Ok(Who::new(by, reason)?)
}

/// Does it.
///
/// # Errors
/// When the run is not found, or the store does not answer.
pub(super) async fn act(context: &Context, act: Act) -> Result<Exit, Error> {
    let Act { verb, run, action, who, question, done } = act;
    let database = Database::open(&context.common, &plain_connections(), Schema::MustFit).await?;
    let found = select(database.reader(), &run).await?.run;
    if question.is_some_and(|question| !confirmed(verb, &found.key, question)) {
        note("nothing was changed");
        return Ok(Exit::DoesNotFit);
    }
    let verdict = send(&*database.operator(), found.id, &action, &who).await?;
    let (outcome, reason, exit) = match verdict {
        OperatorVerdict::Done => ("done", None, Exit::Done),
        OperatorVerdict::AlreadySo => ("already", None, Exit::Done),
        OperatorVerdict::Refused(refusal) => ("refused", Some(refusal_in_words(&refusal)), Exit::DoesNotFit),
        OperatorVerdict::Gone => return Err(Error::NoSuchRun(run)),
    };
    let key = plain(found.key.as_str());
    if context.common.json {
        let (run, key) = (found.id.to_string(), found.key.to_string());
        context.output.json(&ActDocument { run, key, action: verb, outcome, reason });
    } else {
        match reason {
            Some(reason) => {
                note(&format!("error: cannot {verb} {key}: {}; nothing was changed", plain(&reason)))
            }
            None if exit == Exit::Done && outcome == "already" => {
                context.output.line(&format!("{key}: {}", already(verb, done)))
            }
            None => context.output.line(&format!("{key}: {done}")),
        }
    }
    Ok(exit)
}

/// What is said where the run stands as it was to be.
fn already(verb: &str, done: &str) -> String {
    // A run that was never paused was not resumed before either.
    if verb == "resume" { "is not paused; nothing was changed".to_owned() } else { format!("{done} before") }
}

/// Asks on a terminal. Where nobody is there to answer, the command line counts as the answer.
fn confirmed(verb: &str, key: &RunKey, question: &str) -> bool {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return true;
    }
    let mut stderr = io::stderr().lock();
    let asked = write!(stderr, "{verb} {}: {question} [y/N] ", plain(key.as_str()));
    let mut answer = String::new();
    let read = asked.and_then(|()| stderr.flush()).and_then(|()| stdin.lock().read_line(&mut answer));
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Sends an action. One that surely was not carried out is sent again; one that may have been is not,
/// since a second retry or approval could be told something else than the first.
async fn send(
    store: &dyn Operator,
    run: RunId,
    action: &Action,
    who: &Who,
) -> Result<OperatorVerdict, Error> {
    let give_up = Instant::now() + PATIENCE;
    loop {
        match store.act(run, action, who).await {
            Ok(verdict) => return Ok(verdict),
            Err(error @ (StoreError::Unreachable(_) | StoreError::NotApplied(_))) => {
                if Instant::now() >= give_up {
                    return Err(Error::Store { doing: "act on the run", source: error });
                }
                sleep(PAUSE).await;
            }
            Err(error @ StoreError::Unknown(_)) => return Err(Error::ActionUnknown(error)),
            Err(source) => return Err(Error::of_store("act on the run", source)),
        }
    }
}
