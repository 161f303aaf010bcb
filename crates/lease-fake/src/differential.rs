//! A store against the rules: random histories, step for step on the store under test and on the fake
//! store, whose only rules are `lease_core::transition`. After every step the answers and everything
//! kept of every run have to be the same; at a share of the steps and at the end the store's own reads
//! are compared, too. Where requests were under way at the same time, some order of them has to explain
//! what came of them.
//!
//! A history is made from its seed alone, on every machine: where requests are sent together, from the
//! order in which the store judged them, too.

mod dice;
mod draw;
mod kept;
mod levers;
mod pair;
mod request;
mod search;
mod step;
mod together;

pub use levers::{Grip, HeldUp, Levers, Writes};
pub use search::{Dose, Search};

use lease_core::Plan;

use crate::conformance::words::plan_of;

/// How many runs a history has at the most.
const RUNS: u128 = 5;

/// Sends one random history to the store under test and to the fake, and compares them after each of
/// its steps.
///
/// # Panics
/// Where they differ, with the shortest history found.
pub async fn compare(levers: &dyn Levers, seed: u64, steps: usize) {
    let search = Search::new(Dose { histories: 1, seed, steps });
    search.lane(levers).await;
    search.end();
}

/// Plans of one version: another meaning is another content under the same name.
fn plan_like(plan: &str, meaning: &str) -> Plan {
    plan_of(plan, 1, meaning)
}
