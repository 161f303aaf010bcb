//! Attempts: one claim's life, and how it ended.

use crate::document::Document;
use crate::fence::FencingToken;
use crate::owner::OwnerId;
use crate::phase::Phase;
use crate::timestamp::Timestamp;
use crate::words::words;

words! {
    /// How a claim ended.
    AttemptOutcome, "attempt outcome" {
        /// It saved the run's last phase, or it was an approval.
        Completed = "completed",
        /// It stopped in good order: shutdown or pause.
        Yielded = "yielded",
        /// The step is to be tried again later.
        Retrying = "retrying",
        /// The run waits for an approval.
        Waiting = "waiting",
        /// It failed the run.
        Failed = "failed",
        /// An operator cancelled the run under it.
        Cancelled = "cancelled",
        /// An operator took the lease away by force.
        Revoked = "revoked",
        /// It never came back; the next claim closed it.
        Superseded = "superseded",
        /// It lost its lease, came back and was turned away.
        Blocked = "blocked",
    }
}

impl AttemptOutcome {
    /// Whether it is the holder of the live lease that ends an attempt so, with what it did to the run.
    #[must_use]
    pub fn is_the_holders_own(self) -> bool {
        match self {
            Self::Completed | Self::Yielded | Self::Retrying | Self::Waiting | Self::Failed => true,
            Self::Cancelled | Self::Revoked | Self::Superseded | Self::Blocked => false,
        }
    }
}

/// One claim, keyed by (run, fence).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The number that the claim got.
    pub fence: FencingToken,
    /// The owner it was made under.
    pub owner: OwnerId,
    /// When it was granted, by the store's clock.
    pub claimed_at: Timestamp,
    /// The phase the run stood at.
    pub from_phase: Phase,
    /// How and when it ended; `None` while nobody knows of an end.
    pub end: Option<(AttemptOutcome, Timestamp)>,
    /// What belongs to the outcome: a failure, a loss, an operator's words.
    pub reason: Option<Document>,
}

impl Attempt {
    /// An attempt that was just granted.
    #[must_use]
    pub fn open(fence: FencingToken, owner: OwnerId, claimed_at: Timestamp, from_phase: Phase) -> Self {
        Self { fence, owner, claimed_at, from_phase, end: None, reason: None }
    }

    /// This attempt with the end that the run has just been given; `None` where the end that it has
    /// stays.
    ///
    /// A worker that waits in vain for the answer to its last request records `blocked`. If that
    /// request then lands after all, under the lease that is still live, what it did to the run is how
    /// the attempt ended: it replaces `blocked`. An operator's word replaces nothing.
    #[must_use]
    pub fn ended(&self, outcome: AttemptOutcome, reason: Option<Document>, now: Timestamp) -> Option<Self> {
        let replaced = match self.outcome() {
            None => true,
            Some(AttemptOutcome::Blocked) => outcome.is_the_holders_own(),
            Some(_) => false,
        };
        replaced.then(|| Self { end: Some((outcome, now)), reason, ..self.clone() })
    }

    /// The outcome, if it ended.
    #[must_use]
    pub fn outcome(&self) -> Option<AttemptOutcome> {
        self.end.map(|(outcome, _)| outcome)
    }
}
