//! Random parts: run ids, owners, and the jitter of retries.

use lease_core::{OwnerId, RunId, WorkerName};
use uuid::Uuid;

/// A new run id (UUID version 7, so that ids sort by when they were made).
#[must_use]
pub fn new_run_id() -> RunId {
    RunId::new(Uuid::now_v7())
}

/// Where a worker's random parts come from. Two claims never get the same, whatever worker they are for.
pub trait Random: Send + Sync {
    /// The next number; all of its low 32 bits are random.
    fn next(&self) -> u128;
}

/// The system's own random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn next(&self) -> u128 {
        Uuid::new_v4().as_u128()
    }
}

/// A new owner for one claim.
pub(super) fn new_owner(random: &dyn Random, name: &WorkerName) -> OwnerId {
    name.owner(random.next())
}

/// A random fraction, at least 0 and below 1.
pub(super) fn random_fraction(random: &dyn Random) -> f64 {
    let bits = u32::try_from(random.next() & u128::from(u32::MAX)).expect("masked to 32 bits");
    f64::from(bits) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_stay_in_range_and_differ() {
        let drawn: Vec<f64> = (0..100).map(|_| random_fraction(&SystemRandom)).collect();
        assert!(drawn.iter().all(|fraction| (0.0..1.0).contains(fraction)));
        assert!(drawn.windows(2).any(|pair| pair[0] < pair[1]));
    }
}
