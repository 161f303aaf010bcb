//! One claim from its grant to its end: phase after phase, each saved under the lease.
//!
//! Keeps RESUME (it goes on from the phase the claim was granted at), BLOCKED-NOT-FAILED (a lost
//! lease is recorded on the attempt and nothing else) and TRUTH (each end is told by the store's
//! answer, not by what was meant).

use std::sync::Arc;
use std::time::Duration;

use lease_core::{
    AttemptOutcome, BlockedVerdict, Document, Due, Ended, Ending, Failure, FailureKind, Grant, Guarded, Job,
    Lease, LeaseId, Loss, LostReason, Moment, Phase, PhaseName, Receipt, Refused, Save, SaveEnd, StoreError,
    give_back, give_up, save_phase,
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
    /// The lease was lost.
    Lost,
}

/// What the next phase is started with, or how the claim ended.
enum Next {
    Phase(Lease),
    End(JobEnd),
}

/// The claim under way.
pub(super) struct Claim {
    context: Arc<Context>,
    plan: Arc<RunnablePlan>,
    id: LeaseId,
    job: Job,
    slot: Slot,
    yield_asked: bool,
}

impl Claim {
    /// Takes a granted claim that was sent at `sent_at`, and works on it until it ends.
    pub(super) async fn work(context: Arc<Context>, grant: Grant, sent_at: Moment, slot: Slot) -> JobEnd {
        let (mut lease, job) = grant.accept(context.settings.lease, sent_at);
        let plan = Arc::clone(context.plan(&job.plan.id.digest).expect("claims name only known plans"));
        let id = lease.id().clone();
        let mut claim = Self { context, plan, id, job, slot, yield_asked: false };
        claim.emit(EventKind::Claimed { from: claim.job.phase.clone() });
        loop {
            match claim.next_phase(lease).await {
                Next::Phase(held) => lease = held,
                Next::End(end) => return end,
            }
        }
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
            Err(why) => return Next::End(self.lost(Refused::Renew, phase, why).await),
        };
        let Some(request) = StepRequest::new(&self.id, &self.job, receipts) else {
            let message = "the run's receipts do not match its phase";
            return Next::End(self.fail(lease, phase, FailureKind::STEP, message).await);
        };
        self.emit(EventKind::StepStarted { phase: phase.clone() });
        let slot = self.slot.clone();
        match step_task::run(&self.context, lease, step, Arc::new(request), slot).await {
            Guarded::Lost(why) => Next::End(self.lost(Refused::Renew, phase, why).await),
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
                self.fail(lease, phase, kind, &message).await
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
        match save_phase(&*self.context.store, &*self.context.clock, lease, &save).await {
            SaveEnd::Held { lease, yield_asked } => {
                self.yield_asked |= yield_asked;
                self.emit(EventKind::PhaseSaved { phase: phase.clone() });
                self.job.phase = Phase::Saved(phase);
                self.job.failures = 0;
                Next::Phase(lease)
            }
            SaveEnd::Completed => {
                self.emit(EventKind::PhaseSaved { phase });
                self.ended(None, AttemptOutcome::Completed, None);
                self.emit(EventKind::RunEnded { ending: Ending::Completed, failure: None });
                Next::End(JobEnd::Completed)
            }
            SaveEnd::SavedThenLost(why) => {
                self.emit(EventKind::PhaseSaved { phase: phase.clone() });
                Next::End(self.lost(Refused::Save, phase, why).await)
            }
            SaveEnd::EffectRefused { lease, message } => {
                Next::End(self.fail(lease, phase, FailureKind::STEP, &message).await)
            }
            SaveEnd::Lost(why) => Next::End(self.lost(Refused::Save, phase, why).await),
            SaveEnd::Error(error) => {
                self.log_unexpected(&error, "save");
                let why = LostReason::Unconfirmed { save_may_have_landed: error.may_have_landed() };
                Next::End(self.lost(Refused::Save, phase, why).await)
            }
        }
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
        match step.retry.delay(self.job.failures, random_fraction()) {
            Some(delay) => {
                let delay = after.map_or(delay, |asked| delay.max(asked));
                let failure = self.failure(phase.clone(), kind, message);
                self.release(lease, Some(phase), Due::Later { delay, failure }).await
            }
            None => self.fail(lease, phase, kind, message).await,
        }
    }

    async fn release(&mut self, lease: Lease, phase: Option<PhaseName>, due: Due) -> JobEnd {
        let (outcome, reason) = match &due {
            Due::Now => (AttemptOutcome::Yielded, None),
            Due::Later { failure, .. } => (AttemptOutcome::Retrying, Some(failure.to_document())),
            Due::Approval => (AttemptOutcome::Waiting, None),
        };
        let context = Arc::clone(&self.context);
        let from = self.job.phase.clone();
        let ended = give_back(&*context.store, &*context.clock, lease, from, due).await;
        match self.given_up(ended, Refused::Release, phase.clone()).await {
            Some(lost) => lost,
            None => {
                self.ended(phase, outcome, reason);
                JobEnd::Released
            }
        }
    }

