//! How a step ends.

use std::time::Duration;

use lease_core::{Document, Effects, FailureKind};

/// What a step that is done leaves behind: both are saved with its phase, or neither is.
#[derive(Debug, Clone, PartialEq)]
pub struct StepDone {
    /// What is kept of it.
    pub receipt: Document,
    /// Rows for the supplier's tables.
    pub effects: Effects,
}

/// How a step ended. A step that was cancelled has no end: its future is dropped.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum StepEnd {
    /// It is done.
    Done(StepDone),
    /// Not now; try again later, if the phase's retry policy has tries left.
    Again {
        /// Why, in words.
        message: String,
        /// No sooner than this, where the other side said so.
        after: Option<Duration>,
    },
    /// It cannot be done; trying again would not help.
    Failed {
        /// What sort of failure: one of [`FailureKind`]'s words.
        kind: &'static str,
        /// Why, in words.
        message: String,
    },
    /// A person has to approve the phase; the approval's receipt is the phase's.
    AwaitApproval,
}

impl StepEnd {
    /// Done, with a receipt and no rows.
    pub fn receipt(receipt: Document) -> Self {
        Self::Done(StepDone { receipt, effects: Effects::none() })
    }

    /// Failed by the step itself.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { kind: FailureKind::STEP, message: message.into() }
    }

    /// To be tried again, whenever the retry policy says.
    pub fn again(message: impl Into<String>) -> Self {
        Self::Again { message: message.into(), after: None }
    }
}
