//! The store against the rules it keeps: random histories, step for step here and on the fake store.
//!
//! `cargo xtask prove` sends more of them. A failure names its seed; `LEASE_SEED=… cargo test` runs that one.

mod support;

use std::rc::Rc;
use std::time::Instant;

use lease_fake::conformance::Harness;
use lease_fake::differential::{Dose, compare_many};
use support::harness::PostgresHarness;

/// A harness that several histories use in turn.
struct Lent(Rc<PostgresHarness>);

impl AsRef<dyn Harness> for Lent {
    fn as_ref(&self) -> &(dyn Harness + 'static) {
        &*self.0
    }
}

/// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME,
/// TRUTH and BLOCKED-NOT-FAILED, as far as lease-core's rules keep them.
#[tokio::test]
async fn random_histories_are_the_same_here_and_by_the_rules() {
    let dose = Dose { histories: 8, seed: 1, steps: 150 }.or_from_environment();
    // One database for all of them: making one takes longer than a history.
    let harness = Rc::new(PostgresHarness::open().await);
    let fresh = async || {
        harness.clear().await;
        Lent(Rc::clone(&harness))
    };
    let began = Instant::now();
    compare_many(fresh, dose).await;
    let seconds = began.elapsed().as_secs_f64();
    let Dose { histories, seed, steps } = dose;
    println!("{histories} histories of {steps} steps from seed {seed} on, no difference, in {seconds:.1} s");
}
