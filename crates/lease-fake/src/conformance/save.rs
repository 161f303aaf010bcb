//! Saving a phase: in order, once, in time, and told again as it was.
//!
//! Clauses for IN-ORDER, ONE-RECEIPT, NO-LATE-SAVE, ALL-OR-NOTHING and TRUTH.

use lease_core::{
    Action, AfterSave, Attempt, AttemptOutcome, Due, Effects, Ending, Hold, LeaseEnd, LostReason, Receipt,
    RenewVerdict, Save, SaveVerdict, Status,
};
use serde_json::json;

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::both;
use super::words::*;

const HELD: AfterSave = AfterSave::Held { yield_asked: false };

/// Case 3. The very first save of a fresh run: the start phase is a value.
pub async fn case_3_the_first_save_of_a_fresh_run_lands(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.elapse(seconds(1)).await;
    assert_eq!(scene.save(&lease, "submitted", "a").await, SaveVerdict::Saved(HELD));
    let view = scene.view(lease.run).await;
    assert_eq!((view.run.phase, view.run.status), (phase("a"), Status::Open));
    let saved = Receipt { phase: name("a"), fence: fence(1), body: receipt("fine"), saved_at: view.now };
    assert_eq!(judged(scene.store.receipts(lease.run).await), [saved]);
}

/// A save makes the lease last a TTL from now, like a renewal.
pub async fn a_save_makes_the_lease_last_a_ttl_from_now(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.elapse(TTL - BLINK).await;
    scene.saved(&lease, "submitted", "a").await;
    scene.elapse(TTL - BLINK).await;
    scene.saved(&lease, "a", "b").await;
    let view = scene.view(lease.run).await;
    let expires_at = view.now.plus(TTL);
    assert_eq!(view.run.hold, Hold::Held { fence: fence(1), owner: owner("w#1"), expires_at });
}

/// The last save completes the run and ends the lease in one go.
pub async fn all_or_nothing_the_last_save_completes_the_run_and_ends_the_lease(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.saved(&lease, "a", "b").await;
    scene.done(lease.run, &Action::Pause).await;
    assert_eq!(scene.save(&lease, "b", "c").await, SaveVerdict::Saved(AfterSave::Completed));
    let view = scene.view(lease.run).await;
    assert_eq!((view.run.status, view.run.phase, view.run.paused), (Status::Completed, phase("c"), false));
    let how = LeaseEnd::Completed;
    assert_eq!(view.run.hold, Hold::Ended { fence: fence(1), owner: owner("w#1"), how });
    let attempt = Attempt {
        end: Some((AttemptOutcome::Completed, view.now)),
        ..Attempt::open(fence(1), owner("w#1"), view.now, phase("submitted"))
    };
    assert_eq!(judged(scene.store.attempts(lease.run).await), [attempt]);
    assert_eq!(view.last_outcome, Some(AttemptOutcome::Completed));
    let refused = RenewVerdict::Refused(LostReason::Finished(Ending::Completed));
    assert_eq!(scene.renew(&lease).await, refused);
}

/// Case 16. IN-ORDER: a save that skips a phase, repeats one, goes back, or names a phase of no plan
/// is a phase conflict, and changes nothing.
pub async fn case_16_a_save_out_of_order_is_a_phase_conflict(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let refused = |expected, actual| SaveVerdict::Refused(conflict(expected, actual));
    assert_eq!(scene.save(&lease, "submitted", "b").await, refused("submitted", "submitted"), "skips");
    assert_eq!(scene.save(&lease, "a", "b").await, refused("a", "submitted"), "ahead");
    scene.saved(&lease, "submitted", "a").await;
    scene.saved(&lease, "a", "b").await;
    let before = scene.everything(lease.run).await;
    scene.elapse(BLINK).await;
    assert_eq!(scene.save(&lease, "submitted", "a").await, refused("submitted", "b"), "goes back");
    assert_eq!(scene.save(&lease, "b", "a").await, refused("b", "b"), "backwards");
    assert_eq!(scene.save(&lease, "a", "c").await, refused("a", "b"), "wrong start");
    assert_eq!(scene.save(&lease, "b", "other").await, refused("b", "b"), "no such phase");
    assert_eq!(scene.everything(lease.run).await, before);
    scene.saved(&lease, "b", "c").await;
}

