//! What a plan says of one phase, before anything is filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use lease_core::PhaseName;

use super::retry::RetryPolicy;
use super::runnable::PhaseStep;
use super::uses::Uses;
use crate::step::Step;

/// One phase of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) name: PhaseName,
    pub(super) does: Does,
    pub(super) timeout: Duration,
    pub(super) retry: RetryPolicy,
}

/// What a phase does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Does {
    /// A built-in step.
    Uses(Uses),
    /// A command, with the variables it gets.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// The variables' names.
        env: BTreeSet<String>,
    },
    /// A call.
    Http {
        /// The address.
        url: String,
        /// The headers, their names in lower case: case makes no difference to them.
        headers: BTreeMap<String, String>,
    },
}

impl Draft {
    /// The phase with the step that does it.
    pub(super) fn with(self, step: Arc<dyn Step>) -> PhaseStep {
        PhaseStep { name: self.name, step, timeout: self.timeout, retry: self.retry }
    }
}
