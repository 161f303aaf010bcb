//! A store under test and the short verbs that clauses use on it.
//!
//! A request that gets no verdict fails the clause: no fault is ordered here.

use std::sync::Arc;
use std::time::Duration;

use lease_core::{
    Action, Attempt, AttemptOutcome, ClaimVerdict, Due, FailVerdict, Grant, LeaseId, OperatorAction,
    OperatorVerdict, Receipt, ReleaseVerdict, RenewVerdict, Run, RunId, RunView, SaveVerdict, Standing,
    StoreError, Submit, SubmitVerdict,
};

use super::harness::{EffectTrace, Harness, LockedRow, Store};
use super::words::{self, TTL};

/// A store under test.
pub(super) struct Scene<'h> {
    pub(super) harness: &'h dyn Harness,
    pub(super) store: Arc<dyn Store>,
}

/// Everything a store keeps of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Everything {
    pub(super) run: Run,
    pub(super) receipts: Vec<Receipt>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) actions: Vec<OperatorAction>,
    pub(super) effects: Vec<EffectTrace>,
}

/// The answer, where nothing can keep the store from giving one.
pub(super) fn judged<V>(answer: Result<V, StoreError>) -> V {
    answer.unwrap_or_else(|error| panic!("no verdict: {error}: {error:?}"))
}

impl<'h> Scene<'h> {
    pub(super) async fn new(harness: &'h dyn Harness) -> Self {
        Self { harness, store: harness.store().await }
    }

    /// A scene with one run of the phases `a`, `b`, `c`.
    pub(super) async fn with_run(harness: &'h dyn Harness) -> (Self, RunId) {
        let scene = Self::new(harness).await;
        let run = scene.run(1, "key").await;
        (scene, run)
    }

    /// A scene with one run, held by `by` with number 1.
    pub(super) async fn with_lease(harness: &'h dyn Harness, by: &str) -> (Self, LeaseId) {
        let (scene, run) = Self::with_run(harness).await;
        let lease = scene.granted(run, by).await;
        (scene, lease)
    }

    /// Opens a run.
    pub(super) async fn run(&self, number: u128, key: &str) -> RunId {
        self.open(&words::submit(number, key)).await
    }

    pub(super) async fn open(&self, submit: &Submit) -> RunId {
        assert_eq!(judged(self.store.submit(submit).await), SubmitVerdict::Opened);
        submit.id
    }

    pub(super) async fn elapse(&self, by: Duration) {
        self.harness.elapse(by).await;
    }

    /// Lets every lease run out that was set by now: at its very end.
    pub(super) async fn lapse(&self) {
        self.elapse(TTL).await;
    }

    pub(super) async fn lock(&self, run: RunId) -> Option<Box<dyn LockedRow>> {
        self.harness.lock_row(run).await
    }

    pub(super) async fn claim(&self, run: RunId, by: &str) -> ClaimVerdict {
        judged(self.store.claim(&words::claim(run, by)).await)
    }

    pub(super) async fn grant(&self, run: RunId, by: &str) -> Grant {
        let verdict = self.claim(run, by).await;
        let ClaimVerdict::Granted(grant) = verdict else { panic!("not granted: {verdict:?}") };
        *grant
    }

    pub(super) async fn granted(&self, run: RunId, by: &str) -> LeaseId {
        self.grant(run, by).await.lease
    }

    pub(super) async fn renew(&self, lease: &LeaseId) -> RenewVerdict {
        judged(self.store.renew(lease, words::ttl()).await)
    }

    /// Renews, and fails the clause if the lease is lost.
    pub(super) async fn hold(&self, lease: &LeaseId) {
        assert_eq!(self.renew(lease).await, RenewVerdict::Renewed { yield_asked: false });
    }

    pub(super) async fn standing(&self, lease: &LeaseId) -> Standing {
        judged(self.store.standing(lease).await)
    }

    pub(super) async fn save(&self, lease: &LeaseId, from: &str, to: &str) -> SaveVerdict {
        judged(self.store.save(&words::save(lease, from, to, "fine")).await)
    }

    /// Saves, and fails the clause if nothing landed.
    pub(super) async fn saved(&self, lease: &LeaseId, from: &str, to: &str) {
        let verdict = self.save(lease, from, to).await;
        assert!(matches!(verdict, SaveVerdict::Saved(_)), "{from} to {to}: {verdict:?}");
    }

    /// Saves every phase, which completes the run.
    pub(super) async fn complete(&self, lease: &LeaseId) {
        self.saved(lease, "submitted", "a").await;
        self.saved(lease, "a", "b").await;
        self.saved(lease, "b", "c").await;
    }

    pub(super) async fn release(&self, lease: &LeaseId, from: &str, due: Due) -> ReleaseVerdict {
        judged(self.store.release(&words::release(lease, from, due)).await)
    }

    /// Releases, and fails the clause if that is refused.
    pub(super) async fn released(&self, lease: &LeaseId, from: &str, due: Due) {
        assert_eq!(self.release(lease, from, due).await, ReleaseVerdict::Released);
    }

    pub(super) async fn fail(&self, lease: &LeaseId, from: &str) -> FailVerdict {
        judged(self.store.fail(&words::fail(lease, from)).await)
    }

    pub(super) async fn act(&self, run: RunId, action: &Action) -> OperatorVerdict {
        judged(self.store.act(run, action, &words::who()).await)
    }

    /// Acts, and fails the clause if that does not fit.
    pub(super) async fn done(&self, run: RunId, action: &Action) {
        assert_eq!(self.act(run, action).await, OperatorVerdict::Done, "{action:?}");
    }

    pub(super) async fn view(&self, run: RunId) -> RunView {
        judged(self.store.view(run).await).expect("the run is there")
    }

    /// Number and outcome of each attempt.
    pub(super) async fn outcomes(&self, run: RunId) -> Vec<(u64, Option<AttemptOutcome>)> {
        let attempts = judged(self.store.attempts(run).await);
        attempts.iter().map(|attempt| (attempt.fence.get(), attempt.outcome())).collect()
    }

    /// Phase and number of each receipt.
    pub(super) async fn receipts(&self, run: RunId) -> Vec<(String, u64)> {
        let receipts = judged(self.store.receipts(run).await);
        receipts.iter().map(|receipt| (receipt.phase.to_string(), receipt.fence.get())).collect()
    }

    pub(super) async fn everything(&self, run: RunId) -> Everything {
        let mut effects = self.harness.effect_rows(run).await;
        effects.sort();
        Everything {
            run: self.view(run).await.run,
            receipts: judged(self.store.receipts(run).await),
            attempts: judged(self.store.attempts(run).await),
            actions: judged(self.store.actions(run).await),
            effects,
        }
    }
}
