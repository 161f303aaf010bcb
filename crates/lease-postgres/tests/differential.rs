//! The store against the rules it keeps: random histories, step for step here and on the fake store.
//!
//! `cargo xtask prove` sends more of them. A failure names its seed; `LEASE_SEED=… cargo test` runs that one.

mod support;

use std::time::Instant;

use lease_fake::differential::{Dose, Search};
use support::harness::PostgresHarness;
use tokio::runtime::Builder;

/// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME,
/// TRUTH and BLOCKED-NOT-FAILED, as far as lease-core's rules keep them.
#[test]
fn random_histories_are_the_same_here_and_by_the_rules() {
    let dose = Dose { histories: 8, seed: 1, steps: 150 }.or_from_environment();
    let Dose { histories, seed, steps } = dose;
    let search = Search::new(dose);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..dose.lanes() {
            scope.spawn(|| {
                let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(async { search.lane(&PostgresHarness::open().await).await });
            });
        }
    });
    search.end();
    let seconds = began.elapsed().as_secs_f64();
    // Counts stay far below 2^32.
    let rate = f64::from(u32::try_from(histories).unwrap_or(u32::MAX)) / seconds;
    println!("{histories} histories of {steps} steps from seed {seed} on, no difference: {rate:.1} a second");
}