/// Case 17. ONE-RECEIPT, TRUTH: the same save again is "saved" and changes nothing; the same phase
/// again with another receipt or other effects is an error of its own, and the first receipt stands.
pub async fn case_17_the_same_save_again_is_saved_and_another_one_is_an_error(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let first = save(&lease, "submitted", "a", "first");
    assert_eq!(judged(scene.store.save(&first).await), SaveVerdict::Saved(HELD));
    let before = scene.everything(lease.run).await;
    scene.elapse(seconds(1)).await;
    assert_eq!(judged(scene.store.save(&first).await), SaveVerdict::AlreadySaved(HELD));
    let effects = Effects::new(vec![harness.effect("late")]).expect("one effect");
    let others = [
        save(&lease, "submitted", "a", "other"),
        save_with(&lease, "submitted", "a", "first", effects),
        save(&lease, "a", "a", "first"),
    ];
    for other in &others {
        let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
        assert_eq!(judged(scene.store.save(other).await), refused);
    }
    assert_eq!(scene.everything(lease.run).await, before, "an answer given again extends nothing");
    scene.saved(&lease, "a", "b").await;
}

/// Case 26. TRUTH: the last save, asked again after it completed the run, is "saved, completed".
pub async fn case_26_the_last_save_asked_again_is_saved_and_completed(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.saved(&lease, "a", "b").await;
    let last = save(&lease, "b", "c", "last");
    assert_eq!(judged(scene.store.save(&last).await), SaveVerdict::Saved(AfterSave::Completed));
    scene.elapse(seconds(3_600)).await;
    let before = scene.everything(lease.run).await;
    assert_eq!(judged(scene.store.save(&last).await), SaveVerdict::AlreadySaved(AfterSave::Completed));
    let other = save(&lease, "b", "c", "other");
    let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
    assert_eq!(judged(scene.store.save(&other).await), refused);
    assert_eq!(scene.everything(lease.run).await, before);
}

/// Case 26. A save that queues behind itself: one of the two says "saved", the other "already saved".
pub async fn case_26_a_save_sent_twice_at_once_lands_once(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.saved(&lease, "a", "b").await;
    let effects = Effects::new(vec![harness.effect("once")]).expect("one effect");
    let last = save_with(&lease, "b", "c", "last", effects);
    let (one, other) = both(scene.store.save(&last), scene.store.save(&last)).await;
    let mut verdicts = [judged(one), judged(other)];
    verdicts.sort_by_key(|verdict| matches!(verdict, SaveVerdict::AlreadySaved(_)));
    let completed = AfterSave::Completed;
    assert_eq!(verdicts, [SaveVerdict::Saved(completed.clone()), SaveVerdict::AlreadySaved(completed)]);
    assert_eq!(scene.receipts(lease.run).await.len(), 3);
    assert_eq!(harness.effect_rows(lease.run).await.len(), 1);
}

/// TRUTH: the digest decides before any other verdict: a save that landed is "saved" even after the
/// lease was lost, with the loss beside it.
pub async fn truth_a_landed_save_is_saved_whatever_became_of_the_lease(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let landed = save(&lease, "submitted", "a", "mine");
    let _ = judged(scene.store.save(&landed).await);
    let again = |why| SaveVerdict::AlreadySaved(AfterSave::Lost(why));
    scene.elapse(TTL + seconds(2)).await;
    assert_eq!(judged(scene.store.save(&landed).await), again(expired(seconds(2))));
    let newer = scene.granted(lease.run, "w#2").await;
    assert_eq!(judged(scene.store.save(&landed).await), again(superseded(2, "w#2")));
    let other = save(&lease, "submitted", "a", "other");
    let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
    assert_eq!(judged(scene.store.save(&other).await), refused);
    scene.released(&newer, "a", Due::Now).await;
    assert_eq!(judged(scene.store.save(&landed).await), again(superseded(2, "w#2")));
    scene.done(lease.run, &Action::Cancel).await;
    assert_eq!(judged(scene.store.save(&landed).await), again(superseded(2, "w#2")));
    assert_eq!(scene.receipts(lease.run).await, [("a".to_owned(), 1)]);
}

