//! Why a lease was lost, told truly and in a fixed form.
//!
//! Keeps TRUTH: each reason is what a store read from the locked row, or `Unconfirmed` where no
//! answer came.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::fence::FencingToken;
use crate::owner::OwnerId;
use crate::phase::{Phase, PhaseName};
use crate::words::words;

words! {
    /// A status that ends a run.
    Ending, "ending" {
        /// All phases saved.
        Completed = "completed",
        /// Failed, until an operator retries it.
        Failed = "failed",
        /// Cancelled by an operator.
        Cancelled = "cancelled",
    }
}

words! {
    /// What the holder asked for when it was turned away.
    Refused, "refused request" {
        /// A renewal.
        Renew = "renew",
        /// A save.
        Save = "save",
        /// A release.
        Release = "release",
        /// Failing the run.
        Fail = "fail",
    }
}

/// Why the holder of a lease is turned away, most telling first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum LostReason {
    /// Another claim has a newer number (or the same one under another owner, in a store restored
    /// to an older state).
    Superseded {
        /// The run's current number.
        by_fence: FencingToken,
        /// Who got it.
        by_owner: OwnerId,
    },
    /// The run has ended.
    Finished(Ending),
    /// An operator took the lease away.
    Revoked,
    /// This lease was given up by its own holder.
    Released,
    /// The lease ran out and nobody has claimed since.
    Expired {
        /// How long ago, by the store's clock; `None` where the run was set aside since and the
        /// expiry is gone.
        late_by: Option<Duration>,
    },
    /// There is no such run.
    Gone,
    /// The store's own number for the run is below this lease's: it was set back to an older state
    /// and has forgotten this claim.
    Forgotten {
        /// The run's number there; `None` if it was never claimed.
        fence: Option<FencingToken>,
    },
    /// The lease is live, but the run does not stand where the request says.
    PhaseConflict {
        /// The phase that the request names as saved last.
        expected: Phase,
        /// The phase that is saved last.
        actual: Phase,
    },
    /// This very claim has saved this phase before, with another receipt or other effects.
    ReceiptConflict,
    /// The store could not be reached before the local deadline.
    Unconfirmed {
        /// A save was under way, and nobody knows whether it landed.
        save_may_have_landed: bool,
    },
}

/// A lost lease: what was asked, at which phase, and why it was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loss {
    /// The request that was turned away.
    pub refused: Refused,
    /// The phase that was under way.
    pub phase: PhaseName,
    /// Why.
    pub why: LostReason,
}

impl LostReason {
    /// The word for this reason in JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Superseded { .. } => "superseded",
            Self::Finished(_) => "finished",
            Self::Revoked => "revoked",
            Self::Released => "released",
            Self::Expired { .. } => "expired",
            Self::Gone => "gone",
            Self::Forgotten { .. } => "forgotten",
            Self::PhaseConflict { .. } => "phase_conflict",
            Self::ReceiptConflict => "receipt_conflict",
            Self::Unconfirmed { .. } => "unconfirmed",
        }
    }

    fn add_to(&self, fields: &mut Map<String, Value>) {
        let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        match self {
            Self::Superseded { by_fence, by_owner } => {
                add("by_fence", json!(by_fence.get()));
                add("by_owner", json!(by_owner.as_str()));
            }
            Self::Finished(ending) => {
                add("status", json!(ending.as_str()));
            }
            Self::Expired { late_by: Some(late_by) } => {
                add("late_by_ms", json!(u64::try_from(late_by.as_millis()).unwrap_or(u64::MAX)));
            }
            Self::Unconfirmed { save_may_have_landed } => {
                add("save_may_have_landed", json!(save_may_have_landed));
            }
            Self::Forgotten { fence } => {
                add("store_fence", json!(fence.map_or(0, FencingToken::get)));
            }
            Self::PhaseConflict { expected, actual } => {
                add("expected", json!(expected.as_str()));
                add("actual", json!(actual.as_str()));
            }
            Self::Expired { late_by: None }
            | Self::Revoked
            | Self::Released
            | Self::Gone
            | Self::ReceiptConflict => {}
        }
    }
}

impl Loss {
    /// The reason of a blocked attempt: `{"refused", "phase", "why", …}` with what belongs to the
    /// reason.
    #[must_use]
    pub fn to_document(&self) -> Document {
        let mut fields = Map::new();
        fields.insert("refused".to_owned(), json!(self.refused.as_str()));
        fields.insert("phase".to_owned(), json!(self.phase.as_str()));
        fields.insert("why".to_owned(), json!(self.why.word()));
        self.why.add_to(&mut fields);
        Document::new(fields).expect("a loss is short, flat and without NUL")
    }
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Superseded { by_fence, by_owner } => {
                write!(f, "superseded by claim {by_fence} of {by_owner}")
            }
            Self::Finished(ending) => write!(f, "the run is {ending}"),
            Self::Revoked => f.write_str("an operator took the lease away"),
            Self::Released => f.write_str("the lease was released by its own holder"),
            Self::Expired { late_by: Some(late_by) } => {
                write!(f, "the lease ran out {} ms ago", late_by.as_millis())
            }
            Self::Expired { late_by: None } => f.write_str("the lease ran out"),
            Self::Gone => f.write_str("there is no such run"),
            Self::Forgotten { fence } => {
                let fence = fence.map_or(0, FencingToken::get);
                write!(f, "the store was set back and has forgotten this claim: its number is {fence}")
            }
            Self::PhaseConflict { expected, actual } => {
                write!(f, "the run stands at {actual}, not at {expected}")
            }
            Self::ReceiptConflict => f.write_str("this claim saved the phase before, with another receipt"),
            Self::Unconfirmed { save_may_have_landed: true } => {
                f.write_str("the store did not answer in time, and the save may have landed")
            }
            Self::Unconfirmed { save_may_have_landed: false } => {
                f.write_str("the store did not answer in time")
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} refused: {}", self.refused, self.phase, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 11: numbers stay exact in JSON.
    #[test]
    fn truth_the_reason_of_a_blocked_attempt_names_what_belongs_to_it() {
        let loss = |why| Loss { refused: Refused::Save, phase: PhaseName::new("registered").unwrap(), why };
        let by_owner = OwnerId::from_stored("b#1").unwrap();
        let superseded = loss(LostReason::Superseded { by_fence: FencingToken::LAST, by_owner });
        assert_eq!(
            superseded.to_document().to_json(),
            r#"{"by_fence":9223372036854775807,"by_owner":"b#1","phase":"registered","refused":"save","why":"superseded"}"#
        );
        let expired = loss(LostReason::Expired { late_by: Some(Duration::from_millis(7)) });
        assert!(expired.to_document().to_json().contains(r#""late_by_ms":7"#));
    }
}
