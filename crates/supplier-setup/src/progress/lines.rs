//! Plain lines on standard output, where nobody watches a terminal: one for each end of an attempt or
//! run that says something new.

use std::collections::HashMap;

use lease_core::{AttemptOutcome, ClaimVerdict, Ending, RunId};
use supplier_runner::worker::{Event, EventKind};
use time::OffsetDateTime;

use super::View;
use super::words::{name, words};
use crate::output::Output;

/// Lines of text.
pub(super) struct Lines {
    output: Output,
    /// What was said last of runs that wait: the worker looks at them again and again.
    waiting: HashMap<RunId, String>,
}

impl Lines {
    pub(super) fn new(output: Output) -> Self {
        Self { output, waiting: HashMap::new() }
    }
}

impl View for Lines {
    fn event(&mut self, _at: OffsetDateTime, event: &Event) {
        if !is_news(&event.kind) {
            return;
        }
        let words = words(&event.kind);
        let waits = matches!(
            event.kind,
            EventKind::NotClaimed(_) | EventKind::AttemptEnded { outcome: AttemptOutcome::Waiting, .. }
        );
        if waits {
            if self.waiting.get(&event.run) == Some(&words) {
                return;
            }
            self.waiting.insert(event.run, words.clone());
        } else {
            self.waiting.remove(&event.run);
        }
        self.output.line(&format!("{}  {words}", name(event)));
    }
}

/// Whether an event gets a line: the end of a run, or of an attempt that did not end its run, and
/// what is in the way of a claim for longer than a moment.
fn is_news(kind: &EventKind) -> bool {
    match kind {
        EventKind::RunEnded { .. } => true,
        EventKind::AttemptEnded { outcome, .. } => {
            !matches!(outcome, AttemptOutcome::Completed | AttemptOutcome::Failed)
        }
        EventKind::NotClaimed(verdict) => match verdict {
            ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::UnknownPlan(_)
            | ClaimVerdict::Gone => true,
            ClaimVerdict::Finished(ending) => *ending != Ending::Completed,
            ClaimVerdict::Granted(_)
            | ClaimVerdict::Busy { .. }
            | ClaimVerdict::NotDue { .. }
            | ClaimVerdict::SetAside(_)
            | ClaimVerdict::Lapsed { .. } => false,
        },
        EventKind::Claimed { .. } | EventKind::StepStarted { .. } | EventKind::PhaseSaved { .. } => false,
    }
}
