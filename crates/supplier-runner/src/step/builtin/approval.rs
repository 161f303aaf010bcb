//! `approval`: the run waits, without a lease, until a person approves the phase.

use async_trait::async_trait;

use crate::step::{Step, StepEnd, StepRequest};

/// Asks for a person.
#[derive(Debug, Clone, Copy)]
pub struct Approval;

#[async_trait]
impl Step for Approval {
    fn is_quick(&self) -> bool {
        true
    }

    async fn run(&self, _request: &StepRequest) -> StepEnd {
        StepEnd::AwaitApproval
    }
}
