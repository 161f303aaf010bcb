//! The fencing token: the number that orders the claims of one run.
//!
//! Keeps FENCE-UP: the only way to a larger number is [`FencingToken::next`], and nothing makes a
//! smaller one out of it.

use std::fmt;
use std::num::NonZeroU64;

/// The number a claim got. At least 1, at most `i64::MAX` (the largest a `bigint` column holds).
///
/// It orders claims of one run; numbers of different runs say nothing about each other. "Never
/// claimed" is `None` of an `Option<FencingToken>`, and 0 in tables and JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(NonZeroU64);

/// A number that no claim can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("fencing token {0} is not between 1 and 9223372036854775807")]
pub struct InvalidFence(pub i128);

impl FencingToken {
    /// The number of a run's first claim.
    pub const FIRST: Self = Self(NonZeroU64::MIN);
    /// The last number there is: a run that stands here cannot be claimed again.
    pub const LAST: Self = match NonZeroU64::new(i64::MAX.unsigned_abs()) {
        Some(top) => Self(top),
        None => unreachable!(),
    };

    /// The token of this value.
    ///
    /// # Errors
    /// When the value is 0 or above `i64::MAX`.
    pub fn new(value: u64) -> Result<Self, InvalidFence> {
        match NonZeroU64::new(value) {
            Some(number) if number <= Self::LAST.0 => Ok(Self(number)),
            Some(_) | None => Err(InvalidFence(i128::from(value))),
        }
    }

    /// The token in a `bigint` column, where 0 stands for "never claimed".
    ///
    /// # Errors
    /// When the value is negative.
    pub fn from_column(value: i64) -> Result<Option<Self>, InvalidFence> {
        match u64::try_from(value) {
            Ok(0) => Ok(None),
            Ok(number) => Self::new(number).map(Some),
            Err(_) => Err(InvalidFence(i128::from(value))),
        }
    }

    /// The number after this one, or `None` at the top.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        if self < Self::LAST { self.0.checked_add(1).map(Self) } else { None }
    }

    /// The number that the next claim of a run gets: 1 for a run never claimed.
    #[must_use]
    pub fn after(current: Option<Self>) -> Option<Self> {
        match current {
            None => Some(Self::FIRST),
            Some(token) => token.next(),
        }
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }

    /// The plain number for a `bigint` column.
    #[must_use]
    pub fn to_column(self) -> i64 {
        i64::try_from(self.0.get()).expect("a fencing token is at most i64::MAX")
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_up_the_next_number_is_one_higher_and_stops_at_the_top() {
        assert_eq!(FencingToken::after(None), Some(FencingToken::FIRST));
        assert_eq!(FencingToken::FIRST.next().map(FencingToken::get), Some(2));
        assert_eq!(FencingToken::LAST.next(), None);
        let below = FencingToken::new(FencingToken::LAST.get() - 1).unwrap();
        assert_eq!(below.next(), Some(FencingToken::LAST));
    }

    #[test]
    fn numbers_outside_the_column_are_refused() {
        assert!(FencingToken::new(0).is_err());
        assert!(FencingToken::new(FencingToken::LAST.get() + 1).is_err());
        assert!(FencingToken::from_column(-1).is_err());
        assert_eq!(FencingToken::from_column(0), Ok(None));
        assert_eq!(FencingToken::LAST.to_column(), i64::MAX);
    }
}
