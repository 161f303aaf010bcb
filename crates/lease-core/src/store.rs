//! The store's port for those who hold leases, and its errors.
//!
//! A store decides by its own clock, on the locked row, in one round trip. What it must do is
//! written as functions in [`crate::transition`]; the conformance suite of `lease-fake` checks that
//! it does.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;

use crate::document::Document;
use crate::lease::LeaseId;
use crate::request::{Claim, ClaimNext, Fail, Release, Save};
use crate::run::Standing;
use crate::settings::Ttl;
use crate::verdict::{
    BlockedVerdict, ClaimVerdict, Claimed, FailVerdict, ReleaseVerdict, RenewVerdict, SaveVerdict,
};

/// What stands behind a store's error.
type Source = Box<dyn Error + Send + Sync>;

/// A request that got no verdict. The variants say what its sender can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store could not be reached; nothing was sent. Try again while time is left.
    #[error("the store cannot be reached")]
    Unreachable(#[source] Source),
    /// The store did not carry the request out, and says so. Try again while time is left.
    #[error("the store did not carry out the request, which can be sent again")]
    NotApplied(#[source] Source),
    /// The answer got lost: the request may have taken effect. Send the same again.
    #[error("the store's answer got lost, and the request may have taken effect")]
    Unknown(#[source] Source),
    /// The store's tables are missing, older or newer than this program needs.
    #[error("the store's tables do not fit this program")]
    Schema(#[source] Source),
    /// The store answered with something that breaks its own rules; the request may have taken
    /// effect.
    #[error("the store holds an impossible value")]
    Corrupt(#[source] Source),
    /// The store refused the request for another reason. It had no effect, and trying again will
    /// not help.
    #[error("the store refused the request in an unexpected way")]
    Unexpected(#[source] Source),
}

impl StoreError {
    /// Whether sending the same request again may help.
    #[must_use]
    pub fn may_try_again(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::NotApplied(_) | Self::Unknown(_) => true,
            Self::Schema(_) | Self::Corrupt(_) | Self::Unexpected(_) => false,
        }
    }

    /// Whether the request may have taken effect.
    #[must_use]
    pub fn may_have_landed(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Corrupt(_) => true,
            Self::Unreachable(_) | Self::NotApplied(_) | Self::Schema(_) | Self::Unexpected(_) => false,
        }
    }
}

/// What a heartbeat needs of a store. It is a port of its own so that heartbeats can have a
/// connection of their own.
///
/// # Cancel safety
/// For every method here and in [`LeaseStore`]: dropping the future gives up on the answer, not on
/// the request, which may still take effect as a whole. It never takes effect in part, and it
/// leaves nothing open that holds up others for longer than the lease.
#[async_trait]
pub trait Renewals: Send + Sync {
    /// Makes a live lease last a whole TTL from now, if it is this holder's. A lapsed lease is
    /// never renewed (NO-LAZARUS). May wait for the row.
    ///
    /// # Errors
    /// Where there is no verdict; see [`StoreError`].
    async fn renew(&self, lease: &LeaseId, ttl: Ttl) -> Result<RenewVerdict, StoreError>;

    /// Renews many leases in one go, each judged by itself; the answers come in the order of
    /// `leases`. Waits for no row: one that somebody has locked is answered
    /// [`RenewVerdict::NotJudged`].
    ///
    /// # Errors
    /// Where there is no verdict on any of them.
    async fn renew_many(&self, leases: &[LeaseId], ttl: Ttl) -> Result<Vec<RenewVerdict>, StoreError>;

    /// Says whether a lease may still be used, and changes nothing.
    ///
    /// # Errors
    /// Where there is no answer.
    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError>;

    /// Records that the holder of this lease was turned away. Touches the attempt only, and only
    /// where its outcome is still open or `superseded` (BLOCKED-NOT-FAILED).
    ///
    /// # Errors
    /// Where there is no verdict.
    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError>;
}

/// The store's port for those who claim runs and save phases.
#[async_trait]
pub trait LeaseStore: Renewals {
    /// Claims one run.
    ///
    /// # Errors
    /// Where there is no verdict. A claim whose answer got lost is held by nobody and runs out.
    async fn claim(&self, claim: &Claim) -> Result<ClaimVerdict, StoreError>;

    /// Claims the next due runs, higher priority first, then the longest due. Waits for no row.
    ///
    /// # Errors
    /// Where there is no verdict.
    async fn claim_next(&self, claim: &ClaimNext) -> Result<Claimed, StoreError>;

    /// Saves a phase: its receipt, its effects and, with the last phase, the run's completion, all
    /// or nothing.
    ///
    /// # Errors
    /// Where there is no verdict: the save may have landed, and the same request finds that out.
    async fn save(&self, save: &Save) -> Result<SaveVerdict, StoreError>;

    /// Ends a lease and leaves the run to the next claim.
    ///
    /// # Errors
    /// Where there is no verdict.
    async fn release(&self, release: &Release) -> Result<ReleaseVerdict, StoreError>;

    /// Ends a lease and fails the run.
    ///
    /// # Errors
    /// Where there is no verdict.
    async fn fail(&self, fail: &Fail) -> Result<FailVerdict, StoreError>;

    /// What tells a waiting worker early that there may be work, where the store can do that. It
    /// only saves waiting: a worker polls all the same.
    fn work_signal(&self) -> Option<Arc<dyn WorkSignal>> {
        None
    }
}

/// Tells that a run may have become claimable.
#[async_trait]
pub trait WorkSignal: Send + Sync {
    /// Returns when something may have changed. May return without cause, and may never return
    /// while the store cannot be reached.
    ///
    /// # Cancel safety
    /// A change that comes while nobody waits makes the next wait return at once.
    async fn changed(&self);
}
