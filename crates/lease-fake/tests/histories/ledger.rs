//! What a run must be, kept from the store's answers alone.
//!
//! The ledger is written independently of the rules: it takes each answer in the order in which it
//! was given and never asks a transition function. The invariants compare it with the answers to
//! come and with the store's tables.

use std::collections::BTreeSet;
use std::time::Duration;

use lease_core::{
    AttemptOutcome, Digest, Due, Ending, LeaseEnd, LeaseId, LostReason, OwnerId, Phase, PhaseName, Save,
    Status, Timestamp,
};

/// The start and the phases of the plan.
pub(crate) const PHASES: [&str; 7] = ["submitted", "a", "b", "c", "d", "e", "f"];

/// A phase that was saved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SavedPhase {
    pub(crate) fence: u64,
    pub(crate) owner: OwnerId,
    /// `None` for an approval.
    pub(crate) digest: Option<Digest>,
    pub(crate) effects: usize,
}

/// What became of the newest lease.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lease {
    Never,
    Until(Timestamp),
    Ended(LeaseEnd),
}

/// One run as the answers say it is.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(crate) status: Status,
    pub(crate) paused: bool,
    pub(crate) saved: Vec<SavedPhase>,
    /// The number and owner of every claim, and how it ended as far as anybody knows.
    pub(crate) claims: Vec<(OwnerId, Option<AttemptOutcome>)>,
    pub(crate) lease: Lease,
    pub(crate) losses: u32,
    pub(crate) failures: u32,
    pub(crate) due_at: Timestamp,
    /// Leases that were refused as lapsed.
    pub(crate) lapsed: BTreeSet<u64>,
}

