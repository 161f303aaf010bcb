//! The store against the rules it keeps: random histories, step for step here and on the fake store.
//!
//! A failure names its seed; `LEASE_SEED=… cargo test` runs that one.

mod support;

use lease_fake::differential::compare;
use support::harness::PostgresHarness;

const HISTORIES: u64 = 8;
const STEPS: usize = 150;

/// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME,
/// TRUTH and BLOCKED-NOT-FAILED, as far as lease-core's rules keep them.
#[tokio::test]
async fn random_histories_are_the_same_here_and_by_the_rules() {
    let history = async |seed| compare(&PostgresHarness::open().await, seed, STEPS).await;
    if let Ok(seed) = std::env::var("LEASE_SEED") {
        return history(seed.parse().expect("LEASE_SEED is a number")).await;
    }
    for seed in 1..=HISTORIES {
        println!("LEASE_SEED={seed}");
        history(seed).await;
    }
}