    async fn fail(&mut self, lease: Lease, phase: PhaseName, kind: &str, message: &str) -> JobEnd {
        let failure = self.failure(phase.clone(), kind, message);
        let context = Arc::clone(&self.context);
        let from = self.job.phase.clone();
        let ended = give_up(&*context.store, &*context.clock, lease, from, failure.clone()).await;
        match self.given_up(ended, Refused::Fail, Some(phase.clone())).await {
            Some(lost) => lost,
            None => {
                self.ended(Some(phase), AttemptOutcome::Failed, Some(failure.to_document()));
                self.emit(EventKind::RunEnded { ending: Ending::Failed, failure: Some(failure) });
                JobEnd::Failed
            }
        }
    }

    /// `None` if the lease was ended as asked; else the loss, recorded.
    async fn given_up(&mut self, ended: Ended, refused: Refused, phase: Option<PhaseName>) -> Option<JobEnd> {
        let why = match ended {
            Ended::Done => return None,
            Ended::Lost(why) => why,
            Ended::Error(error) => {
                self.log_unexpected(&error, refused.as_str());
                LostReason::Unconfirmed { save_may_have_landed: false }
            }
        };
        match phase {
            Some(phase) => Some(self.lost(refused, phase, why).await),
            // Only a run with no phase left comes here, and there is nothing to name.
            None => Some(JobEnd::Lost),
        }
    }

    /// The lease is lost: says so on the attempt, and leaves the run alone.
    async fn lost(&mut self, refused: Refused, phase: PhaseName, why: LostReason) -> JobEnd {
        let loss = Loss { refused, phase: phase.clone(), why };
        tracing::warn!(run = %self.id.run, key = %self.job.key, fence = %self.id.fence, "blocked: {loss}");
        let reason = loss.to_document();
        self.mark_blocked(&reason).await;
        self.ended(Some(phase), AttemptOutcome::Blocked, Some(reason));
        JobEnd::Lost
    }

    /// Records the loss. The store may be out of reach, which may be why the lease was lost: so
    /// this is tried for a while.
    async fn mark_blocked(&self, reason: &Document) {
        const PATIENCE: Duration = Duration::from_secs(60);
        let context = &self.context;
        let settings = &context.settings.lease;
        let give_up = context.clock.now().plus(settings.ttl().as_duration().max(PATIENCE));
        let recorded = async {
            loop {
                match context.store.mark_blocked(&self.id, reason).await {
                    Ok(verdict) => return Ok(verdict),
                    Err(error) if !error.may_try_again() => return Err(error),
                    Err(_) => {}
                }
                context.clock.sleep_until(context.clock.now().plus(settings.retry_pause())).await;
            }
        };
        let run = self.id.run;
        tokio::select! {
            biased;
            recorded = recorded => match recorded {
                Ok(BlockedVerdict::Recorded | BlockedVerdict::AlreadyEnded(_)) => {}
                Ok(BlockedVerdict::Gone) => tracing::warn!(%run, "the attempt to mark as blocked is gone"),
                Err(error) => self.log_unexpected(&error, "mark_blocked"),
            },
            () = context.clock.sleep_until(give_up) => {
                tracing::warn!(%run, "could not record that the attempt was blocked: no answer");
            }
            () = context.stopping.now() => {}
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
                        self.log_unexpected(&error, "read receipts");
                        return Err(());
                    }
                    Err(_) => {}
                }
                let pause = lease.settings().retry_pause();
                context.clock.sleep_until(context.clock.now().plus(pause)).await;
            }
        };
        let read = tokio::select! {
            biased;
            read = read => read,
            () = context.clock.sleep_until(lease.deadline()) => Err(()),
        };
        read.map_err(|()| LostReason::Unconfirmed { save_may_have_landed: false })
    }

    fn failure(&self, phase: PhaseName, kind: &str, message: &str) -> Failure {
        Failure::new(phase, kind, message, self.job.failures.saturating_add(1))
    }

    fn ended(&self, phase: Option<PhaseName>, outcome: AttemptOutcome, reason: Option<Document>) {
        self.emit(EventKind::AttemptEnded { phase, outcome, reason });
    }

    fn emit(&self, kind: EventKind) {
        let key = Some(self.job.key.clone());
        self.context.events.emit(&Event { run: self.id.run, key, fence: Some(self.id.fence), kind });
    }

    fn log_unexpected(&self, error: &StoreError, asked: &str) {
        let error: &dyn std::error::Error = error;
        tracing::error!(run = %self.id.run, key = %self.job.key, error, "unexpected answer to {asked}");
    }
}
