//! The lease as its holder has it.
//!
//! Whether a lease is still good depends on time and on other machines, so no type can promise it;
//! the store judges every use. What the type does say: there is one of it, it moves, and ending it
//! uses it up.

use std::time::Duration;

use crate::clock::Moment;
use crate::failure::Failure;
use crate::fence::FencingToken;
use crate::ids::RunId;
use crate::owner::OwnerId;
use crate::phase::Phase;
use crate::request::{Due, Fail, Release};
use crate::settings::LeaseSettings;

/// What a store matches a holder by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeaseId {
    /// The run.
    pub run: RunId,
    /// The owner that the claim was made under.
    pub owner: OwnerId,
    /// The number that the claim got.
    pub fence: FencingToken,
}

/// The right to save phases of one run, for as long as the store agrees.
///
/// It cannot be copied, and releasing or failing the run takes it away:
///
/// ```compile_fail,E0382
/// # use lease_core::{Due, Lease, Phase};
/// fn twice(lease: Lease) {
///     let first = lease.release(Phase::Submitted, Due::Now);
///     let second = lease.release(Phase::Submitted, Due::Now);
/// }
/// ```
#[derive(Debug)]
#[must_use = "a lease that is dropped is still held in the store until it runs out"]
pub struct Lease {
    id: LeaseId,
    settings: LeaseSettings,
    deadline: Moment,
}

impl Lease {
    /// The lease of a claim that was sent at `sent_at` by the worker's clock and granted.
    pub fn new(id: LeaseId, settings: LeaseSettings, sent_at: Moment) -> Self {
        Self { id, settings, deadline: sent_at.plus(settings.trusted()) }
    }

    /// What the store matches.
    #[must_use]
    pub fn id(&self) -> &LeaseId {
        &self.id
    }

    /// Its times.
    #[must_use]
    pub fn settings(&self) -> &LeaseSettings {
        &self.settings
    }

    /// The local deadline: from then on the worker must not act on this lease any more. Counted
    /// from when the last confirmed claim, renewal or save was *sent*, so the store's expiry is
    /// later (SELF-STOP).
    #[must_use]
    pub fn deadline(&self) -> Moment {
        self.deadline
    }

    /// How much is left by the worker's clock; zero at and after the local deadline.
    #[must_use]
    pub fn remaining(&self, now: Moment) -> Duration {
        self.deadline.since(now)
    }

    /// Takes in that the store renewed the lease, or saved under it, on a request sent at
    /// `sent_at`. The deadline never moves back.
    pub fn confirm(&mut self, sent_at: Moment) {
        self.deadline = self.deadline.max(sent_at.plus(self.settings.trusted()));
    }

    /// Gives the lease up: the request that ends it in the store. Send it until it is answered.
    pub fn release(self, from: Phase, due: Due) -> Release {
        Release { lease: self.id, from, due }
    }

    /// Gives the lease up and fails the run: the request that does so in the store.
    pub fn fail(self, from: Phase, failure: Failure) -> Fail {
        Fail { lease: self.id, from, failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Ttl;

    #[test]
    fn self_stop_the_deadline_counts_from_sending_and_never_moves_back() {
        let second = Duration::from_secs(1);
        let at = |seconds| Moment::from_start(second * seconds);
        let settings = LeaseSettings::new(Ttl::new(second * 10).unwrap(), second * 3, second).unwrap();
        let owner = OwnerId::from_stored("a").unwrap();
        let id = LeaseId { run: RunId::new(uuid::Uuid::nil()), owner, fence: FencingToken::FIRST };
        let mut lease = Lease::new(id, settings, at(100));
        assert_eq!(lease.deadline(), at(109));
        lease.confirm(at(103));
        assert_eq!(lease.deadline(), at(112));
        lease.confirm(at(101));
        assert_eq!((lease.deadline(), lease.remaining(at(111))), (at(112), second));
        assert_eq!(lease.remaining(at(113)), Duration::ZERO);
    }
}
