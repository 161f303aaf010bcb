//! Events in words, as they stand behind a supplier's key.

use lease_core::{AttemptOutcome, ClaimVerdict, Document, Ending, PhaseName};
use supplier_runner::worker::{Event, EventKind};

use crate::output::plain::{duration, plain};
use crate::reason;

/// The name to show a run under: its key, or its id where the key is not known.
pub(super) fn name(event: &Event) -> String {
    event.key.as_ref().map_or_else(|| event.run.to_string(), |key| plain(key.as_str()))
}

/// What happened.
pub(super) fn words(kind: &EventKind) -> String {
    match kind {
        EventKind::Claimed { from } => format!("claimed, after {}", from.as_str()),
        EventKind::StepStarted { phase } => format!("{}: working", phase.as_str()),
        EventKind::PhaseSaved { phase } => format!("{}: saved", phase.as_str()),
        EventKind::AttemptEnded { phase, outcome, reason } => {
            plain(&attempt_ended(phase.as_ref(), *outcome, reason.as_ref()))
        }
        EventKind::RunEnded { ending, failure } => {
            let why = failure.as_ref().map_or(String::new(), |failure| format!(": {failure}"));
            plain(&format!("{ending}{why}"))
        }
        EventKind::NotClaimed(verdict) => plain(&not_claimed(verdict)),
    }
}

fn attempt_ended(phase: Option<&PhaseName>, outcome: AttemptOutcome, reason: Option<&Document>) -> String {
    let at = phase.map_or(String::new(), |phase| format!(" at {}", phase.as_str()));
    let why = reason.map_or(String::new(), |reason| format!(": {}", reason::in_words(reason)));
    match outcome {
        AttemptOutcome::Completed => "all phases saved".to_owned(),
        AttemptOutcome::Yielded => format!("given back{at}"),
        AttemptOutcome::Retrying => format!("to be tried again{at}{why}"),
        AttemptOutcome::Waiting => {
            let of = phase.map_or(String::new(), |phase| format!(" of {}", phase.as_str()));
            format!("waits for an approval{of}")
        }
        AttemptOutcome::Failed => format!("failed{at}{why}"),
        AttemptOutcome::Cancelled => format!("cancelled{at}{why}"),
        AttemptOutcome::Revoked => format!("lease taken away{at}{why}"),
        AttemptOutcome::Superseded => format!("superseded{at}{why}"),
        AttemptOutcome::Blocked => format!("blocked, the lease was lost{at}{why}"),
    }
}

fn not_claimed(verdict: &ClaimVerdict) -> String {
    match verdict {
        ClaimVerdict::Granted(_) => "claimed".to_owned(),
        ClaimVerdict::Busy { owner, fence, remaining } => {
            format!("held by {} with number {fence} for another {}", owner.as_str(), duration(*remaining))
        }
        ClaimVerdict::NotDue { due_in } => format!("to be tried again in {}", duration(*due_in)),
        ClaimVerdict::Waiting { phase } => format!("waits for an approval of {}", phase.as_str()),
        ClaimVerdict::Paused => "paused".to_owned(),
        ClaimVerdict::Finished(Ending::Completed) => "completed before".to_owned(),
        ClaimVerdict::Finished(ending) => format!("is {ending}"),
        ClaimVerdict::UnknownPlan(plan) => {
            format!("waits for a worker with plan {plan} (digest {})", plan.digest)
        }
        ClaimVerdict::SetAside(failure) => format!("set aside: {failure}"),
        ClaimVerdict::Lapsed { fence } => {
            format!("the lease of number {fence} ran out before its answer came")
        }
        ClaimVerdict::Gone => "there is no such run any more".to_owned(),
    }
}
