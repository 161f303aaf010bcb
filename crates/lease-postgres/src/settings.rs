//! The limits a store sets on its own connections, and what else its sessions rely on.
//!
//! A statement that may wait longer than the lease lasts could only bring bad news, so every limit
//! is shorter than the TTL (case 14).

use std::fmt;
use std::time::Duration;

use lease_core::{SettingsError, Ttl};

/// Limits of a store's connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgSettings {
    /// How long the server works on one statement (`statement_timeout`).
    pub statement_timeout: Duration,
    /// How long a statement waits for one lock (`lock_timeout`).
    pub lock_timeout: Duration,
    /// How long a transaction may stand idle before the server ends it
    /// (`idle_in_transaction_session_timeout`).
    pub idle_in_transaction_timeout: Duration,
    /// How long a request waits for a connection, opening one included.
    pub acquire_timeout: Duration,
    /// The most connections at a time, the listening one not counted.
    pub max_connections: u32,
    /// How the connections are named on the server (`application_name`).
    pub application_name: String,
}

impl PgSettings {
    /// Limits that fit leases of this length: a third or a half of it, and never more than half a
    /// minute.
    #[must_use]
    pub fn for_ttl(ttl: Ttl) -> Self {
        let part = |parts: u32, longest: Duration| {
            let exact = (ttl.as_duration() / parts).min(longest);
            // Zero would be PostgreSQL's word for no limit, and parts of a millisecond are dropped.
            whole_millis(exact).max(Duration::from_millis(1))
        };
        Self {
            statement_timeout: part(2, Duration::from_secs(30)),
            lock_timeout: part(3, Duration::from_secs(10)),
            idle_in_transaction_timeout: part(2, Duration::from_secs(30)),
            acquire_timeout: part(3, Duration::from_secs(10)),
            max_connections: 10,
            application_name: "lease-postgres".to_owned(),
        }
    }

    /// Checks the limits against the TTL of the leases that the store will be asked for.
    ///
    /// # Errors
    /// With the limit that is missing or reaches past the TTL.
    pub fn check(&self, ttl: Ttl) -> Result<(), SettingsError> {
        ttl.check_limit("statement_timeout", self.statement_timeout)?;
        ttl.check_limit("lock_timeout", self.lock_timeout)?;
        ttl.check_limit("idle_in_transaction_session_timeout", self.idle_in_transaction_timeout)?;
        ttl.check_limit("acquire_timeout", self.acquire_timeout)
    }

    /// The settings of a session, by name.
    pub(crate) fn of_session(&self) -> Vec<(&'static str, Wanted)> {
        let limit = |limit: Duration| Wanted::Limit(limit.as_millis());
        vec![
            ("default_transaction_isolation", Wanted::Exactly("read committed")),
            ("search_path", Wanted::Exactly("pg_catalog, pg_temp")),
            ("statement_timeout", limit(self.statement_timeout)),
            ("lock_timeout", limit(self.lock_timeout)),
            ("idle_in_transaction_session_timeout", limit(self.idle_in_transaction_timeout)),
            ("jit", Wanted::Exactly("off")),
            // Plans are made once, while tables are small, and kept while they grow.
            ("enable_seqscan", Wanted::Exactly("off")),
            ("plan_cache_mode", Wanted::Exactly("force_generic_plan")),
            ("TimeZone", Wanted::Exactly("UTC")),
        ]
    }

    /// How long to wait for an answer before calling it lost: the server gives up on the statement
    /// before that.
    pub(crate) fn answer_limit(&self) -> Duration {
        self.statement_timeout.saturating_add(Duration::from_secs(1))
    }
}

/// What a setting of a session has to be, in the words of `pg_settings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// This.
    Exactly(&'static str),
    /// So many milliseconds, or less. Zero would be no limit.
    Limit(u128),
}

impl Wanted {
    /// Whether what was found will do.
    pub(crate) fn is_met_by(self, found: &str) -> bool {
        match self {
            Self::Exactly(wanted) => found == wanted,
            Self::Limit(longest) => found.parse().is_ok_and(|found| (1..=longest).contains(&found)),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(wanted) => f.write_str(wanted),
            Self::Limit(millis) => write!(f, "{millis}"),
        }
    }
}

fn whole_millis(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ttl(millis: u64) -> Ttl {
        Ttl::new(Duration::from_millis(millis)).unwrap()
    }

    #[test]
    fn the_limits_for_a_ttl_fit_it() {
        for millis in [4, 100, 2_000, 120_000, 7 * 24 * 60 * 60 * 1_000] {
            assert_eq!(PgSettings::for_ttl(ttl(millis)).check(ttl(millis)), Ok(()), "{millis} ms");
        }
    }

    #[test]
    fn a_limit_may_be_shorter_and_never_endless() {
        let wanted = Wanted::Limit(30_000);
        for (found, met) in [("30000", true), ("1", true), ("30001", false), ("0", false), ("", false)] {
            assert_eq!(wanted.is_met_by(found), met, "{found}");
        }
    }

    #[test]
    fn case_14_a_limit_past_the_ttl_is_refused_by_name() {
        let settings = PgSettings::for_ttl(ttl(120_000));
        let Err(SettingsError::LimitTooLong { limit, .. }) = settings.check(ttl(1_000)) else {
            panic!("a statement limit of 30 s was let through for leases of 1 s");
        };
        assert_eq!(limit, "statement_timeout");
        let endless = PgSettings { lock_timeout: Duration::ZERO, ..PgSettings::for_ttl(ttl(120_000)) };
        assert!(matches!(
            endless.check(ttl(120_000)),
            Err(SettingsError::LimitTooLong { limit: "lock_timeout", .. })
        ));
    }
}
