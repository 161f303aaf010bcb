//! How long a lease lasts and how often it is renewed, refused where the parts do not fit.
//!
//! Keeps SELF-STOP: the margin is what lies between the worker's local deadline and the store's
//! expiry.

use std::time::Duration;

/// How long a claim, a renewal or a save makes a lease last: 1 ms to 7 days. A worker sends this
/// duration to the store, never an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ttl(Duration);

/// A lease's times, checked against each other.
///
/// The margin has to cover how far the worker's and the store's clock may drift apart over one
/// TTL, plus the time the worker needs to notice its deadline. The default, a tenth of the TTL
/// but at most 10 s, allows a drift of 10 % on short leases; 10 s over the longest lease of 7 days
/// still allow 16 parts per million. Clocks disciplined by NTP stay well below 500 parts per
/// million, for which a lease of up to 5 hours is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseSettings {
    ttl: Ttl,
    heartbeat: Duration,
    margin: Duration,
}

/// The rule that settings break. Each message names the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// TTL out of range.
    #[error("ttl of {0:?} is not between 1 ms and 7 days")]
    Ttl(Duration),
    /// No heartbeat.
    #[error("heartbeat is zero: a lease must be renewed at some interval above zero")]
    HeartbeatZero,
    /// Too few heartbeats fit into a lease.
    #[error(
        "heartbeat of {heartbeat:?} is too long for a ttl of {ttl:?}: two of them must fit into the ttl less the margin of {margin:?}"
    )]
    HeartbeatTooLong {
        /// The heartbeat asked for.
        heartbeat: Duration,
        /// The TTL it has to fit.
        ttl: Duration,
        /// The margin taken off the TTL.
        margin: Duration,
    },
    /// Nothing of the lease is left.
    #[error("margin of {margin:?} is not shorter than half of the ttl of {ttl:?}")]
    MarginTooLong {
        /// The margin asked for.
        margin: Duration,
        /// The TTL it has to fit.
        ttl: Duration,
    },
    /// The worker would trust a lease that the store has ended.
    #[error("margin is zero: the worker has to stop before the store's lease runs out")]
    MarginZero,
    /// A limit of the store's session reaches past the lease.
    #[error("{limit} of {value:?} is not shorter than the ttl of {ttl:?}")]
    LimitTooLong {
        /// Which limit.
        limit: &'static str,
        /// Its value.
        value: Duration,
        /// The TTL it has to stay below.
        ttl: Duration,
    },
}

impl Ttl {
    /// The shortest lease.
    pub const SHORTEST: Duration = Duration::from_millis(1);
    /// The longest lease.
    pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// Checks a TTL. Parts of a millisecond are dropped.
    ///
    /// # Errors
    /// When it is not between 1 ms and 7 days.
    pub fn new(ttl: Duration) -> Result<Self, SettingsError> {
        let whole = Duration::from_millis(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        if (Self::SHORTEST..=Self::LONGEST).contains(&whole) {
            Ok(Self(whole))
        } else {
            Err(SettingsError::Ttl(ttl))
        }
    }

    /// The duration.
    #[must_use]
    pub fn as_duration(self) -> Duration {
        self.0
    }

    /// Whole milliseconds.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        i64::try_from(self.0.as_millis()).expect("a ttl is at most 7 days")
    }

    /// Checks that a limit of the store's session (a statement or lock limit) ends before a lease
    /// does: a statement that waits longer than the lease could only bring bad news.
    ///
    /// # Errors
    /// When the limit is zero (PostgreSQL's word for none) or not shorter than the TTL.
    pub fn check_limit(self, limit: &'static str, value: Duration) -> Result<(), SettingsError> {
        if !value.is_zero() && value < self.0 {
            Ok(())
        } else {
            Err(SettingsError::LimitTooLong { limit, value, ttl: self.0 })
        }
    }
}

impl LeaseSettings {
    /// The longest default margin.
    const MARGIN_CAP: Duration = Duration::from_secs(10);

