//! Telling a worker to stop: first in good order, then at once.

use std::sync::Arc;
use std::time::Duration;

use lease_core::Clock;
use tokio::sync::watch;

/// How far stopping has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
pub struct Stopper(Arc<watch::Sender<Stage>>);

/// What the worker sees of it.
#[derive(Debug, Clone)]
pub struct Stopping(watch::Receiver<Stage>);

/// A pair: who tells, and who is told.
#[must_use]
pub fn stopper() -> (Stopper, Stopping) {
    let (sender, receiver) = watch::channel(Stage::Running);
    (Stopper(Arc::new(sender)), Stopping(receiver))
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
        self.0.send_if_modified(|current| {
            let raised = *current < stage;
            *current = (*current).max(stage);
            raised
        });
    }

    /// Ends the time of the steps once a drain has lasted for `grace`. Returns when there is
    /// nothing more to do.
    pub(super) async fn keep_grace(&self, clock: &dyn Clock, grace: Duration) {
        Stopping(self.0.subscribe()).draining().await;
        clock.sleep_until(clock.now().plus(grace)).await;
        self.raise(Stage::GraceOver);
    }
}

impl Stopping {
    /// Whether the worker has been told to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        *self.0.borrow() >= Stage::Draining
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

    async fn reached(&self, stage: Stage) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|current| *current >= stage).await.is_err() {
            // Nobody is left who could tell it to stop.
            std::future::pending::<()>().await;
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