/// TRUTH: a save asked again after its own holder ended the lease is "saved" with that end beside it.
pub async fn truth_a_landed_save_names_the_end_of_its_own_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let again = |why| SaveVerdict::AlreadySaved(AfterSave::Lost(why));
    for (number, text) in [(1, "released"), (2, "failed"), (3, "revoked"), (4, "cancelled")] {
        let lease = scene.granted(scene.run(number, text).await, "w#1").await;
        let landed = save(&lease, "submitted", "a", "mine");
        let _ = judged(scene.store.save(&landed).await);
        let why = match number {
            1 => {
                scene.released(&lease, "a", Due::Approval).await;
                LostReason::Released
            }
            2 => {
                let _ = scene.fail(&lease, "a").await;
                LostReason::Finished(Ending::Failed)
            }
            3 => {
                scene.done(lease.run, &Action::Revoke { fence: lease.fence }).await;
                LostReason::Revoked
            }
            _ => {
                scene.done(lease.run, &Action::Cancel).await;
                LostReason::Finished(Ending::Cancelled)
            }
        };
        assert_eq!(judged(scene.store.save(&landed).await), again(why), "{text}");
    }
}

/// A save on a paused run lands and asks the holder to stop before the next phase.
pub async fn a_save_of_a_paused_run_lands_and_asks_to_yield(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.done(lease.run, &Action::Pause).await;
    let asked = AfterSave::Held { yield_asked: true };
    let paused = save(&lease, "submitted", "a", "fine");
    assert_eq!(judged(scene.store.save(&paused).await), SaveVerdict::Saved(asked.clone()));
    assert_eq!(judged(scene.store.save(&paused).await), SaveVerdict::AlreadySaved(asked));
    assert!(scene.view(lease.run).await.run.paused);
}

/// Case 2. NO-LATE-SAVE: a save that waited for the row past its lease's expiry is refused, though
/// it was sent in time, and one that waited and is still in time lands.
pub async fn case_2_a_save_that_waited_past_the_expiry_is_refused(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    for (waits, lands) in [(TTL - BLINK, true), (TTL, false)] {
        let stands = scene.view(lease.run).await.run.phase;
        let to = if lands { "a" } else { "b" };
        let Some(mut lock) = scene.lock(lease.run).await else { return };
        let freed = async {
            lock.waited_for_by(1).await;
            scene.elapse(waits).await;
            lock.free().await;
        };
        let (verdict, ()) = both(scene.save(&lease, stands.as_str(), to), freed).await;
        let expected =
            if lands { SaveVerdict::Saved(HELD) } else { SaveVerdict::Refused(expired(seconds(0))) };
        assert_eq!(verdict, expected);
    }
    assert_eq!(scene.receipts(lease.run).await, [("a".to_owned(), 1)]);
}

/// Case 25. ONE-RECEIPT: what a step returned is kept exactly: numbers past 2^53, nested and
/// accented text.
pub async fn case_25_a_receipt_is_kept_exactly(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let body = document(json!({
        "big": 9_007_199_254_740_993_u64,
        "text": "é e\u{301} \" \\ \n",
        "list": [[], {}, [null, true, -1]],
        "": "empty name",
    }));
    let save = Save::new(&lease, phase("submitted"), name("a"), body.clone(), Effects::none(), ttl());
    let _ = judged(scene.store.save(&save).await);
    let receipts = judged(scene.store.receipts(lease.run).await);
    assert_eq!(receipts[0].body, body);
    assert_eq!(receipts[0].body.to_json(), body.to_json());
}

/// ONE-RECEIPT: numbers do not fall along the phases, whoever saves them.
pub async fn one_receipt_per_phase_with_the_number_that_saved_it(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.lapse().await;
    let second = scene.granted(lease.run, "w#2").await;
    scene.saved(&second, "a", "b").await;
    scene.released(&second, "b", Due::Now).await;
    let third = scene.granted(lease.run, "w#3").await;
    scene.saved(&third, "b", "c").await;
    let expected = [("a".to_owned(), 1), ("b".to_owned(), 2), ("c".to_owned(), 3)];
    assert_eq!(scene.receipts(lease.run).await, expected);
}
