//! The port for those who submit runs and act on them: operators and the systems they run.
//!
//! Which action fits which state, by the state of the run (a dash: refused, nothing changes):
//!
//! | | open, free | open, held or lapsed | waiting | completed | failed | cancelled |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | approve P | - | - | saves P if it is the phase waited for; a phase already saved: told so | - | - | - |
//! | reject P | - | - | failed, if P is the phase waited for | - | - | - |
//! | cancel | cancelled | cancelled, lease ended | cancelled | - | - | already so |
//! | retry | - | - | - | - | open at the failed phase, due now, counters anew | - |
//! | pause | paused | paused; the holder may save its phase | paused | - | - | - |
//! | resume | resumed | resumed | resumed | - | resumed | - |
//! | revoke N | - | lease ended, if its number is N | - | - | - | - |
//!
//! Paused stands beside the status: it stops claims and nothing else, so each action does the same
//! to a paused run, and the run stays paused. It goes when the run is completed or cancelled.
//! Pausing a paused run, resuming one that is not paused where resuming is allowed, approving with
//! the owner that the approval had, and revoking a lease that was revoked are "already so": an
//! action whose answer got lost can be sent again. The fence rises by one with an approval, which
//! is a claim and a save in one, and stays with every other action. [`crate::transition::act`] is
//! this table as a function; its tests go through it cell by cell.

use async_trait::async_trait;

use crate::fence::FencingToken;
use crate::ids::RunId;
use crate::owner::OwnerId;
use crate::phase::PhaseName;
use crate::plan::PlanId;
use crate::request::Submit;
use crate::run::Status;
use crate::store::StoreError;
use crate::verdict::{PlanVerdict, SubmitVerdict};

/// Who acts, and why, in their own words. Kept with the action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    by: String,
    reason: Option<String>,
}

/// A name or reason that cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidWho {
    /// The name.
    #[error("{0:?} is not a name of 1 to 200 characters without control characters")]
    By(String),
    /// The reason.
    #[error("the reason is longer than {} bytes or has a NUL character", Who::REASON_LIMIT)]
    Reason,
}

/// Whether steps that run again after a retry show the same idempotency key to the outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdempotencyKey {
    /// The same key: what the outside did before counts.
    Same,
    /// A new key for every phase from here on: the outside does it anew.
    New,
}

/// What an operator can do to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Saves the phase that the run waits for.
    Approve {
        /// That phase.
        phase: PhaseName,
        /// The owner of the claim that the approval is.
        owner: OwnerId,
    },
    /// Fails the run at the phase that it waits for.
    Reject {
        /// That phase.
        phase: PhaseName,
    },
    /// Ends the run for good.
    Cancel,
    /// Opens a failed run again at the phase that failed.
    Retry(IdempotencyKey),
    /// No further claims.
    Pause,
    /// Claims again.
    Resume,
    /// Takes the lease with this number, and no later one, from its holder.
    Revoke {
        /// The number that was seen.
        fence: FencingToken,
    },
}

/// Why an action does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Refusal {
    /// The run's status does not allow it.
    Status(Status),
    /// The run waits for another phase.
    WaitsFor(PhaseName),
    /// The phase is saved already.
    PhaseSaved,
    /// Nobody holds the run.
    NotHeld,
    /// The run is held with another number than the one that was seen.
    OtherFence {
        /// The current number.
        fence: FencingToken,
        /// Who has it.
        owner: OwnerId,
    },
    /// The run has no number left, and an approval needs one.
    FenceExhausted,
}

/// The answer to an action.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum OperatorVerdict {
    /// Done.
    Done,
    /// It was so before; nothing changed.
    AlreadySo,
    /// It does not fit; nothing changed.
    Refused(Refusal),
    /// There is no such run.
    Gone,
}

/// The store's port for operators.
#[async_trait]
pub trait Operator: Send + Sync {
    /// Opens a run, unless one with this key is there.
    ///
    /// # Errors
    /// Where there is no verdict. The same request sent again is answered `Existing` if the first
    /// had landed.
    ///
    /// # Cancel safety
    /// As for [`crate::LeaseStore`]: the run may still be opened, as a whole.
    async fn submit(&self, submit: &Submit) -> Result<SubmitVerdict, StoreError>;

    /// Says whether a plan may be used under its name and version. Changes nothing.
    ///
    /// # Errors
    /// Where there is no answer.
    async fn check_plan(&self, plan: &PlanId) -> Result<PlanVerdict, StoreError>;

    /// Acts on a run, as the table of this module says.
    ///
    /// # Errors
    /// Where there is no verdict: the action may have taken effect.
    ///
    /// # Cancel safety
    /// As for [`crate::LeaseStore`]: the action may still take effect, as a whole.
    async fn act(&self, run: RunId, action: &Action, who: &Who) -> Result<OperatorVerdict, StoreError>;
}

impl Who {
    /// The longest reason, in bytes.
    pub const REASON_LIMIT: usize = 4 * 1024;

    /// Checks a name and a reason.
    ///
    /// # Errors
    /// When the name is empty, too long or has control characters, or the reason is too long or has
    /// a NUL character.
    pub fn new(by: impl Into<String>, reason: Option<String>) -> Result<Self, InvalidWho> {
        let by = by.into();
        if !(1..=200).contains(&by.chars().count()) || by.chars().any(char::is_control) {
            return Err(InvalidWho::By(by));
        }
        if reason.as_ref().is_some_and(|text| text.len() > Self::REASON_LIMIT || text.contains('\0')) {
            return Err(InvalidWho::Reason);
        }
        Ok(Self { by, reason })
    }

    /// Who.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Why, if they said so.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

impl Action {
    /// The word for this action in the log of actions.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Approve { .. } => "approve",
            Self::Reject { .. } => "reject",
            Self::Cancel => "cancel",
            Self::Retry(_) => "retry",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Revoke { .. } => "revoke",
        }
    }
}
