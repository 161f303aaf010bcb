//! One run of a plan on a store of its own, worker after worker.
//!
//! It goes the way of a real worker: claim, read the receipts, the step under its heartbeat, save. What
//! goes wrong is done by whoever drives it.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use lease_core::{
    Action, Claim, ClaimVerdict, Clock, Ending, Guarded, Job, Lease, LeaseStore, Loss, LossLimit, Operator,
    Phase, PhaseName, Refused, Renewals, RunId, RunReader, Save, SaveEnd, SaveFate, StoreError, Who,
    WorkerName, save_phase, under_lease,
};

use super::call::{Call, Done, Steps};
use super::finding::Difference;
use super::left::Left;
use super::trial::Trial;
use crate::drive;
use crate::fault::{Fault, Until};
use crate::journal::Operation;
use crate::store::FakeStore;
use crate::store_clock::StoreClock;

/// One run, from its submit on.
pub(super) struct History<'a, S> {
    trial: &'a Trial,
    steps: S,
    store: FakeStore,
    claims: u128,
    saved: Vec<(PhaseName, Done)>,
    called_again: Vec<PhaseName>,
}

/// A worker with its claim.
pub(super) struct Worker<P> {
    lease: Lease,
    job: Job,
    process: P,
}

impl<P> Worker<P> {
    /// The phase to be done next.
    pub(super) fn next_phase(&self) -> Option<PhaseName> {
        self.job.next_phase().cloned()
    }
}

impl<'a, S: Steps> History<'a, S> {
    /// Submits the run.
    pub(super) async fn open(trial: &'a Trial, steps: S) -> Self {
        let store = FakeStore::new(trial.clock().store_clock(StoreClock::default().now()));
        let _opened = answered(store.submit(trial.submit()).await);
        Self { trial, steps, store, claims: 0, saved: Vec::new(), called_again: Vec::new() }
    }

    fn run(&self) -> RunId {
        self.trial.submit().id
    }

    pub(super) fn steps(&self) -> &S {
        &self.steps
    }

    /// A worker starts and claims the run; `None` once that is completed.
    pub(super) async fn claim(&mut self) -> Result<Option<Worker<S::Process>>, Difference> {
        self.claims += 1;
        let settings = *self.trial.lease();
        let claim = Claim {
            run: self.run(),
            owner: WorkerName::new("trial").expect("a plain word").owner(self.claims),
            ttl: settings.ttl(),
            plans: vec![self.trial.submit().plan.id.digest],
            loss_limit: LossLimit::DEFAULT,
        };
        let sent_at = self.trial.clock().now();
        match answered(self.store.claim(&claim).await) {
            ClaimVerdict::Granted(grant) => {
                let (lease, job) = grant.accept(settings, sent_at);
                Ok(Some(Worker { lease, job, process: self.steps.start() }))
            }
            ClaimVerdict::Finished(Ending::Completed) => Ok(None),
            verdict @ (ClaimVerdict::Busy { .. }
            | ClaimVerdict::NotDue { .. }
            | ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::Finished(Ending::Failed | Ending::Cancelled)
            | ClaimVerdict::UnknownPlan(_)
            | ClaimVerdict::SetAside(_)
            | ClaimVerdict::Lapsed { .. }
            | ClaimVerdict::Gone) => Err(Difference::NotClaimed(Box::new(verdict))),
        }
    }

    /// A worker dies with everything that it remembers; its lease runs out, and another one claims the
    /// run.
    pub(super) async fn dies(
        &mut self,
        worker: Worker<S::Process>,
    ) -> Result<Option<Worker<S::Process>>, Difference> {
        drop(worker);
        self.next_after_lapse().await
    }

    async fn next_after_lapse(&mut self) -> Result<Option<Worker<S::Process>>, Difference> {
        self.trial.clock().advance(self.trial.lease().ttl().as_duration());
        self.claim().await
    }

    /// The worker does the step of a phase under its lease.
    pub(super) async fn work(
        &mut self,
        worker: Worker<S::Process>,
        phase: &PhaseName,
    ) -> Result<(Worker<S::Process>, Done), Difference> {
        let Worker { lease, job, mut process } = worker;
        let receipts = answered(self.store.receipts(self.run()).await);
        if receipts.iter().any(|receipt| receipt.phase == *phase) {
            self.called_again.push(phase.clone());
        }
        let call = Call {
            lease: lease.id().clone(),
            phase: phase.clone(),
            receipts,
            idempotency_key: job.idempotency_key(self.run(), phase),
            job,
        };
        let step = unpanicked(self.steps.step(&mut process, &call));
        match under_lease(&self.store, self.trial.clock(), lease, step).await {
            Guarded::Finished { lease, value: Ok(done), yield_asked: _ } => {
                Ok((Worker { lease, job: call.job, process }, done))
            }
            Guarded::Finished { value: Err(message), .. } => {
                Err(Difference::Failed { phase: phase.clone(), message })
            }
            Guarded::Lost(why) => Err(Difference::Lost { phase: phase.clone(), why }),
        }
    }