    /// A heartbeat every third of the TTL and a margin of a tenth of it, at most 10 s.
    ///
    /// # Errors
    /// When the TTL is too short for them: see [`LeaseSettings::new`].
    pub fn with_ttl(ttl: Ttl) -> Result<Self, SettingsError> {
        Self::new(ttl, ttl.0 / 3, Self::default_margin(ttl))
    }

    /// The margin that goes with a TTL where nobody chose one.
    #[must_use]
    pub fn default_margin(ttl: Ttl) -> Duration {
        (ttl.0 / 10).min(Self::MARGIN_CAP)
    }

    /// Checks the three against each other.
    ///
    /// # Errors
    /// When the heartbeat or the margin is zero, the margin is not shorter than half of the TTL, or
    /// two heartbeats do not fit into the TTL less the margin.
    pub fn new(ttl: Ttl, heartbeat: Duration, margin: Duration) -> Result<Self, SettingsError> {
        if heartbeat.is_zero() {
            return Err(SettingsError::HeartbeatZero);
        }
        if margin.is_zero() {
            return Err(SettingsError::MarginZero);
        }
        if margin.saturating_mul(2) >= ttl.0 {
            return Err(SettingsError::MarginTooLong { margin, ttl: ttl.0 });
        }
        if heartbeat.saturating_mul(2) > ttl.0 - margin {
            return Err(SettingsError::HeartbeatTooLong { heartbeat, ttl: ttl.0, margin });
        }
        Ok(Self { ttl, heartbeat, margin })
    }

    /// How long a lease lasts.
    #[must_use]
    pub fn ttl(&self) -> Ttl {
        self.ttl
    }

    /// How often it is renewed.
    #[must_use]
    pub fn heartbeat(&self) -> Duration {
        self.heartbeat
    }

    /// How long before the lease's end the worker gives up by itself.
    #[must_use]
    pub fn margin(&self) -> Duration {
        self.margin
    }

    /// How long to wait before a request that got no verdict is sent again: a tenth of the
    /// heartbeat, at most a second.
    #[must_use]
    pub fn retry_pause(&self) -> Duration {
        (self.heartbeat / 10).clamp(Duration::from_millis(1), Duration::from_secs(1))
    }

    /// How long a worker may trust a lease, counted from when the request was sent.
    #[must_use]
    pub fn trusted(&self) -> Duration {
        self.ttl.0.saturating_sub(self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ttl(seconds: u32) -> Ttl {
        Ttl::new(SECOND * seconds).unwrap()
    }

    /// Case 14.
    #[test]
    fn case_14_settings_that_do_not_fit_are_refused_by_rule() {
        assert_eq!(Ttl::new(Duration::ZERO), Err(SettingsError::Ttl(Duration::ZERO)));
        let refused = |heartbeat, margin| LeaseSettings::new(ttl(10), heartbeat, margin).unwrap_err();
        assert_eq!(refused(Duration::ZERO, SECOND), SettingsError::HeartbeatZero);
        assert_eq!(refused(SECOND, Duration::ZERO), SettingsError::MarginZero);
        assert!(matches!(refused(SECOND * 10, SECOND), SettingsError::HeartbeatTooLong { .. }));
        assert!(matches!(refused(SECOND * 5, SECOND), SettingsError::HeartbeatTooLong { .. }));
        assert!(matches!(refused(SECOND, SECOND * 11), SettingsError::MarginTooLong { .. }));
        assert!(ttl(10).check_limit("statement_timeout", SECOND * 10).is_err());
        assert!(ttl(10).check_limit("statement_timeout", Duration::ZERO).is_err());
        assert!(ttl(10).check_limit("statement_timeout", SECOND * 9).is_ok());
    }

    #[test]
    fn the_defaults_fit_every_ttl_from_ten_milliseconds_up() {
        for millis in [10, 100, 2_000, 120_000, 7 * 24 * 60 * 60 * 1_000] {
            let ttl = Ttl::new(Duration::from_millis(millis)).unwrap();
            let settings = LeaseSettings::with_ttl(ttl).unwrap();
            assert!(settings.trusted() < ttl.as_duration());
            assert!(settings.heartbeat() * 2 <= settings.trusted());
        }
    }
}
