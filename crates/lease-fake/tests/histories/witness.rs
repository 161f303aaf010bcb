//! Reads the store's journal as it grows, holds each answer against the invariants, and then takes
//! it into the ledgers.

use std::collections::BTreeMap;

use lease_core::{
    Action, AttemptOutcome, BlockedVerdict, Claim, ClaimVerdict, FailVerdict, LeaseEnd, LeaseId, LeaseStore,
    LossLimit, LostReason, OperatorVerdict, OwnerId, ReleaseVerdict, RenewVerdict, RunId, SaveVerdict,
    Standing, Status, Timestamp, Ttl,
};
use lease_fake::{Exchange, FakeStore, Judged, StoreClock, drive};

use crate::invariants as must;
use crate::ledger::{Lease, Ledger};
use crate::world::{LOSS_LIMIT, plan, ttl};

pub(crate) struct Witness {
    store: FakeStore,
    ledgers: BTreeMap<RunId, Ledger>,
    seen: usize,
    /// Whether the store's clock only ever moves on.
    clock_moves_on: bool,
}

impl Witness {
    pub(crate) fn new(store: FakeStore, runs: &[RunId], clock_moves_on: bool) -> Self {
        let now = store.clock().now();
        let ledgers = runs.iter().map(|run| (*run, Ledger::new(now))).collect();
        let seen = store.journal().len();
        Self { store, ledgers, seen, clock_moves_on }
    }

    pub(crate) fn ledger(&self, run: RunId) -> &Ledger {
        &self.ledgers[&run]
    }

    /// Holds everything that happened since the last time against the invariants.
    pub(crate) fn look(&mut self) {
        for judged in self.store.journal_after(self.seen) {
            self.seen += 1;
            self.judge(&judged);
        }
        for (run, ledger) in &self.ledgers {
            let stored = self.store.stored(*run).expect("runs stay");
            must::fence_up_in_the_table(ledger, &stored);
            must::one_holder_in_the_table(ledger, &stored);
            must::one_receipt(ledger, &stored);
            must::all_or_nothing(ledger, &stored);
            must::truth_in_the_tables(ledger, &stored);
        }
        self.check_liveness();
    }

    fn judge(&mut self, judged: &Judged) {
        let at = judged.at;
        match &judged.exchange {
            Exchange::Claim(claim, verdict) => {
                self.claim(claim.run, &claim.owner, claim.ttl, claim.loss_limit, verdict, at);
            }
            Exchange::ClaimNext(claim, claimed) => {
                for grant in &claimed.grants {
                    let verdict = ClaimVerdict::Granted(Box::new(grant.clone()));
                    let (run, owner) = (grant.lease.run, &grant.lease.owner);
                    self.claim(run, owner, claim.ttl, claim.loss_limit, &verdict, at);
                }
                for (run, _, failure) in &claimed.set_aside {
                    let verdict = ClaimVerdict::SetAside(failure.clone());
                    self.claim(*run, &claim.owners[0], claim.ttl, claim.loss_limit, &verdict, at);
                }
            }
            Exchange::Renew(lease, ttl, verdict) => self.renew(lease, *ttl, verdict, at),
            Exchange::RenewMany(leases, ttl, verdicts) => {
                for (lease, verdict) in leases.iter().zip(verdicts) {
                    self.renew(lease, *ttl, verdict, at);
                }
            }
            Exchange::Standing(lease, standing) => match standing {
                Standing::Held => assert!(self.ledger(lease.run).holds(lease, at), "TRUTH"),
                Standing::Lost(why) => must::truth_of_a_refusal(self.ledger(lease.run), lease, why, at),
            },
            Exchange::Save(save, verdict) => self.save(save, verdict, at),
            Exchange::Release(release, verdict) => self.release(release, verdict, at),
            Exchange::Fail(fail, verdict) => self.fail(fail, verdict, at),
            Exchange::MarkBlocked(lease, verdict) => self.mark_blocked(lease, verdict),
            Exchange::Act(run, action, verdict) => self.act(*run, action, verdict, at),
            Exchange::Submit(..) | Exchange::Read => {}
        }
    }

    fn of(&mut self, run: RunId) -> &mut Ledger {
        self.ledgers.get_mut(&run).expect("runs stay")
    }

