//! The worker's own clock, behind a port.
//!
//! It schedules heartbeats and the local deadline. It is never compared with a [`crate::Timestamp`]
//! of the store, and the types do not allow it.

use std::time::Duration;

use async_trait::async_trait;

/// An instant of a worker's monotonic clock: time since a start that only that clock knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Duration);

impl Moment {
    /// The instant so long after the clock's start.
    #[must_use]
    pub fn from_start(since_start: Duration) -> Self {
        Self(since_start)
    }

    /// Time since the clock's start.
    #[must_use]
    pub fn since_start(self) -> Duration {
        self.0
    }

    /// This instant plus a duration, at most the last instant there is.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }

    /// Time from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A monotonic clock and its alarm.
///
/// `now` should count time in which the machine was suspended, where the system can tell. A clock
/// that does not can only be caught by the store, which refuses the late save.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The present instant. Never goes back.
    fn now(&self) -> Moment;

    /// Returns once `now()` is at or past `instant`.
    ///
    /// # Cancel safety
    /// Dropping the future has no effect on the clock or on other sleepers.
    async fn sleep_until(&self, instant: Moment);
}
