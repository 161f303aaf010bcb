//! Saves: NO-LATE-SAVE, IN-ORDER, ONE-RECEIPT and ALL-OR-NOTHING by single steps, and what a save
//! that is sent again is told.

use std::time::Duration;

use lease_core::transition::save;
use lease_core::{
    Action, AfterSave, ClaimVerdict, Document, Due, Effect, EffectKind, Effects, Ending, LeaseId, LostReason,
    Save, SaveVerdict,
};

use crate::shown::{check, writes};
use crate::world::{self, World, document, fence, name, owner, phase, ttl};

const HELD: AfterSave = AfterSave::Held { yield_asked: false };

fn conflict(expected: &str, actual: &str) -> SaveVerdict {
    let (expected, actual) = (phase(expected), phase(actual));
    SaveVerdict::Refused(LostReason::PhaseConflict { expected, actual })
}

fn expired(late_by: u64) -> LostReason {
    LostReason::Expired { late_by: Some(Duration::from_secs(late_by)) }
}

/// Case 3: the very first save of a fresh run.
#[test]
fn case_3_all_or_nothing_a_save_writes_phase_mark_expiry_and_receipt_together() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(20);
    let request = world::save(&lease, "submitted", "a", "one");
    check(
        &world.run,
        &save(&world.run, &request, world.now),
        &SaveVerdict::Saved(HELD),
        &["phase = a", "mark = 1 a", "hold = 1 a until +80s", "receipt a by 1 at +20s: {\"note\":\"one\"}"],
    );
}

#[test]
fn all_or_nothing_the_last_save_completes_the_run_and_ends_the_lease_and_the_attempt() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    let _ = world.save(&lease, "a", "b", "two");
    let _ = world.act(&Action::Pause);
    check(
        &world.run,
        &save(&world.run, &world::save(&lease, "b", "c", "three"), world.now),
        &SaveVerdict::Saved(AfterSave::Completed),
        &[
            "phase = c",
            "mark = 1 a",
            "status = completed",
            "paused = false",
            "hold = 1 a ended: completed",
            "receipt c by 1 at +0s: {\"note\":\"three\"}",
            "attempt 1 ends completed: -",
        ],
    );
}

#[test]
fn the_holder_of_a_paused_run_saves_its_phase_and_is_asked_to_yield() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.act(&Action::Pause);
    let yields = AfterSave::Held { yield_asked: true };
    assert_eq!(world.save(&lease, "submitted", "a", "one"), SaveVerdict::Saved(yields.clone()));
    assert!(world.run.paused);
    assert_eq!(world.save(&lease, "submitted", "a", "one"), SaveVerdict::AlreadySaved(yields));
    assert_eq!(world.claim("b"), busy("a"));
}

fn busy(by: &str) -> ClaimVerdict {
    ClaimVerdict::Busy { owner: owner(by), fence: fence(1), remaining: Duration::from_secs(60) }
}

/// Case 1.
#[test]
fn no_late_save_case_1_a_save_is_refused_from_the_very_instant_of_the_expiry() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(59);
    assert_eq!(world.clone().save(&lease, "submitted", "a", "one"), SaveVerdict::Saved(HELD));
    world.pass(1);
    let request = world::save(&lease, "submitted", "a", "one");
    check(&world.run, &save(&world.run, &request, world.now), &SaveVerdict::Refused(expired(0)), &[]);
    world.pass(7);
    assert_eq!(world.save(&lease, "submitted", "a", "one"), SaveVerdict::Refused(expired(7)));
    assert!(world.receipts.is_empty());
}

/// Case 4: the owner's name is the same both times, so only the number can tell.
#[test]
fn no_late_save_case_4_an_older_number_is_refused_whatever_the_owner_is_called() {
    let mut world = World::new();
    let old = world.granted("same");
    world.pass(60);
    let new = world.granted("same");
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("same") };
    assert_eq!(world.save(&old, "submitted", "a", "old"), SaveVerdict::Refused(superseded));
    assert_eq!(world.save(&new, "submitted", "a", "new"), SaveVerdict::Saved(HELD));
    assert_eq!(world.receipts.len(), 1);
    assert_eq!(world.receipts[0].fence, fence(2));
}

