//! Opening a run.

use crate::digest::Digest;
use crate::phase::Phase;
use crate::request::Submit;
use crate::run::{Hold, Run, Status};
use crate::timestamp::Timestamp;
use crate::verdict::SubmitVerdict;

/// What a submit comes to, given the run that has its key and the digest of the plan that is in use
/// under its name and version. A run is opened with [`open`] where the answer is `Opened`.
pub fn submit(by_key: Option<&Run>, registered: Option<Digest>, request: &Submit) -> SubmitVerdict {
    let plan = &request.plan.id;
    match by_key {
        Some(run) if run.plan.id == *plan && run.input_digest == request.input_digest() => {
            SubmitVerdict::Existing { run: run.id }
        }
        Some(run) => SubmitVerdict::KeyConflict {
            run: run.id,
            plan: run.plan.id.clone(),
            content_differs: run.input_digest != request.input_digest(),
        },
        None => match registered {
            Some(digest) if digest != plan.digest => SubmitVerdict::PlanConflict { registered: digest },
            Some(_) | None => SubmitVerdict::Opened,
        },
    }
}

/// The run that a submit opens: nothing saved, never claimed, due now.
#[must_use]
pub fn open(request: &Submit, now: Timestamp) -> Run {
    Run {
        id: request.id,
        key: request.key.clone(),
        plan: request.plan.clone(),
        priority: request.priority,
        phase: Phase::Submitted,
        mark: None,
        status: Status::Open,
        paused: false,
        hold: Hold::Never,
        losses: 0,
        failures: 0,
        due_at: now,
        key_epoch: 0,
        input: request.input.clone(),
        input_digest: request.input_digest(),
        error: None,
        submitted_at: now,
    }
}
