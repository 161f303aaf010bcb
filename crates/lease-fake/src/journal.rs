//! What the fake store was asked, what it answered, and when by its own clock.

use lease_core::{
    Action, BlockedVerdict, Claim, ClaimNext, ClaimVerdict, Claimed, Fail, FailVerdict, LeaseId,
    OperatorVerdict, Release, ReleaseVerdict, RenewVerdict, RunId, Save, SaveVerdict, Standing, Submit,
    SubmitVerdict, Timestamp, Ttl,
};

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// [`lease_core::LeaseStore::claim`].
    Claim,
    /// [`lease_core::LeaseStore::claim_next`].
    ClaimNext,
    /// [`lease_core::Renewals::renew`].
    Renew,
    /// [`lease_core::Renewals::renew_many`].
    RenewMany,
    /// [`lease_core::Renewals::standing`].
    Standing,
    /// [`lease_core::LeaseStore::save`].
    Save,
    /// [`lease_core::LeaseStore::release`].
    Release,
    /// [`lease_core::LeaseStore::fail`].
    Fail,
    /// [`lease_core::Renewals::mark_blocked`].
    MarkBlocked,
    /// [`lease_core::Operator::submit`].
    Submit,
    /// [`lease_core::Operator::act`].
    Act,
    /// Everything that only reads: [`lease_core::RunReader`] and
    /// [`lease_core::Operator::check_plan`].
    Read,
}

/// A request and its answer.
#[derive(Debug, Clone)]
pub enum Exchange {
    /// A claim.
    Claim(Claim, ClaimVerdict),
    /// A claim of the next runs.
    ClaimNext(ClaimNext, Claimed),
    /// A renewal.
    Renew(LeaseId, Ttl, RenewVerdict),
    /// Renewals in one go.
    RenewMany(Vec<LeaseId>, Ttl, Vec<RenewVerdict>),
    /// How a lease stands.
    Standing(LeaseId, Standing),
    /// A save.
    Save(Save, SaveVerdict),
    /// A release.
    Release(Release, ReleaseVerdict),
    /// A failing.
    Fail(Fail, FailVerdict),
    /// A holder that was turned away.
    MarkBlocked(LeaseId, BlockedVerdict),
    /// A submit.
    Submit(Submit, SubmitVerdict),
    /// An operator's action.
    Act(RunId, Action, OperatorVerdict),
    /// Something was read.
    Read,
}

/// One request as it was judged, whether or not its answer arrived.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The instant of the store's clock at which it was judged.
    pub at: Timestamp,
    /// What was asked and answered.
    pub exchange: Exchange,
}

impl Exchange {
    /// The kind of request.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::Claim(..) => Operation::Claim,
            Self::ClaimNext(..) => Operation::ClaimNext,
            Self::Renew(..) => Operation::Renew,
            Self::RenewMany(..) => Operation::RenewMany,
            Self::Standing(..) => Operation::Standing,
            Self::Save(..) => Operation::Save,
            Self::Release(..) => Operation::Release,
            Self::Fail(..) => Operation::Fail,
            Self::MarkBlocked(..) => Operation::MarkBlocked,
            Self::Submit(..) => Operation::Submit,
            Self::Act(..) => Operation::Act,
            Self::Read => Operation::Read,
        }
    }
}