/// The number is the same both times, as in a store restored to yesterday, so only the owner can
/// tell.
#[test]
fn one_holder_a_number_given_out_twice_is_told_apart_by_its_owner() {
    let mut world = World::new();
    let yesterday = world.clone();
    let before = world.granted("a");
    world = yesterday;
    let after = world.granted("b");
    assert_eq!(before.fence, after.fence);
    let superseded = LostReason::Superseded { by_fence: fence(1), by_owner: owner("b") };
    assert_eq!(world.save(&before, "submitted", "a", "x"), SaveVerdict::Refused(superseded));
    assert_eq!(world.save(&after, "submitted", "a", "y"), SaveVerdict::Saved(HELD));
    let superseded = LostReason::Superseded { by_fence: fence(1), by_owner: owner("b") };
    assert_eq!(world.save(&before, "submitted", "a", "y"), SaveVerdict::Refused(superseded));
}

/// Case 16.
#[test]
fn in_order_case_16_skipping_repeating_and_going_back_are_phase_conflicts_that_change_nothing() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    let _ = world.save(&lease, "a", "b", "two");
    let before = world.clone();
    for (from, to) in [("a", "c"), ("a", "b"), ("submitted", "a"), ("b", "a"), ("b", "b"), ("submitted", "c")]
    {
        let verdict = world.save(&lease, from, to, "again");
        let repeats_own_save = to == "b";
        let expected = if repeats_own_save {
            SaveVerdict::Refused(LostReason::ReceiptConflict)
        } else {
            conflict(from, "b")
        };
        assert_eq!(verdict, expected, "{from} to {to}");
    }
    assert_eq!(world.save(&lease, "b", "unknown", "x"), conflict("b", "b"));
    assert_eq!((&world.run, &world.receipts), (&before.run, &before.receipts));
}

/// A phase saved by an earlier claim is not this claim's to save again, with whatever receipt.
#[test]
fn in_order_case_16_repeating_the_phase_of_an_earlier_claim_is_a_phase_conflict() {
    let mut world = World::new();
    let first = world.granted("a");
    let _ = world.save(&first, "submitted", "a", "one");
    let _ = world.release(&first, "a", Due::Now);
    let second = world.granted("a");
    assert_eq!(world.save(&second, "submitted", "a", "one"), conflict("submitted", "a"));
    assert_eq!(world.receipts.len(), 1);
}

/// Case 17.
#[test]
fn one_receipt_case_17_the_same_save_again_is_told_so_and_another_receipt_is_an_error_of_its_own() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    world.pass(30);
    let same = world::save(&lease, "submitted", "a", "one");
    check(&world.run, &save(&world.run, &same, world.now), &SaveVerdict::AlreadySaved(HELD), &[]);
    let other = world::save(&lease, "submitted", "a", "two");
    let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
    check(&world.run, &save(&world.run, &other, world.now), &refused, &[]);
}

/// The digest is taken over effects and phases too, not over the receipt alone.
#[test]
fn case_17_other_effects_are_another_save() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    let effect = |kind: &str| Effect { kind: EffectKind::new(kind).unwrap(), body: Document::default() };
    let with = |effects: Vec<Effect>| {
        let receipt = document(serde_json::json!({"note": "one"}));
        let effects = Effects::new(effects).unwrap();
        Save::new(&lease, phase("submitted"), name("a"), receipt, effects, ttl())
    };
    let verdict = |request: &Save| save(&world.run, request, world.now).verdict;
    assert_eq!(verdict(&with(vec![])), SaveVerdict::AlreadySaved(HELD));
    assert_eq!(verdict(&with(vec![effect("x")])), SaveVerdict::Refused(LostReason::ReceiptConflict));
    let digests = [
        with(vec![]),
        with(vec![effect("x")]),
        with(vec![effect("y")]),
        with(vec![effect("x"), effect("y")]),
        with(vec![effect("y"), effect("x")]),
        Save::new(&lease, phase("a"), name("b"), Document::default(), Effects::none(), ttl()),
        Save::new(&lease, phase("a"), name("c"), Document::default(), Effects::none(), ttl()),
        Save::new(&lease, phase("b"), name("c"), Document::default(), Effects::none(), ttl()),
    ]
    .map(|request| request.digest());
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest), "{index}");
    }
}

