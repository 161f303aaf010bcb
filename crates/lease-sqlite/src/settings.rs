//! The limits of a store.

use std::time::Duration;

use lease_core::{SettingsError, Ttl};

/// Limits of a store's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteSettings {
    /// How long a request waits for the file's write lock. What waits longer is not applied.
    pub busy_limit: Duration,
}

impl SqliteSettings {
    /// Limits that fit leases of this length: a third of it, and never more than ten seconds.
    #[must_use]
    pub fn for_ttl(ttl: Ttl) -> Self {
        Self { busy_limit: (ttl.as_duration() / 3).min(Duration::from_secs(10)) }
    }

    /// Checks the limits against the TTL of the leases that the store will be asked for.
    ///
    /// # Errors
    /// With the limit that is missing or reaches past the TTL.
    pub fn check(&self, ttl: Ttl) -> Result<(), SettingsError> {
        ttl.check_limit("busy limit", self.busy_limit)
    }
}
