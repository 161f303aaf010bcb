//! The story that the lease is for, told at the store: a worker that comes back too late.

use lease_core::{
    AfterSave, AttemptOutcome, BlockedVerdict, Effects, LeaseId, Loss, Refused, RenewVerdict, Save,
    SaveVerdict, Status,
};

use super::harness::{EffectTrace, Harness};
use super::scene::{Scene, judged};
use super::words::*;

fn save_by(harness: &dyn Harness, lease: &LeaseId, note: &str) -> Save {
    let effects = Effects::new(vec![harness.effect(note)]).expect("one effect");
    save_with(lease, "submitted", "a", note, effects)
}

/// A claims with a lease of a blink and stalls; the lease runs out; B claims, one number higher; A
/// comes back and its save with effects is refused with the reason; B's goes through; there is one
/// receipt, B's, and no row of A's in any table. A reports blocked, and the run goes on to its end.
///
/// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, ONE-RECEIPT, ALL-OR-NOTHING, TRUTH, BLOCKED-NOT-FAILED.
pub async fn a_late_save_is_turned_away_and_leaves_no_trace(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let mut blink = claim(run, "a#1");
    blink.ttl = ttl_of(BLINK);
    let lease_core::ClaimVerdict::Granted(grant) = judged(scene.store.claim(&blink).await) else {
        panic!("nobody has it")
    };
    let late = grant.lease;
    scene.elapse(seconds(1)).await;
    let holder = scene.granted(run, "b#1").await;
    assert_eq!(holder.fence, late.fence.next().expect("numbers go on"));

    let before = scene.everything(run).await;
    let why = superseded(holder.fence.get(), "b#1");
    let refused = judged(scene.store.save(&save_by(harness, &late, "late")).await);
    assert_eq!(refused, SaveVerdict::Refused(why.clone()));
    assert_eq!(scene.everything(run).await, before);

    let saved = judged(scene.store.save(&save_by(harness, &holder, "mine")).await);
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
    let refused = judged(scene.store.save(&save_by(harness, &late, "late")).await);
    assert_eq!(refused, SaveVerdict::Refused(why.clone()));
    assert_eq!(scene.renew(&late).await, RenewVerdict::Refused(why.clone()));
    let loss = Loss::before_save(Refused::Save, name("a"), why).to_document();
    assert_eq!(judged(scene.store.mark_blocked(&late, &loss).await), BlockedVerdict::Recorded);

    scene.saved(&holder, "a", "b").await;
    scene.saved(&holder, "b", "c").await;
    let stored = scene.everything(run).await;
    assert_eq!(stored.run.status, Status::Completed);
    let receipts = [("a".to_owned(), 2), ("b".to_owned(), 2), ("c".to_owned(), 2)];
    assert_eq!(scene.receipts(run).await, receipts);
    assert_eq!(stored.receipts[0].body, receipt("mine"));
    assert_eq!(stored.effects, [EffectTrace { note: "mine".to_owned(), fence: holder.fence }]);
    assert_eq!(stored.attempts[0].reason, Some(loss));
    let outcomes = [(1, Some(AttemptOutcome::Blocked)), (2, Some(AttemptOutcome::Completed))];
    assert_eq!(scene.outcomes(run).await, outcomes);
}

/// A worker dies between phases and within one, twice; each next one goes on after the last receipt,
/// and no phase that had its receipt is done again.
///
/// RESUME, IN-ORDER, ONE-RECEIPT.
pub async fn workers_die_and_the_next_goes_on_after_the_last_receipt(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let first = scene.granted(run, "a#1").await;
    scene.saved(&first, "submitted", "a").await;
    scene.lapse().await;
    let second = scene.grant(run, "b#1").await;
    assert_eq!(second.job.next_phase(), Some(&name("b")));
    scene.hold(&second.lease).await;
    scene.lapse().await;
    let third = scene.grant(run, "c#1").await;
    assert_eq!(third.job.next_phase(), Some(&name("b")));
    assert_eq!(scene.receipts(run).await, [("a".to_owned(), 1)]);
    scene.saved(&third.lease, "a", "b").await;
    scene.saved(&third.lease, "b", "c").await;
    let receipts = [("a".to_owned(), 1), ("b".to_owned(), 3), ("c".to_owned(), 3)];
    assert_eq!(scene.receipts(run).await, receipts);
    let outcomes = [
        (1, Some(AttemptOutcome::Superseded)),
        (2, Some(AttemptOutcome::Superseded)),
        (3, Some(AttemptOutcome::Completed)),
    ];
    assert_eq!(scene.outcomes(run).await, outcomes);
}
