//! One claim from its grant to its end: phase after phase, each saved under the lease.
//!
//! Keeps RESUME (it goes on from the phase the claim was granted at) and TRUTH (each end is told by
//! the store's answer, not by what was meant). How a claim ends is in `ending`.

use std::sync::Arc;
use std::time::Duration;

use lease_core::{
    AttemptOutcome, Document, Due, Ending, Failure, FailureKind, Grant, Guarded, Job, Lease, LeaseId, Loss,
    LostReason, Moment, Phase, PhaseName, Receipt, Refused, Save, SaveEnd, SaveFate, StoreError, save_phase,
    why_lost,
};

use super::event::{Event, EventKind};
use super::ids::random_fraction;
use super::living::Slot;
use super::main_loop::Context;
use super::step_task::{self, StepResult};
use crate::plan::{PhaseStep, RunnablePlan};
use crate::step::{StepDone, StepEnd, StepRequest};

/// How a claim ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JobEnd {
    /// The run is completed.
    Completed,
    /// The run is failed.
    Failed,
    /// The lease was given up in good order; a new claim will tell how the run stands.
    Released,
    /// The lease was given up, and the run waits for an approval of this phase.
    Waiting(PhaseName),
    /// The lease was lost.
    Lost(LostReason),
    /// The worker was told to end at once, and the job went no further; its lease runs out by itself.
    Dropped,
    /// The job broke off over a bug of its own; its lease runs out by itself.
    Broken,
}

/// What the next phase is started with, or how the claim ended.
enum Next {
    Phase(Lease),
    End(JobEnd),
}

/// The claim under way.
pub(super) struct Claim {
    pub(super) context: Arc<Context>,
    plan: Arc<RunnablePlan>,
    pub(super) id: LeaseId,
    pub(super) job: Job,
    slot: Slot,
    yield_asked: bool,
}

impl Claim {
    /// Takes a granted claim that was sent at `sent_at`, and works on it until it ends, or until the
    /// worker is told to end at once.
    pub(super) async fn work(context: Arc<Context>, grant: Grant, sent_at: Moment, slot: Slot) -> JobEnd {
        let stopping = context.stopping.clone();
        // Asked here, and first: until the main loop gets to dropping it, a job whose step was ended
        // would go on to release its lease.
        tokio::select! {
            biased;
            () = stopping.now() => JobEnd::Dropped,
            end = Self::to_its_end(context, grant, sent_at, slot) => end,
        }
    }

    async fn to_its_end(context: Arc<Context>, grant: Grant, sent_at: Moment, slot: Slot) -> JobEnd {
        let (mut lease, job) = grant.accept(context.settings.lease, sent_at);
        let plan = Arc::clone(context.plan(&job.plan.id.digest).expect("claims name only known plans"));
        let id = lease.id().clone();
        let mut claim = Self { context, plan, id, job, slot, yield_asked: false };
        claim.emit(EventKind::Claimed { from: claim.job.phase.clone() });
        if let Some(end) = claim.came_too_late(&lease).await {
            return end;
        }
        loop {
            match claim.next_phase(lease).await {
                Next::Phase(held) => lease = held,
                Next::End(end) => return end,
            }
        }
    }

    /// The grant was heard when its lease was not to be trusted any more: nothing is begun.
    async fn came_too_late(&self, lease: &Lease) -> Option<JobEnd> {
        let context = &self.context;
        if context.clock.now() < lease.deadline() {
            return None;
        }
        let phase = self.job.next_phase().cloned()?;
        let why = why_lost(&*context.store, &*context.clock, lease.settings(), &self.id).await;
        let why = why.unwrap_or(LostReason::Unconfirmed);
        Some(self.lost(Loss::before_save(Refused::Claim, phase, why)).await)
    }

    /// Does one phase.
    async fn next_phase(&mut self, lease: Lease) -> Next {
        let Some(phase) = self.job.next_phase().cloned() else {
            tracing::error!(run = %self.id.run, "an open run has no phase left; it is given back");
            return Next::End(self.release(lease, None, Due::Now).await);
        };
        if self.yield_asked || self.context.stopping.is_draining() {
            return Next::End(self.release(lease, Some(phase), Due::Now).await);
        }
        let plan = Arc::clone(&self.plan);
        let step = plan.step_for(&phase).expect("a plan with the run's digest has the run's phases");
        let receipts = match self.receipts(&lease).await {
            Ok(receipts) => receipts,
            Err(why) => return Next::End(self.lost(Loss::before_save(Refused::Read, phase, why)).await),
        };
        let Some(request) = StepRequest::new(&self.id, &self.job, receipts) else {
            let message = "the run's receipts do not match its phase";
            let save = SaveFate::NotSaved;
            return Next::End(self.fail(lease, phase, FailureKind::STEP, message, save).await);
        };
        self.emit(EventKind::StepStarted { phase: phase.clone() });
        let slot = self.slot.clone();
        match step_task::run(&self.context, lease, step, Arc::new(request), slot).await {
            Guarded::Lost(why) => Next::End(self.lost(Loss::before_save(Refused::Renew, phase, why)).await),
            Guarded::Finished { lease, value, yield_asked } => {
                self.yield_asked = yield_asked;
                self.after_step(lease, phase, step, value).await
            }
        }
    }

