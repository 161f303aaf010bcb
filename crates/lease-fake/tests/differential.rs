//! The random histories themselves: they find nothing where there is nothing to find, and a store that
//! breaks a rule is told of with a short history.

mod support;

use lease_fake::differential::{Dose, Search};
use support::FakeHarness;
use support::levers::Flaw;

/// What histories on a store with this flaw find.
async fn difference(flaw: Flaw) -> Option<String> {
    let search = Search::new(Dose { histories: 200, seed: 1, steps: 40 });
    search.lane(&FakeHarness::with(flaw)).await;
    search.difference()
}

/// Steps are told with two spaces before them, answers with four.
fn steps(told: &str) -> usize {
    told.lines().filter(|line| line.starts_with("  ") && !line.starts_with("    ")).count()
}

#[tokio::test]
async fn histories_find_nothing_in_a_store_that_keeps_the_rules() {
    assert_eq!(difference(Flaw::None).await, None);
}

/// A run, a claim of it, and the save.
#[tokio::test]
async fn an_effect_that_should_be_refused_is_told_of_in_three_steps() {
    let told = difference(Flaw::EffectsOfEveryKind).await.expect("a difference");
    assert!(told.contains("by the rules Save(EffectRefused"), "{told}");
    assert_eq!(steps(&told), 3, "{told}");
}

/// A run, and something that waits past an instant that counts.
#[tokio::test]
async fn a_clock_read_before_the_lock_is_told_of_in_three_steps_at_the_most() {
    let told = difference(Flaw::ClockBeforeTheLock).await.expect("a difference");
    assert!(told.contains("no order of them explains"), "{told}");
    assert!(steps(&told) <= 3, "{told}");
}

/// A run, and something that should have waited.
#[tokio::test]
async fn a_lock_that_nobody_waits_for_is_told_of_in_two_steps() {
    let told = difference(Flaw::NoLock).await.expect("a difference");
    assert!(told.contains("did not wait, and by the rules it has to"), "{told}");
    assert_eq!(steps(&told), 2, "{told}");
}
