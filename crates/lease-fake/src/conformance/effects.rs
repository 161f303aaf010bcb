//! Effects: rows of the caller's own, written with the save or not at all.
//!
//! Clauses for ALL-OR-NOTHING.

use lease_core::{AfterSave, Due, Effect, Effects, LostReason, Save, SaveVerdict, Status};

use super::harness::{EffectTrace, Harness};
use super::scene::{Scene, judged};
use super::words::*;

const HELD: AfterSave = AfterSave::Held { yield_asked: false };

fn effects(list: Vec<Effect>) -> Effects {
    Effects::new(list).expect("clauses use few effects")
}

/// A save of `to` whose one effect carries the same note as its receipt.
fn noted(harness: &dyn Harness, lease: &lease_core::LeaseId, from: &str, to: &str, note: &str) -> Save {
    save_with(lease, from, to, note, effects(vec![harness.effect(note)]))
}

fn trace(note: &str, number: u64) -> EffectTrace {
    EffectTrace { note: note.to_owned(), fence: fence(number) }
}

/// ALL-OR-NOTHING: effects land with the save, under its number, each once.
pub async fn all_or_nothing_effects_land_with_their_save(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let two = effects(vec![harness.effect("one"), harness.effect("two")]);
    let save = save_with(&lease, "submitted", "a", "fine", two);
    assert_eq!(judged(scene.store.save(&save).await), SaveVerdict::Saved(HELD));
    assert_eq!(scene.everything(lease.run).await.effects, [trace("one", 1), trace("two", 1)]);
    assert_eq!(scene.receipts(lease.run).await, [("a".to_owned(), 1)]);
}

/// ALL-OR-NOTHING: a save that had landed writes its effects no second time, in time or late.
pub async fn all_or_nothing_a_save_asked_again_writes_no_effect_again(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let save = noted(harness, &lease, "submitted", "a", "once");
    let _ = judged(scene.store.save(&save).await);
    assert_eq!(judged(scene.store.save(&save).await), SaveVerdict::AlreadySaved(HELD));
    scene.lapse().await;
    let again = judged(scene.store.save(&save).await);
    assert_eq!(again, SaveVerdict::AlreadySaved(AfterSave::Lost(expired(seconds(0)))));
    assert_eq!(scene.everything(lease.run).await.effects, [trace("once", 1)]);
}

/// ALL-OR-NOTHING: effects of the last phase land with the run's completion.
pub async fn all_or_nothing_effects_land_with_the_completion(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    for (from, to) in [("submitted", "a"), ("a", "b"), ("b", "c")] {
        let _ = judged(scene.store.save(&noted(harness, &lease, from, to, to)).await);
    }
    let stored = scene.everything(lease.run).await;
    assert_eq!(stored.run.status, Status::Completed);
    assert_eq!(stored.effects, [trace("a", 1), trace("b", 1), trace("c", 1)]);
}

/// ALL-OR-NOTHING: an effect that the store refuses is the step's failure, not a lost lease:
/// nothing of the save lands, no other effect either, and the lease is held as before. The step can
/// save something else.
pub async fn all_or_nothing_a_refused_effect_leaves_nothing_and_the_lease_held(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.elapse(seconds(10)).await;
    let before = scene.everything(lease.run).await;
    let fine = harness.effect("fine");
    for list in [
        vec![harness.refused_effect()],
        vec![fine.clone(), harness.refused_effect()],
        vec![harness.refused_effect(), fine.clone()],
    ] {
        let save = save_with(&lease, "a", "b", "note", effects(list));
        let verdict = judged(scene.store.save(&save).await);
        let SaveVerdict::EffectRefused { message } = verdict else { panic!("{verdict:?}") };
        assert!(!message.is_empty());
        assert_eq!(scene.everything(lease.run).await, before);
    }
    scene.hold(&lease).await;
    let save = save_with(&lease, "a", "b", "note", effects(vec![fine]));
    assert_eq!(judged(scene.store.save(&save).await), SaveVerdict::Saved(HELD));
    assert_eq!(scene.everything(lease.run).await.effects, [trace("fine", 1)]);
}

/// ALL-OR-NOTHING: a refused effect of the last phase does not complete the run.
pub async fn all_or_nothing_a_refused_effect_does_not_complete_the_run(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.saved(&lease, "a", "b").await;
    let before = scene.everything(lease.run).await;
    let last = save_with(&lease, "b", "c", "last", effects(vec![harness.refused_effect()]));
    let verdict = judged(scene.store.save(&last).await);
    assert!(matches!(verdict, SaveVerdict::EffectRefused { .. }), "{verdict:?}");
    assert_eq!(scene.everything(lease.run).await, before);
    scene.saved(&lease, "b", "c").await;
}

/// ALL-OR-NOTHING, TRUTH: a save that is refused writes no effect, for whatever reason it is
/// refused. The reason is the lease's also where an effect would have been refused too: effects are
/// written after the run's row.
pub async fn all_or_nothing_a_refused_save_writes_no_effect(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let run = lease.run;
    let refused = async |save: &Save, why: LostReason| {
        assert_eq!(judged(scene.store.save(save).await), SaveVerdict::Refused(why));
    };
    let skips = noted(harness, &lease, "a", "b", "skips");
    refused(&skips, conflict("a", "submitted")).await;
    scene.lapse().await;
    let mine = noted(harness, &lease, "submitted", "a", "late");
    let bad = save_with(&lease, "submitted", "a", "late", effects(vec![harness.refused_effect()]));
    refused(&mine, expired(seconds(0))).await;
    refused(&bad, expired(seconds(0))).await;
    let newer = scene.granted(run, "w#2").await;
    refused(&mine, superseded(2, "w#2")).await;
    refused(&bad, superseded(2, "w#2")).await;
    scene.released(&newer, "submitted", Due::Now).await;
    let own = noted(harness, &newer, "submitted", "a", "released");
    refused(&own, LostReason::Released).await;
    let nowhere = lease_core::LeaseId { run: id(99), ..newer };
    refused(&noted(harness, &nowhere, "submitted", "a", "gone"), LostReason::Gone).await;
    let stored = scene.everything(run).await;
    assert_eq!((stored.effects, stored.receipts), (vec![], vec![]));
}

/// ONE-RECEIPT: a save of this phase with other effects is an error of its own, and writes none.
pub async fn one_receipt_a_conflicting_save_writes_no_effect(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let _ = judged(scene.store.save(&noted(harness, &lease, "submitted", "a", "first")).await);
    let other = save_with(&lease, "submitted", "a", "first", effects(vec![harness.effect("second")]));
    let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
    assert_eq!(judged(scene.store.save(&other).await), refused);
    assert_eq!(scene.everything(lease.run).await.effects, [trace("first", 1)]);
}
