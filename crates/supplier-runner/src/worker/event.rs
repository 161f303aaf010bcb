//! What a worker tells while it works.

use lease_core::{
    AttemptOutcome, ClaimVerdict, Document, Ending, Failure, FencingToken, Phase, PhaseName, RunId, RunKey,
};

/// Something that happened to a run in this worker's hands.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The run.
    pub run: RunId,
    /// Its key; unknown for a run that this worker has never had.
    pub key: Option<RunKey>,
    /// The number of the claim it happened under; `None` where there was none.
    pub fence: Option<FencingToken>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// The run was claimed; it goes on after this phase.
    Claimed {
        /// The phase saved last.
        from: Phase,
    },
    /// A step begins.
    StepStarted {
        /// Its phase.
        phase: PhaseName,
    },
    /// A phase and its receipt are saved.
    PhaseSaved {
        /// The phase.
        phase: PhaseName,
    },
    /// The claim has ended.
    AttemptEnded {
        /// The phase that was under way, if one was.
        phase: Option<PhaseName>,
        /// How.
        outcome: AttemptOutcome,
        /// What belongs to the outcome.
        reason: Option<Document>,
    },
    /// The run has ended, in this worker's hands.
    RunEnded {
        /// How.
        ending: Ending,
        /// Why, if it failed.
        failure: Option<Failure>,
    },
    /// A run that was asked for cannot be claimed now.
    NotClaimed(ClaimVerdict),
}

/// Takes events as they come. Must not block.
pub trait Events: Send + Sync {
    /// Takes one.
    fn emit(&self, event: &Event);
}

/// Drops every event.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl Events for NoEvents {
    fn emit(&self, _event: &Event) {}
}
