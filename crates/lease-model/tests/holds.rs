//! Everything in place: every invariant holds in the whole of each space, and every answer is given in one
//! of them. `cargo run --release -p lease-model --example explore` explores larger ones.

use std::collections::BTreeSet;

use lease_model::{Answer, LeaseModel, Restored, Setting, story};
use stateright::{Checker, Model};

const TINY: Setting = Setting { claims: 2, in_flight: 1, ticks: 3, late_answers: false, ..Setting::SMALL };

/// Explores the whole space; the kinds of answers that were given in it.
fn holds(what: &str, setting: Setting) -> BTreeSet<&'static str> {
    explored(what, setting).model().reached().into_iter().collect()
}

/// Explores the whole space, in which everything has to hold.
fn explored(what: &str, setting: Setting) -> impl Checker<LeaseModel> {
    let checker = LeaseModel::new(setting).checker().threads(2).spawn_bfs().join();
    assert!(checker.is_done(), "the space was not explored to its end");
    println!("{what}: {} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
    if let Some((law, path)) = checker.discoveries().into_iter().next() {
        panic!("{law} is broken:\n{}", story(path));
    }
    checker
}

/// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME, TRUTH,
/// BLOCKED-NOT-FAILED, SELF-STOP, LIVENESS.
#[test]
fn every_invariant_holds_and_every_answer_is_given() {
    let mut given = holds("two workers, crashes, an operator", TINY);
    given.extend(holds(
        "two workers, two messages under way, late answers",
        Setting { in_flight: 2, ticks: 2, late_answers: true, plain: true, ..TINY },
    ));
    given.extend(holds(
        "one worker that keeps losing its lease",
        Setting { workers: 1, claims: 3, ticks: 6, plain: true, ..TINY },
    ));
    given.extend(holds("one owner for every claim", Setting { one_owner: true, plain: true, ..TINY }));
    given.extend(holds(
        "a store that is set back",
        Setting { restored: Restored::Whole, plain: true, ticks: 1, ..TINY },
    ));
    let missing: Vec<_> = Answer::KINDS.iter().filter(|kind| !given.contains(*kind)).collect();
    assert!(missing.is_empty(), "never given: {missing:?}");
}

/// LIVENESS: a run that is free is claimed within a tick, and one tick after another without trouble
/// completes it, as the model's `pace` says.
#[test]
fn liveness_workers_that_keep_up_claim_and_complete_the_run_in_time() {
    let checker = explored("two workers that keep up, two troubles", Setting::PACED);
    assert!(checker.model().came_to_the_limits(), "the limits are longer than it ever takes");
}

/// ONE-RECEIPT, where the receipts are younger than the rest of the tables.
#[test]
fn one_receipt_holds_in_a_store_whose_tables_do_not_fit() {
    holds(
        "a store set back but for its receipts",
        Setting { restored: Restored::ButReceipts, plain: true, ticks: 1, ..TINY },
    );
}
