//! A run: what a store keeps of one job, and how it judges a lease against it.
//!
//! This is the row that is locked while an operation is judged. Everything a verdict needs stands
//! on it, so that no other table has to be read under the lock. Keeps ONE-HOLDER and NO-LATE-SAVE:
//! [`Hold::standing`] is the one place that says whether a lease is still good.

use crate::digest::Digest;
use crate::document::Document;
use crate::failure::Failure;
use crate::fence::FencingToken;
use crate::ids::{Priority, RunId, RunKey};
use crate::lease::LeaseId;
use crate::loss::Ending;
use crate::lost_reason::LostReason;
use crate::owner::OwnerId;
use crate::phase::{Phase, PhaseName};
use crate::plan::Plan;
use crate::timestamp::Timestamp;
use crate::words::words;

words! {
    /// Where a run stands as a whole. Paused is not a status: it stands beside it.
    Status, "status" {
        /// To be worked on.
        Open = "open",
        /// Waiting for an approval of its next phase.
        Waiting = "waiting",
        /// All phases saved.
        Completed = "completed",
        /// Failed, until an operator retries it.
        Failed = "failed",
        /// Cancelled by an operator, for good.
        Cancelled = "cancelled",
    }
}

words! {
    /// How the lease of a run's current number ended.
    LeaseEnd, "lease end" {
        /// The holder saved the last phase, or an approval was given.
        Completed = "completed",
        /// Released by its holder, to be claimed again at once.
        Yielded = "yielded",
        /// Released by its holder, to be tried again later.
        Retrying = "retrying",
        /// Released by its holder, to wait for an approval.
        Waiting = "waiting",
        /// The holder failed the run.
        Failed = "failed",
        /// An operator cancelled the run.
        Cancelled = "cancelled",
        /// An operator took the lease away.
        Revoked = "revoked",
        /// It ran out once too often and the run was set aside.
        Lapsed = "lapsed",
    }
}

/// Who has, or had, the current number of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// Never claimed.
    Never,
    /// A lease with an expiry: live before it, lapsed from it on.
    Held {
        /// The current number.
        fence: FencingToken,
        /// Who got it.
        owner: OwnerId,
        /// From this instant of the store's clock on the lease is over.
        expires_at: Timestamp,
    },
    /// The lease was ended.
    Ended {
        /// The current number.
        fence: FencingToken,
        /// Who had it.
        owner: OwnerId,
        /// How it ended.
        how: LeaseEnd,
    },
}

/// Which save set the run's phase: what tells a save that landed from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseMark {
    /// The number it was saved with.
    pub fence: FencingToken,
    /// The owner it was saved by.
    pub owner: OwnerId,
    /// The digest of what was sent.
    pub digest: Digest,
}

/// Whether a lease may still be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Standing {
    /// It is this run's, and live.
    Held,
    /// It is not.
    Lost(LostReason),
}

/// One run as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The caller's key.
    pub key: RunKey,
    /// The plan it was submitted with.
    pub plan: Plan,
    /// Its place in the queue.
    pub priority: Priority,
    /// The phase saved last.
    pub phase: Phase,
    /// Which save that was; `None` before the first.
    pub mark: Option<PhaseMark>,
    /// Where it stands as a whole.
    pub status: Status,
    /// No further claims until it is resumed.
    pub paused: bool,
    /// Who has, or had, its current number.
    pub hold: Hold,
    /// Leases that ran out since the last save, retry or start.
    pub losses: u32,
    /// Tries of the next phase that failed since the last save, retry or start.
    pub failures: u32,
    /// Not to be claimed before this instant.
    pub due_at: Timestamp,
    /// How often an operator asked for a new idempotency key.
    pub key_epoch: u32,
    /// What was submitted.
    pub input: Document,
    /// The digest of what was submitted.
    pub input_digest: Digest,
    /// Why it failed, while it is failed.
    pub error: Option<Failure>,
    /// When it was submitted.
    pub submitted_at: Timestamp,
}

impl Status {
    /// The ending, where the status is one.
    #[must_use]
    pub fn ending(self) -> Option<Ending> {
        match self {
            Self::Open | Self::Waiting => None,
            Self::Completed => Some(Ending::Completed),
            Self::Failed => Some(Ending::Failed),
            Self::Cancelled => Some(Ending::Cancelled),
        }
    }
}

impl Hold {
    /// The current number; `None` for a run never claimed.
    #[must_use]
    pub fn fence(&self) -> Option<FencingToken> {
        match self {
            Self::Never => None,
            Self::Held { fence, .. } | Self::Ended { fence, .. } => Some(*fence),
        }
    }

    /// Who has or had the current number.
    #[must_use]
    pub fn owner(&self) -> Option<&OwnerId> {
        match self {
            Self::Never => None,
            Self::Held { owner, .. } | Self::Ended { owner, .. } => Some(owner),
        }
    }

    /// This hold, ended. A run never claimed, or whose lease has ended before, stays as it is.
    #[must_use]
    pub fn ended(self, how: LeaseEnd) -> Self {
        match self {
            Self::Held { fence, owner, .. } => Self::Ended { fence, owner, how },
            Self::Never | Self::Ended { .. } => self,
        }
    }

    /// Whether `lease` may still be used at `now` on a run with this hold and status, and if not, the
    /// most telling reason. For stores that read these columns and not the whole run.
    pub fn standing(&self, status: Status, lease: &LeaseId, now: Timestamp) -> Standing {
        let (fence, owner) = match (self.fence(), self.owner()) {
            (Some(fence), Some(owner)) if lease.fence <= fence => (fence, owner),
            (fence, _) => return Standing::Lost(LostReason::Forgotten { fence }),
        };
        if (fence, owner) != (lease.fence, &lease.owner) {
            let by_owner = owner.clone();
            return Standing::Lost(LostReason::Superseded { by_fence: fence, by_owner });
        }
        if let Some(ending) = status.ending() {
            return Standing::Lost(LostReason::Finished(ending));
        }
        match self {
            Self::Never => Standing::Lost(LostReason::Forgotten { fence: None }),
            Self::Held { expires_at, .. } if now < *expires_at => Standing::Held,
            Self::Held { expires_at, .. } => {
                Standing::Lost(LostReason::Expired { late_by: Some(now.since(*expires_at)) })
            }
            Self::Ended { how, .. } => Standing::Lost(after_end(*how)),
        }
    }
}

impl Run {
    /// The phase to be saved next; `None` once all are.
    #[must_use]
    pub fn next_phase(&self) -> Option<&PhaseName> {
        self.plan.phases.next_after(&self.phase)
    }

    /// Whether `lease` may still be used at `now`, and if not, the most telling reason.
    pub fn standing(&self, lease: &LeaseId, now: Timestamp) -> Standing {
        self.hold.standing(self.status, lease, now)
    }
}

/// What a holder is told about a lease that was ended, on a run that goes on.
fn after_end(how: LeaseEnd) -> LostReason {
    match how {
        LeaseEnd::Yielded | LeaseEnd::Retrying | LeaseEnd::Waiting => LostReason::Released,
        LeaseEnd::Revoked => LostReason::Revoked,
        LeaseEnd::Lapsed => LostReason::Expired { late_by: None },
        LeaseEnd::Completed => LostReason::Finished(Ending::Completed),
        LeaseEnd::Failed => LostReason::Finished(Ending::Failed),
        LeaseEnd::Cancelled => LostReason::Finished(Ending::Cancelled),
    }
}
