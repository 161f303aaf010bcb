//! One step, run on the step lane: with its time limit, its panics caught, and its lease kept alive
//! from the heartbeat lane.

use std::any::Any;
use std::sync::Arc;

use lease_core::{Guarded, Lease, LostReason, under_lease};
use tokio::task::JoinError;

use super::lanes::OwnedTask;
use super::living::Slot;
use super::main_loop::Context;
use crate::plan::PhaseStep;
use crate::step::{StepEnd, StepRequest};

/// How a step came out, as the worker sees it.
#[derive(Debug)]
pub(super) enum StepResult {
    /// It returned.
    Returned(StepEnd),
    /// It was still running at its time limit, and was ended or abandoned.
    TimedOut,
    /// It panicked, with this message.
    Panicked(String),
    /// The worker was told to stop and the step's time was up.
    Interrupted,
}

/// Runs a step. One that is not quick runs under the heartbeat, and its result counts only if the
/// lease was confirmed after it.
pub(super) async fn run(
    context: &Arc<Context>,
    lease: Lease,
    step: &PhaseStep,
    request: Arc<StepRequest>,
    slot: Slot,
) -> Guarded<StepResult> {
    let work = attempt(Arc::clone(context), step.clone(), request, slot);
    if step.step.is_quick() {
        return Guarded::Finished { lease, value: work.await, yield_asked: false };
    }
    let beating = Arc::clone(context);
    let guarded = OwnedTask::spawn(&context.lanes.heartbeats, async move {
        under_lease(&*beating.renewals, &*beating.clock, lease, work).await
    });
    match guarded.await {
        Ok(guarded) => guarded,
        Err(error) => {
            tracing::error!(%error, "the heartbeat of a step ended unexpectedly");
            Guarded::Lost(LostReason::Unconfirmed)
        }
    }
}

/// The step itself. Dropping this ends the step at its next await; one that blocks its thread lives
/// on, and so does its slot.
async fn attempt(
    context: Arc<Context>,
    step: PhaseStep,
    request: Arc<StepRequest>,
    slot: Slot,
) -> StepResult {
    let limit = context.clock.now().plus(step.timeout);
    let task = OwnedTask::spawn(&context.lanes.steps, async move {
        let end = step.step.run(&request).await;
        drop(slot);
        end
    });
    tokio::select! {
        biased;
        joined = task => returned(joined),
        () = context.stopping.grace_over() => StepResult::Interrupted,
        () = context.clock.sleep_until(limit) => StepResult::TimedOut,
    }
}

fn returned(joined: Result<StepEnd, JoinError>) -> StepResult {
    match joined {
        Ok(end) => StepResult::Returned(end),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => StepResult::Panicked(panic_message(&*panic)),
            // Only the end of the whole lane cancels a step whose handle is still held.
            Err(_cancelled) => StepResult::Interrupted,
        },
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
