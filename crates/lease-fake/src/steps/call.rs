//! What a step is given and returns, and the steps of a plan as a trial sees them.

use std::fmt;
use std::future::Future;

use lease_core::{Document, Effects, Job, LeaseId, PhaseName, Receipt};

/// One phase to be done, under one claim.
#[derive(Debug, Clone)]
pub struct Call {
    /// The claim: the run's id, the owner and the fencing token.
    pub lease: LeaseId,
    /// What the claim was granted with: the run's key, its plan and its input.
    pub job: Job,
    /// The phase.
    pub phase: PhaseName,
    /// The receipts of the phases saved so far, in order.
    pub receipts: Vec<Receipt>,
    /// The same on every attempt of this phase: [`Job::idempotency_key`].
    pub idempotency_key: String,
}

/// What a step that is done leaves behind, to be saved with its phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What is kept of it.
    pub receipt: Document,
    /// Rows for tables of the caller's own.
    pub effects: Effects,
}

impl Done {
    /// A receipt without rows.
    #[must_use]
    pub fn receipt(receipt: Document) -> Self {
        Self { receipt, effects: Effects::none() }
    }
}

/// The steps of a plan, with the world outside that they act on. A trial makes a new value for each
/// run, so nothing that one run did outside is there in the next.
pub trait Steps {
    /// What a worker keeps in memory from one step to the next; `()` where that is nothing. A worker
    /// that dies takes it along.
    type Process;

    /// What is seen of the world outside, such as how many orders were placed.
    type Seen: PartialEq + fmt::Debug;

    /// A worker starts, with a memory in which there is nothing of a run yet.
    fn start(&self) -> Self::Process;

    /// Does the step of one phase. An error is a step that says no.
    fn step(&self, process: &mut Self::Process, call: &Call) -> impl Future<Output = Result<Done, String>>;

    /// Looks at the world outside.
    fn seen(&self) -> impl Future<Output = Self::Seen>;

    /// Whether two calls of one phase returned the same. Say otherwise where something in a receipt may
    /// differ, such as the time at which a portal was asked.
    fn same(&self, phase: &PhaseName, first: &Done, again: &Done) -> bool {
        let _any_phase = phase;
        first == again
    }
}
