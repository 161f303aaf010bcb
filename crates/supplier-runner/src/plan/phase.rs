//! One `[[phase]]` of a plan file.

use std::path::Path;
use std::sync::Arc;

use lease_core::PhaseName;

use super::draft::{Does, Draft};
use super::entry::{Entries, Entry, Problems};
use super::fill::Environment;
use super::http::Call;
use super::retry::RetryPolicy;
use super::runnable::PhaseStep;
use super::uses::Uses;
use super::{command, http};
use crate::step::{CommandStep, HttpStep, Portal, Step};

/// The most tries of a step.
const MOST_ATTEMPTS: u32 = 1_000;

/// What does a phase, filled in and ready but for the wire of its calls.
#[derive(Debug)]
pub(super) enum Ready {
    /// A built-in step.
    Uses(Uses),
    /// A command.
    Command(CommandStep),
    /// A call.
    Http(Box<Call>),
}

impl Ready {
    /// The step. A call goes over `portal`.
    pub(super) fn into_step(self, portal: &Arc<dyn Portal>) -> Arc<dyn Step> {
        match self {
            Self::Uses(uses) => uses.step(),
            Self::Command(step) => Arc::new(step),
            Self::Http(call) => {
                let Call { name, url, headers, secrets } = *call;
                Arc::new(HttpStep { name, url, headers, secrets, portal: Arc::clone(portal) })
            }
        }
    }
}

/// Reads a phase.
pub(super) fn read(
    mut entries: Entries<'_>,
    folder: &Path,
    environment: Environment<'_>,
    problems: &mut Problems<'_>,
) -> Option<(Draft, Ready)> {
    let name = entries.required("name", problems).and_then(|entry| name(&entry, problems));
    let (uses, run, call) = (entries.optional("uses"), entries.optional("command"), entries.optional("http"));
    let env = entries.optional("env");
    let timeout = match entries.optional("timeout") {
        None => Some(PhaseStep::DEFAULT_TIMEOUT),
        Some(entry) => entry.duration(problems),
    };
    let retry = match entries.optional("retry") {
        None => Some(RetryPolicy::default()),
        Some(entry) => entry.table(problems).and_then(|table| retry(table, problems)),
    };
    if let (Some(env), None) = (&env, &run) {
        env.problem("goes with a command only", problems);
    }
    let does = match (uses, run, call) {
        (Some(entry), None, None) => {
            built_in(&entry, problems).map(|uses| (Does::Uses(uses), Ready::Uses(uses)))
        }
        (None, Some(entry), None) => command::read(&entry, env.as_ref(), folder, environment, problems)
            .map(|(does, step)| (does, Ready::Command(step))),
        (None, None, Some(entry)) => {
            http::read(&entry, environment, problems).map(|(does, call)| (does, Ready::Http(Box::new(call))))
        }
        (None, None, None) => {
            entries.problem("", "says not what to do: one of uses, command and http", problems);
            None
        }
        (Some(_), _, _) | (None, Some(_), Some(_)) => {
            entries.problem("", "says more than one thing to do: one of uses, command and http", problems);
            None
        }
    };
    entries.finish(problems);
    let (does, ready) = does?;
    Some((Draft { name: name?, does, timeout: timeout?, retry: retry? }, ready))
}

fn name(entry: &Entry<'_>, problems: &mut Problems<'_>) -> Option<PhaseName> {
    let read = PhaseName::new(entry.text(problems)?);
    read.map_err(|error| entry.problem(error.to_string(), problems)).ok()
}

fn built_in(entry: &Entry<'_>, problems: &mut Problems<'_>) -> Option<Uses> {
    let word = entry.text(problems)?;
    let uses = Uses::named(word);
    if uses.is_none() {
        let words = Uses::ALL.map(Uses::as_str).join(", ");
        entry.problem(format!("{word:?} is no built-in step; there are {words}"), problems);
    }
    uses
}

fn retry(mut entries: Entries<'_>, problems: &mut Problems<'_>) -> Option<RetryPolicy> {
    let default = RetryPolicy::default();
    let attempts = match entries.optional("attempts") {
        None => Some(default.attempts),
        Some(entry) => entry.integer(problems).and_then(|number| {
            let attempts = u32::try_from(number).ok().filter(|tries| (1..=MOST_ATTEMPTS).contains(tries));
            if attempts.is_none() {
                entry.problem(format!("must be 1 to {MOST_ATTEMPTS}"), problems);
            }
            attempts
        }),
    };
    let mut wait = |name, default| match entries.optional(name) {
        None => Some(default),
        Some(entry) => entry.duration(problems),
    };
    let (first, longest) = (wait("first", default.first), wait("longest", default.longest));
    if let (Some(first), Some(longest)) = (first, longest)
        && longest < first
    {
        let [first, longest] = [first, longest].map(humantime::format_duration);
        entries.problem("first", format!("{first} is longer than the longest, {longest}"), problems);
    }
    entries.finish(problems);
    Some(RetryPolicy { attempts: attempts?, first: first?, longest: longest? })
}