    fn claim(
        &mut self,
        run: RunId,
        owner: &OwnerId,
        ttl: Ttl,
        limit: LossLimit,
        verdict: &ClaimVerdict,
        at: Timestamp,
    ) {
        let ledger = self.of(run);
        must::truth_of_a_claim(ledger, verdict, limit.get(), at);
        if let ClaimVerdict::Granted(grant) = verdict {
            must::fence_up(ledger, grant.lease.fence);
            must::one_holder(ledger, at);
            must::resume(ledger, &grant.job);
            ledger.granted(owner, at.plus(ttl.as_duration()));
        }
        if let ClaimVerdict::SetAside(_) = verdict {
            must::one_holder(ledger, at);
            ledger.set_aside();
        }
    }

    fn renew(&mut self, lease: &LeaseId, ttl: Ttl, verdict: &RenewVerdict, at: Timestamp) {
        let clock_moves_on = self.clock_moves_on;
        let ledger = self.of(lease.run);
        must::truth_of_a_renewal(ledger, lease, verdict, at);
        if let RenewVerdict::Renewed { .. } = verdict {
            must::no_lazarus(ledger, lease, at);
            ledger.lease = Lease::Until(at.plus(ttl.as_duration()));
        }
        if let RenewVerdict::Refused(LostReason::Expired { .. }) = verdict
            && clock_moves_on
        {
            ledger.lapsed.insert(lease.fence.get());
        }
    }

    fn save(&mut self, save: &lease_core::Save, verdict: &SaveVerdict, at: Timestamp) {
        let ledger = self.of(save.lease().run);
        must::truth_of_a_save(ledger, save, verdict, at);
        if let SaveVerdict::Saved(_) = verdict {
            must::no_late_save(ledger, save.lease(), at);
            must::in_order(ledger, save);
            ledger.saved(save, at);
        }
    }

    fn release(&mut self, release: &lease_core::Release, verdict: &ReleaseVerdict, at: Timestamp) {
        let ledger = self.of(release.lease.run);
        must::truth_of_a_release(ledger, release, verdict, at);
        if *verdict == ReleaseVerdict::Released {
            must::no_late_save(ledger, &release.lease, at);
            ledger.released(&release.due, at);
        }
    }

    fn fail(&mut self, fail: &lease_core::Fail, verdict: &FailVerdict, at: Timestamp) {
        let ledger = self.of(fail.lease.run);
        must::truth_of_a_failing(ledger, fail, verdict, at);
        if *verdict == FailVerdict::Failed {
            must::no_late_save(ledger, &fail.lease, at);
            ledger.end(LeaseEnd::Failed, AttemptOutcome::Failed);
            ledger.status = Status::Failed;
        }
    }

    fn mark_blocked(&mut self, lease: &LeaseId, verdict: &BlockedVerdict) {
        let ledger = self.of(lease.run);
        must::blocked_not_failed(ledger, lease, verdict);
        if *verdict == BlockedVerdict::Recorded {
            let place = usize::try_from(lease.fence.get() - 1).expect("few claims");
            ledger.claims[place].1 = Some(AttemptOutcome::Blocked);
        }
    }

    fn act(&mut self, run: RunId, action: &Action, verdict: &OperatorVerdict, at: Timestamp) {
        let ledger = self.of(run);
        if *verdict != OperatorVerdict::Done {
            return;
        }
        match action {
            Action::Approve { owner, phase } => {
                assert_eq!(Some(phase), ledger.next_phase().as_ref(), "IN-ORDER");
                must::one_holder(ledger, at);
                ledger.approved(owner, at);
            }
            Action::Reject { .. } => ledger.status = Status::Failed,
            Action::Cancel => ledger.cancelled(),
            Action::Retry(_) => ledger.retried(at),
            Action::Pause => ledger.paused = true,
            Action::Resume => ledger.paused = false,
            Action::Revoke { fence } => {
                assert_eq!(fence.get(), ledger.fence(), "TRUTH: another lease was taken");
                ledger.end(LeaseEnd::Revoked, AttemptOutcome::Revoked);
            }
        }
    }

    /// Asks on a copy of the store, so that asking changes nothing.
    fn check_liveness(&self) {
        let copy = FakeStore::new(StoreClock::new(self.store.clock().now()));
        let backup = self.store.back_up();
        let at = copy.clock().now();
        for (run, ledger) in &self.ledgers {
            copy.restore(&backup);
            let claim = Claim {
                run: *run,
                owner: OwnerId::from_stored("probe").expect("a short name"),
                ttl: ttl(),
                plans: vec![plan().id.digest],
                loss_limit: LossLimit::new(LOSS_LIMIT).expect("above zero"),
            };
            let verdict = drive::at_once(copy.claim(&claim)).expect("nothing is locked there");
            must::liveness(ledger, &verdict.expect("no fault is ordered there"), at);
        }
    }
}