/// Case 26: the answer of the last save got lost; its retry comes after completion.
#[test]
fn truth_case_26_the_last_save_sent_again_is_told_that_it_completed_the_run() {
    let mut world = World::new();
    let lease = world.granted("a");
    for (from, to) in [("submitted", "a"), ("a", "b"), ("b", "c")] {
        let _ = world.save(&lease, from, to, to);
    }
    world.pass(3_600);
    let request = world::save(&lease, "b", "c", "c");
    let completed = SaveVerdict::AlreadySaved(AfterSave::Completed);
    check(&world.run, &save(&world.run, &request, world.now), &completed, &[]);
    let other = world::save(&lease, "b", "c", "other");
    let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
    check(&world.run, &save(&world.run, &other, world.now), &refused, &[]);
}

/// The digest decides first: a landed save stays landed, whatever became of the lease.
#[test]
fn truth_a_landed_save_is_told_so_after_the_lease_was_lost_with_the_reason_beside_it() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    let again =
        |world: &World| save(&world.run, &world::save(&lease, "submitted", "a", "one"), world.now).verdict;
    let lost = |why: LostReason| SaveVerdict::AlreadySaved(AfterSave::Lost(why));
    let mut revoked = world.clone();
    let _ = revoked.act(&Action::Revoke { fence: lease.fence });
    assert_eq!(again(&revoked), lost(LostReason::Revoked));
    let mut released = world.clone();
    let _ = released.release(&lease, "a", Due::Now);
    assert_eq!(again(&released), lost(LostReason::Released));
    let mut cancelled = world.clone();
    let _ = cancelled.act(&Action::Cancel);
    assert_eq!(again(&cancelled), lost(LostReason::Finished(Ending::Cancelled)));
    let mut failed = world.clone();
    let _ = failed.fail(&lease, "a");
    assert_eq!(again(&failed), lost(LostReason::Finished(Ending::Failed)));
    world.pass(70);
    assert_eq!(again(&world), lost(expired(10)));
    let _ = world.granted("b");
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("b") };
    assert_eq!(again(&world), lost(superseded));
}

/// A save that lost its race is refused although another claim saved the very same phase with the
/// very same receipt.
#[test]
fn truth_the_same_receipt_saved_by_another_claim_is_not_this_claims_save() {
    let mut world = World::new();
    let old = world.granted("same");
    world.pass(60);
    let new = world.granted("same");
    let _ = world.save(&new, "submitted", "a", "one");
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("same") };
    assert_eq!(world.save(&old, "submitted", "a", "one"), SaveVerdict::Refused(superseded));
}

/// An approval completes a run with a mark of its own; a holder that was turned away before is not
/// told that the completion is its own.
#[test]
fn truth_a_run_completed_by_an_approval_is_not_the_last_holders_completion() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    let _ = world.save(&lease, "a", "b", "two");
    let _ = world.release(&lease, "b", Due::Approval);
    let approve = Action::Approve { phase: name("c"), owner: owner("ops#1") };
    let _ = world.act(&approve);
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("ops#1") };
    assert_eq!(world.save(&lease, "b", "c", "three"), SaveVerdict::Refused(superseded));
    assert_eq!(
        writes(&world.run, &save(&world.run, &world::save(&lease, "b", "c", "3"), world.now)).len(),
        0
    );
}

#[test]
fn a_save_under_a_lease_of_another_run_is_judged_by_number_and_owner() {
    let mut world = World::new();
    let lease = world.granted("a");
    let ahead = LeaseId { fence: fence(9), ..lease };
    let forgotten = LostReason::Forgotten { fence: Some(fence(1)) };
    assert_eq!(world.save(&ahead, "submitted", "a", "one"), SaveVerdict::Refused(forgotten));
}
