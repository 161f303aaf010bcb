//! Random parts: run ids, owners, and the jitter of retries.

use lease_core::{OwnerId, RunId, WorkerName};
use uuid::Uuid;

/// A new run id (UUID version 7, so that ids sort by when they were made).
#[must_use]
pub fn new_run_id() -> RunId {
    RunId::new(Uuid::now_v7())
}

/// A new owner for one claim.
pub(super) fn new_owner(name: &WorkerName) -> OwnerId {
    name.owner(Uuid::new_v4().as_u128())
}

/// A random fraction, at least 0 and below 1.
pub(super) fn random_fraction() -> f64 {
    let (_, low) = Uuid::new_v4().as_u64_pair();
    // The low 32 bits of a version 4 UUID are all random.
    let bits = u32::try_from(low & u64::from(u32::MAX)).expect("masked to 32 bits");
    f64::from(bits) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_stay_in_range_and_differ() {
        let drawn: Vec<f64> = (0..100).map(|_| random_fraction()).collect();
        assert!(drawn.iter().all(|fraction| (0.0..1.0).contains(fraction)));
        assert!(drawn.windows(2).any(|pair| pair[0] < pair[1]));
    }
}
