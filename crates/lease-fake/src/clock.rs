//! A worker's clock that a test moves by hand.
//!
//! Keeps what [`Clock`] asks for: it never goes back, and a sleeper is woken at its instant.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Clock, Moment, Timestamp};

use crate::store_clock::StoreClock;
use crate::time_line::TimeLine;

/// A worker's clock. Clones are the same clock.
///
/// It stands still until [`FakeClock::advance`] moves it. A sleeping task is woken with the clock at
/// its own instant, but runs only when it is polled: to see every step of a task that sleeps again
/// and again, move the clock from one [`FakeClock::next_wake`] to the next and poll in between, as
/// [`crate::drive::run`] does.
#[derive(Debug, Clone)]
pub struct FakeClock {
    line: TimeLine,
    ahead: Duration,
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::starting_at(Duration::ZERO)
    }
}

impl FakeClock {
    /// A clock of its own that reads `since_start`.
    #[must_use]
    pub fn starting_at(since_start: Duration) -> Self {
        Self { line: TimeLine::default(), ahead: since_start }
    }

    /// Another clock on the same passage of time that reads `ahead` more: moving one moves both.
    #[must_use]
    pub fn skewed(&self, ahead: Duration) -> Self {
        Self { line: self.line.clone(), ahead: self.ahead.saturating_add(ahead) }
    }

    /// A store's clock on the same passage of time that reads `now`: moving this clock moves it too.
    #[must_use]
    pub fn store_clock(&self, now: Timestamp) -> StoreClock {
        StoreClock::on(self.line.clone(), now)
    }

    /// Moves on, and wakes whoever's instant came, in the order of their instants.
    pub fn advance(&self, by: Duration) {
        self.line.advance_to(self.line.elapsed().saturating_add(by));
    }

    /// Moves on to `instant`; a clock that stands past it stays.
    pub fn advance_to(&self, instant: Moment) {
        self.line.advance_to(self.on_line(instant));
    }

    /// The instant that the first sleeper on this passage of time waits for, in this clock's
    /// reading; `None` while nobody sleeps.
    #[must_use]
    pub fn next_wake(&self) -> Option<Moment> {
        self.line.next_wake().map(|instant| Moment::from_start(self.ahead.saturating_add(instant)))
    }

    /// Moves on to [`FakeClock::next_wake`] and says whether anybody slept.
    pub fn advance_to_next_wake(&self) -> bool {
        let next = self.line.next_wake();
        if let Some(instant) = next {
            self.line.advance_to(instant);
        }
        next.is_some()
    }

    /// How many tasks sleep on this passage of time.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.line.sleepers()
    }

    fn on_line(&self, instant: Moment) -> Duration {
        instant.since_start().saturating_sub(self.ahead)
    }
}

#[async_trait]
impl Clock for FakeClock {
    fn now(&self) -> Moment {
        Moment::from_start(self.ahead.saturating_add(self.line.elapsed()))
    }

    async fn sleep_until(&self, instant: Moment) {
        let mut sleeper = self.line.sleeper();
        poll_fn(|context| {
            if self.now() >= instant {
                sleeper.get_up();
                return Poll::Ready(());
            }
            sleeper.lie_down(self.on_line(instant), context.waker());
            Poll::Pending
        })
        .await;
    }
}
