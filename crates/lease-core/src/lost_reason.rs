//! Why the holder of a lease is turned away.
//!
//! Keeps TRUTH: each reason is what a store read from the locked row; where no verdict came, the
//! reason says just that.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::fence::FencingToken;
use crate::loss::Ending;
use crate::owner::OwnerId;
use crate::phase::Phase;
use crate::store::StoreError;
use crate::text::cut;

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
    Unconfirmed,
    /// The store answered with an error that asking again does not help, and the holder gave the
    /// lease up.
    StoreFailed {
        /// The error in words.
        message: StoreMessage,
    },
}

/// An error of a store in words that can be kept: at most 1 KiB, without NUL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreMessage(String);

impl LostReason {
    /// The holder gave the lease up over this error.
    pub fn store_failed(error: &StoreError) -> Self {
        Self::StoreFailed { message: StoreMessage::of(error) }
    }

    /// Whether this says what the store holds; else only that the holder got no verdict.
    #[must_use]
    pub fn is_verdict(&self) -> bool {
        !matches!(self, Self::Unconfirmed | Self::StoreFailed { .. })
    }

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
            Self::Unconfirmed => "unconfirmed",
            Self::StoreFailed { .. } => "store_error",
        }
    }

    pub(crate) fn add_to(&self, fields: &mut Map<String, Value>) {
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
            Self::StoreFailed { message } => {
                add("message", json!(message.as_str()));
            }
            Self::Forgotten { fence } => {
                add("store_fence", json!(fence.map_or(0, FencingToken::get)));
            }
            Self::PhaseConflict { expected, actual } => {
                add("expected", json!(expected.as_str()));
                add("actual", json!(actual.as_str()));
            }
            Self::Expired { late_by: None }
            | Self::Unconfirmed
            | Self::Revoked
            | Self::Released
            | Self::Gone
            | Self::ReceiptConflict => {}
        }
    }
}

impl StoreMessage {
    /// The longest message kept, in bytes.
    const LIMIT: usize = 1024;

    /// The error with its causes. What is past the limit is cut off.
    #[must_use]
    pub fn of(error: &StoreError) -> Self {
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        Self(cut(&message, Self::LIMIT))
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
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
            Self::Unconfirmed => f.write_str("the store did not answer in time"),
            Self::StoreFailed { message } => f.write_str(message.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_store_is_kept_with_its_causes_whatever_its_length() {
        let error = StoreError::Unexpected(format!("a\0b{}", "é".repeat(2_000)).into());
        let LostReason::StoreFailed { message } = LostReason::store_failed(&error) else { panic!("another") };
        assert!(
            message.as_str().starts_with("the store refused the request in an unexpected way: a\u{fffd}b")
        );
        assert!(message.as_str().len() <= StoreMessage::LIMIT + '…'.len_utf8());
    }
}
