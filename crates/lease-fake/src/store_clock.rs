//! The store's clock of a fake store: apart from every worker's, and it can be set.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::Poll;
use std::time::Duration;

use lease_core::Timestamp;

use crate::time_line::TimeLine;

/// A store's clock. Clones are the same clock. It stands still until it is moved; unlike a worker's
/// clock it can also be set, even back, as an administrator or a wrong time server would.
#[derive(Debug, Clone)]
pub struct StoreClock {
    line: TimeLine,
    /// What the clock reads when nothing has elapsed on its line, in microseconds since 1970.
    origin: Arc<AtomicI64>,
}

impl Default for StoreClock {
    /// 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::new(Timestamp::from_micros(1_767_225_600_000_000))
    }
}

impl StoreClock {
    /// A clock of its own that reads `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self::on(TimeLine::default(), now)
    }

    pub(crate) fn on(line: TimeLine, now: Timestamp) -> Self {
        let clock = Self { line, origin: Arc::new(AtomicI64::new(0)) };
        clock.set(now);
        clock
    }

    /// What it reads.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.origin.load(Ordering::SeqCst)).plus(self.line.elapsed())
    }

    /// Moves on, and wakes whoever's instant came.
    pub fn advance(&self, by: Duration) {
        self.line.advance_to(self.line.elapsed().saturating_add(by));
    }

    /// Sets it, forward or back.
    pub fn set(&self, now: Timestamp) {
        let elapsed = Timestamp::from_micros(0).plus(self.line.elapsed()).as_micros();
        self.origin.store(now.as_micros().saturating_sub(elapsed), Ordering::SeqCst);
        self.line.wake_all();
    }

    /// Sets it back.
    pub fn set_back(&self, by: Duration) {
        let micros = Timestamp::from_micros(0).plus(by).as_micros();
        self.set(Timestamp::from_micros(self.now().as_micros().saturating_sub(micros)));
    }

    /// Returns once it reads `instant` or later. Dropping the future has no effect.
    pub async fn reaches(&self, instant: Timestamp) {
        let mut sleeper = self.line.sleeper();
        poll_fn(|context| {
            let now = self.now();
            if now >= instant {
                sleeper.get_up();
                return Poll::Ready(());
            }
            sleeper.lie_down(self.line.elapsed().saturating_add(instant.since(now)), context.waker());
            Poll::Pending
        })
        .await;
    }
}
