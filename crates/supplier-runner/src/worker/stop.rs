//! Telling a worker to stop: first in good order, then at once.
//!
//! Whoever waits is woken in the order in which it began to, so that a simulation can be replayed.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use lease_core::Clock;
use tokio::sync::Notify;

/// How far stopping has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Stage {
    Running,
    /// No new claims; steps may finish.
    Draining,
    /// Steps have had their time.
    GraceOver,
    /// Nothing is waited for.
    Now,
}

/// Tells a worker to stop. Clones tell the same worker.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Told>);

/// What the worker sees of it.
#[derive(Debug, Clone)]
pub struct Stopping(Arc<Told>);

/// The stage, as a number that only goes up, and the news that it did.
#[derive(Debug)]
struct Told {
    stage: AtomicU8,
    raised: Notify,
}

/// A pair: who tells, and who is told.
#[must_use]
pub fn stopper() -> (Stopper, Stopping) {
    let told = Arc::new(Told { stage: AtomicU8::new(Stage::Running as u8), raised: Notify::new() });
    (Stopper(Arc::clone(&told)), Stopping(told))
}

impl Stopper {
    /// No new claims; steps under way may finish and are saved, and leases are released.
    pub fn drain(&self) {
        self.raise(Stage::Draining);
    }

    /// Ends everything at once; leases run out by themselves.
    pub fn stop_now(&self) {
        self.raise(Stage::Now);
    }

    fn raise(&self, stage: Stage) {
        if self.0.stage.fetch_max(stage as u8, Ordering::AcqRel) < stage as u8 {
            self.0.raised.notify_waiters();
        }
    }

    /// Ends the time of the steps once a drain has lasted for `grace`. Returns when there is
    /// nothing more to do.
    pub(super) async fn keep_grace(&self, clock: &dyn Clock, grace: Duration) {
        Stopping(Arc::clone(&self.0)).draining().await;
        clock.sleep_until(clock.now().plus(grace)).await;
        self.raise(Stage::GraceOver);
    }
}

impl Stopping {
    /// Whether the worker has been told to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.has_reached(Stage::Draining)
    }

    /// Returns once the worker has been told to stop.
    pub async fn draining(&self) {
        self.reached(Stage::Draining).await;
    }

    /// Returns once steps have had their time.
    pub async fn grace_over(&self) {
        self.reached(Stage::GraceOver).await;
    }

    /// Returns once nothing is to be waited for any more.
    pub async fn now(&self) {
        self.reached(Stage::Now).await;
    }

    fn has_reached(&self, stage: Stage) -> bool {
        self.0.stage.load(Ordering::Acquire) >= stage as u8
    }

    async fn reached(&self, stage: Stage) {
        loop {
            let mut raised = pin!(self.0.raised.notified());
            // Before the look, so that nothing is missed between the two.
            raised.as_mut().enable();
            if self.has_reached(stage) {
                return;
            }
            raised.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stages_only_go_up() {
        let (stopper, stopping) = stopper();
        assert!(!stopping.is_draining());
        stopper.stop_now();
        stopper.drain();
        stopping.now().await;
        assert!(stopping.is_draining());
    }
}