impl Ledger {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            status: Status::Open,
            paused: false,
            saved: Vec::new(),
            claims: Vec::new(),
            lease: Lease::Never,
            losses: 0,
            failures: 0,
            due_at: now,
            lapsed: BTreeSet::new(),
        }
    }

    pub(crate) fn fence(&self) -> u64 {
        u64::try_from(self.claims.len()).expect("few claims")
    }

    pub(crate) fn owner(&self) -> Option<&OwnerId> {
        self.claims.last().map(|(owner, _)| owner)
    }

    /// The phase that stands on the run.
    pub(crate) fn phase(&self) -> Phase {
        Phase::new(PHASES[self.saved.len()]).expect("a phase")
    }

    pub(crate) fn next_phase(&self) -> Option<PhaseName> {
        PHASES.get(self.saved.len() + 1).map(|name| PhaseName::new(*name).expect("a phase"))
    }

    /// Whether somebody may save at this instant.
    pub(crate) fn live(&self, at: Timestamp) -> bool {
        matches!(self.lease, Lease::Until(expires_at) if at < expires_at)
    }

    pub(crate) fn is_newest(&self, lease: &LeaseId) -> bool {
        lease.fence.get() == self.fence() && Some(&lease.owner) == self.owner()
    }

    /// Whether this holder may save at this instant.
    pub(crate) fn holds(&self, lease: &LeaseId, at: Timestamp) -> bool {
        self.is_newest(lease) && self.live(at)
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        match self.status {
            Status::Completed => Some(Ending::Completed),
            Status::Failed => Some(Ending::Failed),
            Status::Cancelled => Some(Ending::Cancelled),
            Status::Open | Status::Waiting => None,
        }
    }

    /// Why this holder is turned away at this instant; `None` while it is not.
    pub(crate) fn reason(&self, lease: &LeaseId, at: Timestamp) -> Option<LostReason> {
        let newest = self.owner().map(|owner| (self.fence(), owner.clone()));
        let Some((by_fence, by_owner)) = newest.filter(|(fence, _)| lease.fence.get() <= *fence) else {
            let fence = lease_core::FencingToken::new(self.fence()).ok();
            return Some(LostReason::Forgotten { fence });
        };
        if !self.is_newest(lease) {
            let by_fence = lease_core::FencingToken::new(by_fence).expect("a claim's number");
            return Some(LostReason::Superseded { by_fence, by_owner });
        }
        if let Some(ending) = self.ending() {
            return Some(LostReason::Finished(ending));
        }
        match &self.lease {
            Lease::Until(expires_at) if at < *expires_at => None,
            Lease::Until(expires_at) => Some(LostReason::Expired { late_by: Some(at.since(*expires_at)) }),
            Lease::Ended(LeaseEnd::Yielded | LeaseEnd::Retrying | LeaseEnd::Waiting) => {
                Some(LostReason::Released)
            }
            Lease::Ended(LeaseEnd::Revoked) => Some(LostReason::Revoked),
            Lease::Ended(LeaseEnd::Lapsed) => Some(LostReason::Expired { late_by: None }),
            Lease::Ended(LeaseEnd::Failed) => Some(LostReason::Finished(Ending::Failed)),
            // The claim that an approval was, on a run that goes on.
            Lease::Ended(LeaseEnd::Completed) => Some(LostReason::Finished(Ending::Completed)),
            Lease::Ended(LeaseEnd::Cancelled) | Lease::Never => {
                panic!("{self:?} cannot have this lease's claim as its newest")
            }
        }
    }

    /// The save that set the phase, if this request is that save or one that conflicts with it.
    pub(crate) fn landed(&self, save: &Save) -> Option<&SavedPhase> {
        let last = self.saved.last()?;
        let same_claim = (last.fence, &last.owner) == (save.lease().fence.get(), &save.lease().owner);
        (same_claim && self.phase().as_str() == save.to().as_str()).then_some(last)
    }

    pub(crate) fn granted(&mut self, owner: &OwnerId, expires_at: Timestamp) {
        self.losses += u32::from(matches!(self.lease, Lease::Until(_)));
        self.close_older();
        self.claims.push((owner.clone(), None));
        self.lease = Lease::Until(expires_at);
    }

    pub(crate) fn set_aside(&mut self) {
        self.losses += u32::from(matches!(self.lease, Lease::Until(_)));
        self.close_older();
        self.lease = Lease::Ended(LeaseEnd::Lapsed);
        self.status = Status::Failed;
    }

    pub(crate) fn approved(&mut self, owner: &OwnerId, at: Timestamp) {
        self.close_older();
        self.claims.push((owner.clone(), Some(AttemptOutcome::Completed)));
        let fence = self.fence();
        self.saved.push(SavedPhase { fence, owner: owner.clone(), digest: None, effects: 0 });
        (self.losses, self.failures) = (0, 0);
        self.lease = Lease::Ended(LeaseEnd::Completed);
        self.due_at = at;
        self.status = Status::Open;
        self.complete_if_last();
    }

    pub(crate) fn saved(&mut self, save: &Save, at: Timestamp) {
        let lease = save.lease();
        let effects = save.effects().as_slice().len();
        let (fence, owner) = (lease.fence.get(), lease.owner.clone());
        self.saved.push(SavedPhase { fence, owner, digest: Some(save.digest()), effects });
        (self.losses, self.failures) = (0, 0);
        self.lease = Lease::Until(at.plus(save.ttl().as_duration()));
        if self.complete_if_last() {
            self.end(LeaseEnd::Completed, AttemptOutcome::Completed);
        }
    }

    fn complete_if_last(&mut self) -> bool {
        let completes = self.saved.len() == PHASES.len() - 1;
        if completes {
            self.status = Status::Completed;
            self.paused = false;
        }
        completes
    }

    pub(crate) fn released(&mut self, due: &Due, at: Timestamp) {
        match due {
            Due::Now => self.end(LeaseEnd::Yielded, AttemptOutcome::Yielded),
            Due::Later { delay, .. } => {
                self.end(LeaseEnd::Retrying, AttemptOutcome::Retrying);
                self.failures += 1;
                self.due_at = at.plus(*delay);
            }
            Due::Approval => {
                self.end(LeaseEnd::Waiting, AttemptOutcome::Waiting);
                self.status = Status::Waiting;
            }
        }
    }

    pub(crate) fn retried(&mut self, at: Timestamp) {
        self.status = Status::Open;
        (self.losses, self.failures) = (0, 0);
        self.due_at = at;
    }

    pub(crate) fn cancelled(&mut self) {
        self.status = Status::Cancelled;
        self.paused = false;
        if matches!(self.lease, Lease::Until(_)) {
            self.end(LeaseEnd::Cancelled, AttemptOutcome::Cancelled);
        }
    }

    /// Ends the lease that is set, and its attempt where that has no outcome yet. What its holder asked
    /// for before it gave up and recorded `blocked` is the truer outcome; an operator's end is not.
    pub(crate) fn end(&mut self, how: LeaseEnd, outcome: AttemptOutcome) {
        self.lease = Lease::Ended(how);
        let by_operator = matches!(how, LeaseEnd::Cancelled | LeaseEnd::Revoked);
        if let Some((_, known)) = self.claims.last_mut()
            && (known.is_none() || (*known == Some(AttemptOutcome::Blocked) && !by_operator))
        {
            *known = Some(outcome);
        }
    }

    fn close_older(&mut self) {
        for (_, outcome) in &mut self.claims {
            outcome.get_or_insert(AttemptOutcome::Superseded);
        }
    }

    pub(crate) fn remaining(&self, at: Timestamp) -> Option<Duration> {
        match self.lease {
            Lease::Until(expires_at) if at < expires_at => Some(expires_at.since(at)),
            Lease::Until(_) | Lease::Never | Lease::Ended(_) => None,
        }
    }
}
