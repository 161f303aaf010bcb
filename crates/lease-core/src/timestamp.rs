//! An instant of the store's clock.
//!
//! Workers show these and never reason with them: only a store, or a transition run by a store,
//! compares two of them.

use std::fmt;
use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Microseconds since 1970-01-01T00:00:00Z, by the store's clock. Shown as RFC 3339 in UTC with
/// six decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant so many microseconds after 1970 (negative: before).
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// This instant plus a duration, at most the last instant there is.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// How far this instant lies after `earlier`; zero if it does not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000).ok().and_then(|instant| {
                let whole = instant.replace_nanosecond(0).ok()?.format(&Rfc3339).ok()?;
                let seconds = whole.strip_suffix('Z')?;
                Some(format!("{seconds}.{:06}Z", instant.microsecond()))
            });
        match shown {
            Some(text) => f.write_str(&text),
            // Beyond the years RFC 3339 can name (`infinity` in a column): the raw number is true.
            None => write!(f, "{}us", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_shown_in_utc_with_microseconds() {
        assert_eq!(Timestamp::from_micros(0).to_string(), "1970-01-01T00:00:00.000000Z");
        let shown = Timestamp::from_micros(1_764_561_600_000_001).to_string();
        assert_eq!(shown, "2025-12-01T04:00:00.000001Z");
        assert_eq!(Timestamp::from_micros(i64::MAX).to_string(), format!("{}us", i64::MAX));
    }

    #[test]
    fn a_difference_is_never_negative() {
        let early = Timestamp::from_micros(5);
        let late = early.plus(Duration::from_millis(1));
        assert_eq!(late.since(early), Duration::from_millis(1));
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