    /// The worker saves the phase, and goes on; `None` once the run is completed.
    pub(super) async fn save(
        &mut self,
        worker: Worker<S::Process>,
        phase: PhaseName,
        done: Done,
    ) -> Result<Option<Worker<S::Process>>, Difference> {
        let Worker { lease, mut job, process } = worker;
        let save = save_of(&lease, &job, &phase, &done);
        match save_phase(&self.store, self.trial.clock(), lease, &save).await {
            SaveEnd::Held { lease, yield_asked: _ } => {
                self.saved.push((phase.clone(), done));
                job.phase = Phase::Saved(phase);
                Ok(Some(Worker { lease, job, process }))
            }
            SaveEnd::Completed => {
                self.saved.push((phase, done));
                Ok(None)
            }
            SaveEnd::Lost { why, save: _ } => Err(Difference::Lost { phase, why }),
            SaveEnd::EffectRefused { message, .. } => Err(Difference::NotSaved { phase, message }),
            SaveEnd::Error { error, save: _ } => {
                Err(Difference::NotSaved { phase, message: error.to_string() })
            }
        }
    }

    /// The save lands, and the worker dies before it hears so. The next one claims the run; `None` if
    /// that was completed.
    pub(super) async fn dies_before_the_answer(
        &mut self,
        worker: Worker<S::Process>,
        phase: PhaseName,
        done: Done,
    ) -> Result<Option<Worker<S::Process>>, Difference> {
        let Worker { lease, job, process } = worker;
        let save = save_of(&lease, &job, &phase, &done);
        self.store.order(Operation::Save, &Fault::AnswerDelayed(Until::Never), 1);
        let unheard = drive::at_once(save_phase(&self.store, self.trial.clock(), lease, &save));
        assert!(unheard.is_none(), "an answer that never comes was heard: {unheard:?}");
        self.saved.push((phase, done));
        drop(process);
        self.next_after_lapse().await
    }

    /// The worker's lease is taken away and another one claims the run; then the first one's save is
    /// refused. The other one goes on.
    pub(super) async fn is_refused(
        &mut self,
        worker: Worker<S::Process>,
        phase: PhaseName,
        done: Done,
    ) -> Result<Option<Worker<S::Process>>, Difference> {
        let id = worker.lease.id().clone();
        let who = Who::new("trial", None).expect("a plain word");
        let _revoked = answered(self.store.act(self.run(), &Action::Revoke { fence: id.fence }, &who).await);
        let other = self.claim().await?;
        let why = match self.save(worker, phase.clone(), done).await {
            Err(Difference::Lost { why, .. }) => why,
            Err(difference) => return Err(difference),
            Ok(_) => return Err(Difference::LateSaveLanded(phase)),
        };
        let loss = Loss { refused: Refused::Save, phase, save: SaveFate::NotSaved, why };
        let _noted = answered(self.store.mark_blocked(&id, &loss.to_document()).await);
        Ok(other)
    }

    /// What it left behind.
    pub(super) async fn end(self) -> Left<S> {
        let stored = self.store.stored(self.run()).expect("the run was submitted");
        let seen = self.steps.seen().await;
        Left { steps: self.steps, stored, saved: self.saved, called_again: self.called_again, seen }
    }
}

fn save_of(lease: &Lease, job: &Job, phase: &PhaseName, done: &Done) -> Save {
    let Done { receipt, effects } = done.clone();
    Save::new(lease.id(), job.phase.clone(), phase.clone(), receipt, effects, lease.settings().ttl())
}

/// The step, whose panic is an error that it returns: what it was about stands in the test's output.
async fn unpanicked<T>(step: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let mut step = pin!(step);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| step.as_mut().poll(context)));
        polled.unwrap_or_else(|_panic| Poll::Ready(Err("it panicked".to_owned())))
    })
    .await
}

/// The answer of a store that was given no fault to answer with.
fn answered<V>(answer: Result<V, StoreError>) -> V {
    answer.expect("no fault is ordered")
}