    async fn after_step(
        &mut self,
        lease: Lease,
        phase: PhaseName,
        step: &PhaseStep,
        result: StepResult,
    ) -> Next {
        let end = match result {
            StepResult::Returned(StepEnd::Done(done)) => return self.save(lease, phase, done).await,
            StepResult::Returned(StepEnd::AwaitApproval) => {
                self.release(lease, Some(phase), Due::Approval).await
            }
            StepResult::Returned(StepEnd::Failed { kind, message }) => {
                self.fail(lease, phase, kind, &message, SaveFate::NotSaved).await
            }
            StepResult::Returned(StepEnd::Again { message, after }) => {
                self.again(lease, phase, step, FailureKind::STEP, &message, after).await
            }
            StepResult::TimedOut => {
                let limit = humantime::format_duration(step.timeout);
                let message = format!("the step was still running at its time limit of {limit}");
                self.again(lease, phase, step, FailureKind::TIMEOUT, &message, None).await
            }
            StepResult::Panicked(message) => {
                let message = format!("the step panicked: {message}");
                self.again(lease, phase, step, FailureKind::STEP, &message, None).await
            }
            StepResult::Interrupted => self.release(lease, Some(phase), Due::Now).await,
        };
        Next::End(end)
    }

    async fn save(&mut self, lease: Lease, phase: PhaseName, done: StepDone) -> Next {
        let ttl = self.context.settings.lease.ttl();
        let from = self.job.phase.clone();
        let save = Save::new(&self.id, from, phase.clone(), done.receipt, done.effects, ttl);
        let (why, fate) = match save_phase(&*self.context.store, &*self.context.clock, lease, &save).await {
            SaveEnd::Held { lease, yield_asked } => {
                self.yield_asked |= yield_asked;
                self.emit(EventKind::PhaseSaved { phase: phase.clone() });
                self.job.phase = Phase::Saved(phase);
                self.job.failures = 0;
                return Next::Phase(lease);
            }
            SaveEnd::Completed => return Next::End(self.completed(phase)),
            SaveEnd::EffectRefused { lease, message, save } => {
                return Next::End(self.fail(lease, phase, FailureKind::STEP, &message, save).await);
            }
            SaveEnd::Lost { why, save } => (why, save),
            SaveEnd::Error { error, save } => (self.store_failed(&error, "save"), save),
        };
        if fate == SaveFate::Saved {
            self.emit(EventKind::PhaseSaved { phase: phase.clone() });
        }
        let loss = Loss { refused: Refused::Save, phase: phase.clone(), save: fate, why };
        Next::End(match self.lost_unless(loss, Some(AttemptOutcome::Completed)).await {
            Some(lost) => lost,
            None => self.completed(phase),
        })
    }

    /// The last phase is saved, and the run completed with it.
    fn completed(&self, phase: PhaseName) -> JobEnd {
        self.emit(EventKind::PhaseSaved { phase });
        self.ended(None, AttemptOutcome::Completed, None);
        self.emit(EventKind::RunEnded { ending: Ending::Completed, failure: None });
        JobEnd::Completed
    }

    /// The step is to be tried again, or has been tried often enough.
    async fn again(
        &mut self,
        lease: Lease,
        phase: PhaseName,
        step: &PhaseStep,
        kind: &str,
        message: &str,
        after: Option<Duration>,
    ) -> JobEnd {
        match step.retry.delay(self.job.failures, random_fraction(&*self.context.random)) {
            Some(delay) => {
                let delay = after.map_or(delay, |asked| delay.max(asked));
                let failure = self.failure(phase.clone(), kind, message);
                self.release(lease, Some(phase), Due::Later { delay, failure }).await
            }
            None => self.fail(lease, phase, kind, message, SaveFate::NotSaved).await,
        }
    }

    /// The receipts of the phases saved so far, asked for until the local deadline.
    async fn receipts(&self, lease: &Lease) -> Result<Vec<Receipt>, LostReason> {
        if self.job.phase == Phase::Submitted {
            return Ok(Vec::new());
        }
        let context = &self.context;
        let read = async {
            loop {
                match context.store.receipts(self.id.run).await {
                    Ok(receipts) => return Ok(receipts),
                    Err(error) if !error.may_try_again() => {
                        return Err(self.store_failed(&error, "read receipts"));
                    }
                    Err(_) => {}
                }
                let pause = lease.settings().retry_pause();
                context.clock.sleep_until(context.clock.now().plus(pause)).await;
            }
        };
        tokio::select! {
            biased;
            read = read => read,
            () = context.clock.sleep_until(lease.deadline()) => {
                let why = why_lost(&*context.store, &*context.clock, lease.settings(), &self.id).await;
                Err(why.unwrap_or(LostReason::Unconfirmed))
            }
        }
    }

    pub(super) fn failure(&self, phase: PhaseName, kind: &str, message: &str) -> Failure {
        Failure::new(phase, kind, message, self.job.failures.saturating_add(1))
    }

    pub(super) fn ended(&self, phase: Option<PhaseName>, outcome: AttemptOutcome, reason: Option<Document>) {
        self.emit(EventKind::AttemptEnded { phase, outcome, reason });
    }

    pub(super) fn emit(&self, kind: EventKind) {
        let key = Some(self.job.key.clone());
        self.context.events.emit(&Event { run: self.id.run, key, fence: Some(self.id.fence), kind });
    }

    /// An answer that nobody expects, logged and turned into the reason for giving the lease up.
    pub(super) fn store_failed(&self, error: &StoreError, asked: &str) -> LostReason {
        let why = LostReason::store_failed(error);
        let error: &dyn std::error::Error = error;
        tracing::error!(run = %self.id.run, key = %self.job.key, error, "unexpected answer to {asked}");
        why
    }
}
