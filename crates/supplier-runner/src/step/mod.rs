//! Steps: what is done for a phase, by the program itself, by a command or by an HTTP call.
//!
//! A step gets a [`StepRequest`] and comes back with a [`StepEnd`]. It writes nothing to the run: its
//! receipt and its rows are data, saved under the lease or not at all (ALL-OR-NOTHING). It may run
//! more than once, and hands on the idempotency key and the fencing token to whatever it calls.

mod builtin;
pub(crate) mod command;
pub(crate) mod http;
mod outcome;
mod printed;
mod request;
pub(crate) mod secrets;
#[cfg(test)]
mod testing;

use async_trait::async_trait;

pub use builtin::{Approval, OpenPurchasing, Register, Validate};
pub use command::{CommandStep, ProcessCall, ProcessEnd, ProcessError, ProcessRunner, SystemProcesses};
pub use http::{HttpPortal, HttpStep, NoHttpClient, Portal, PortalAnswer, PortalCall, PortalError};
pub use outcome::{StepDone, StepEnd};
pub use request::StepRequest;

/// What is done for one phase.
#[async_trait]
pub trait Step: Send + Sync {
    /// Whether it only computes, in far less than a heartbeat's interval. Such a step runs without a
    /// heartbeat, and must neither wait nor block.
    fn is_quick(&self) -> bool;

    /// Does it.
    ///
    /// # Cancel safety
    /// The future is dropped when the lease is lost, the time limit is up or the worker stops.
    /// Nothing that it started may go on after that.
    async fn run(&self, request: &StepRequest) -> StepEnd;
}
