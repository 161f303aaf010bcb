//! How a claim ends: given back, given up, or lost.
//!
//! Keeps BLOCKED-NOT-FAILED (a lost lease is recorded on the attempt and nothing else) and TRUTH (an
//! end is told by what the store holds, also where the answer to it got lost).

use std::sync::Arc;
use std::time::Duration;

use lease_core::{
    AttemptOutcome, BlockedVerdict, Document, Due, Ended, Ending, Lease, Loss, PhaseName, Refused, RunId,
    SaveFate, give_back, give_up,
};

use super::event::EventKind;
use super::job::{Claim, JobEnd};

impl Claim {
    pub(super) async fn release(&mut self, lease: Lease, phase: Option<PhaseName>, due: Due) -> JobEnd {
        let (outcome, reason) = match &due {
            Due::Now => (AttemptOutcome::Yielded, None),
            Due::Later { failure, .. } => (AttemptOutcome::Retrying, Some(failure.to_document())),
            Due::Approval => (AttemptOutcome::Waiting, None),
        };
        let context = Arc::clone(&self.context);
        let from = self.job.phase.clone();
        let ended = give_back(&*context.store, &*context.clock, lease, from, due).await;
        match self.given_up(ended, Refused::Release, phase.clone(), outcome, SaveFate::NotSaved).await {
            Some(lost) => lost,
            None => {
                let waits_at = phase.clone().filter(|_| outcome == AttemptOutcome::Waiting);
                let end = waits_at.map_or(JobEnd::Released, JobEnd::Waiting);
                self.ended(phase, outcome, reason);
                end
            }
        }
    }

    /// Fails the run. `save`: what became of a save of this phase that was sent before.
    pub(super) async fn fail(
        &mut self,
        lease: Lease,
        phase: PhaseName,
        kind: &str,
        message: &str,
        save: SaveFate,
    ) -> JobEnd {
        let failure = self.failure(phase.clone(), kind, message);
        let context = Arc::clone(&self.context);
        let from = self.job.phase.clone();
        let ended = give_up(&*context.store, &*context.clock, lease, from, failure.clone()).await;
        match self.given_up(ended, Refused::Fail, Some(phase.clone()), AttemptOutcome::Failed, save).await {
            Some(lost) => lost,
            None => {
                self.ended(Some(phase), AttemptOutcome::Failed, Some(failure.to_document()));
                self.emit(EventKind::RunEnded { ending: Ending::Failed, failure: Some(failure) });
                JobEnd::Failed
            }
        }
    }

    /// `None` if the lease was ended as asked; else the loss, recorded.
    async fn given_up(
        &mut self,
        ended: Ended,
        refused: Refused,
        phase: Option<PhaseName>,
        meant: AttemptOutcome,
        save: SaveFate,
    ) -> Option<JobEnd> {
        let why = match ended {
            Ended::Done => return None,
            Ended::Lost(why) => why,
            Ended::Error(error) => self.store_failed(&error, refused.as_str()),
        };
        match phase {
            Some(phase) => {
                let loss = Loss::before_save(refused, phase, why).after_save(save);
                self.lost_unless(loss, Some(meant)).await
            }
            // Only a run with no phase left comes here, and there is nothing to name.
            None => Some(JobEnd::Lost(why)),
        }
    }

    /// The lease is lost: says so on the attempt, and leaves the run alone.
    pub(super) async fn lost(&self, loss: Loss) -> JobEnd {
        let why = loss.why.clone();
        self.lost_unless(loss, None).await.unwrap_or(JobEnd::Lost(why))
    }

    /// As [`Claim::lost`]; but `None` where the attempt turns out to have ended as the request meant it
    /// to: its answer got lost, and nothing else. A refusal that is heard after that is true of the
    /// run, which others have claimed since, and not of this attempt.
    pub(super) async fn lost_unless(&self, loss: Loss, meant: Option<AttemptOutcome>) -> Option<JobEnd> {
        let reason = loss.to_document();
        let (run, key, fence) = (self.id.run, &self.job.key, self.id.fence);
        if !loss.why.is_verdict() {
            // Writing it down may take as long as the store is out of reach.
            tracing::warn!(%run, %key, %fence, "the lease is given up: {loss}");
        }
        let recorded = self.mark_blocked(&reason).await;
        if let Some(BlockedVerdict::AlreadyEnded(outcome)) = &recorded
            && Some(*outcome) == meant
        {
            tracing::info!(%run, %key, %fence, "the answer to {} got lost; it was carried out", loss.refused);
            return None;
        }
        tracing::warn!(%run, %key, %fence, "blocked: {loss}");
        let Loss { phase, why, .. } = loss;
        self.ended(Some(phase), AttemptOutcome::Blocked, Some(reason));
        Some(JobEnd::Lost(why))
    }

    /// Records the loss; `None` where that was not answered. The store may be out of reach, which may
    /// be why the lease was lost: so this is tried for a while, by a worker that is told to stop for an
    /// interval after its grace.
    async fn mark_blocked(&self, reason: &Document) -> Option<BlockedVerdict> {
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
        let told_to_stop = async {
            context.stopping.grace_over().await;
            context.clock.sleep_until(context.clock.now().plus(settings.heartbeat())).await;
        };
        let run = self.id.run;
        tokio::select! {
            biased;
            recorded = recorded => match recorded {
                Ok(verdict) => {
                    if verdict == BlockedVerdict::Gone {
                        tracing::warn!(%run, "the attempt to mark as blocked is gone");
                    }
                    return Some(verdict);
                }
                Err(error) => drop(self.store_failed(&error, "mark_blocked")),
            },
            () = context.clock.sleep_until(give_up) => no_answer(run),
            () = told_to_stop => no_answer(run),
        }
        None
    }
}

fn no_answer(run: RunId) {
    tracing::warn!(%run, "could not record that the attempt was blocked: no answer");
}
