//! What a worker is told at start, checked as a whole.

use std::time::Duration;

use lease_core::{LeaseSettings, LossLimit, WorkerName};

/// The most runs one worker works on at once.
const CONCURRENCY_LIMIT: usize = 256;

/// A worker's settings.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    /// Its name, the readable part of its owners.
    pub name: WorkerName,
    /// TTL, heartbeat and margin.
    pub lease: LeaseSettings,
    /// How many runs at once.
    pub concurrency: usize,
    /// How long an idle worker waits at most before it asks again.
    pub poll: Duration,
    /// How long a step may finish after the worker was told to stop.
    pub grace: Duration,
    /// How many losses at one phase it puts up with.
    pub loss_limit: LossLimit,
}

/// The rule that settings break.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerSettingsError {
    /// Too few or too many runs at once.
    #[error("concurrency of {0} is not between 1 and {CONCURRENCY_LIMIT}")]
    Concurrency(usize),
    /// The poll is out of range.
    #[error("poll of {0:?} is not between 10 ms and 1 hour")]
    Poll(Duration),
}

impl WorkerSettings {
    /// How long to wait after a claim that got no answer.
    pub(super) fn claim_pause(&self) -> Duration {
        self.poll.min(Duration::from_secs(1))
    }

    /// Checks what the parts do not check by themselves.
    ///
    /// # Errors
    /// When the concurrency or the poll is out of range.
    pub fn check(&self) -> Result<(), WorkerSettingsError> {
        if !(1..=CONCURRENCY_LIMIT).contains(&self.concurrency) {
            return Err(WorkerSettingsError::Concurrency(self.concurrency));
        }
        if !(Duration::from_millis(10)..=Duration::from_secs(3_600)).contains(&self.poll) {
            return Err(WorkerSettingsError::Poll(self.poll));
        }
        Ok(())
    }
}
