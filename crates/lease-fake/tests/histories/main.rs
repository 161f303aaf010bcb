//! Random histories of two to four workers on the fake store: clocks that disagree by hours and run
//! at different speeds, stalls, crashes, faults on the way there and back, locked rows, operators,
//! requests sent twice, and leases used by those who have no right to them any more.
//!
//! After every step each answer and every table is held against the invariants of the protocol, by
//! name ([`invariants`]), with a bookkeeping that does not use the rules ([`ledger`]). The same input
//! always gives the same history.

mod invariants;
mod ledger;
mod reach;
mod steps;
mod witness;
mod worker;
mod world;

use proptest::prelude::*;

use steps::{Step, step};
use world::World;

/// Reading in hours and speed in percent of each worker's clock. The margin of the lease covers a
/// tenth.
fn skews() -> impl Strategy<Value = Vec<(u16, u32)>> {
    prop::collection::vec((0..20_u16, 95..=105_u32), 2..=4)
}

fn live_through(seed: u64, skews: &[(u16, u32)], steps: &[Step], clock_moves_on: bool) {
    let mut world = World::new(seed, skews, clock_moves_on);
    for step in steps {
        world.take(step);
    }
    if clock_moves_on {
        world.liveness_in_the_calm();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME,
    /// TRUTH, BLOCKED-NOT-FAILED, SELF-STOP, LIVENESS.
    #[test]
    fn every_invariant_holds_after_every_step_of_any_history(
        seed in any::<u64>(),
        skews in skews(),
        steps in prop::collection::vec(step(false), 1..60),
    ) {
        live_through(seed, &skews, &steps, true);
    }

    /// What does not depend on time holds also while the store's clock is set back and forward.
    #[test]
    fn what_does_not_depend_on_time_holds_when_the_stores_clock_is_set(
        seed in any::<u64>(),
        skews in skews(),
        steps in prop::collection::vec(step(true), 1..60),
    ) {
        live_through(seed, &skews, &steps, false);
    }
}
