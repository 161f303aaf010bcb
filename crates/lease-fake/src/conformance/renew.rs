//! Renewing: what makes a lease last, and what never does.
//!
//! Clauses for NO-LAZARUS, NO-LATE-SAVE and TRUTH.

use lease_core::{
    Action, ClaimVerdict, Due, Ending, FailVerdict, Hold, LeaseId, LostReason, ReleaseVerdict, RenewVerdict,
    SaveVerdict, Standing,
};

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::both;
use super::words::*;

const RENEWED: RenewVerdict = RenewVerdict::Renewed { yield_asked: false };

/// A renewal makes the lease last a TTL from now, whatever it lasted before, and changes nothing
/// else.
pub async fn a_renewal_makes_the_lease_last_a_ttl_from_now(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let before = scene.everything(lease.run).await;
    scene.elapse(seconds(59)).await;
    assert_eq!(scene.renew(&lease).await, RENEWED);
    let view = scene.view(lease.run).await;
    let expires_at = view.now.plus(TTL);
    assert_eq!(view.run.hold, Hold::Held { fence: fence(1), owner: owner("w#1"), expires_at });
    let mut after = scene.everything(lease.run).await;
    after.run.hold = before.run.hold.clone();
    assert_eq!(after, before);
    assert_eq!(judged(scene.store.renew(&lease, ttl_of(seconds(5))).await), RENEWED);
    scene.elapse(seconds(5)).await;
    assert_eq!(scene.renew(&lease).await, RenewVerdict::Refused(expired(seconds(0))), "sooner too");
}

/// NO-LATE-SAVE: a lease can be renewed until its expiry and not at it.
pub async fn no_lazarus_the_expiry_itself_is_too_late(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.elapse(TTL - BLINK).await;
    scene.hold(&lease).await;
    scene.elapse(TTL).await;
    assert_eq!(scene.renew(&lease).await, RenewVerdict::Refused(expired(seconds(0))));
}

/// Case 1. NO-LAZARUS: once a lease has run out, nothing can be done under it, though nobody else
/// has claimed; a new claim gets the next number, and the old handle stays refused.
pub async fn case_1_a_lapsed_lease_is_refused_everything(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.elapse(TTL + seconds(7)).await;
    let before = scene.everything(lease.run).await;
    let why = expired(seconds(7));
    assert_eq!(scene.renew(&lease).await, RenewVerdict::Refused(why.clone()));
    let many = judged(scene.store.renew_many(std::slice::from_ref(&lease), ttl()).await);
    assert_eq!(many, [RenewVerdict::Refused(why.clone())]);
    assert_eq!(scene.save(&lease, "submitted", "a").await, SaveVerdict::Refused(why.clone()));
    let released = scene.release(&lease, "submitted", Due::Now).await;
    assert_eq!(released, ReleaseVerdict::Refused(why.clone()));
    assert_eq!(scene.fail(&lease, "submitted").await, FailVerdict::Refused(why.clone()));
    assert_eq!(scene.standing(&lease).await, Standing::Lost(why));
    assert_eq!(scene.everything(lease.run).await, before);
    let newer = scene.granted(lease.run, "w#1").await;
    assert_eq!(newer.fence, fence(2));
    assert_eq!(scene.renew(&lease).await, RenewVerdict::Refused(superseded(2, "w#1")));
    scene.hold(&newer).await;
}

/// Case 2. NO-LATE-SAVE: the instant that counts is the one at which the row is free, not the one at
/// which the request was sent.
pub async fn case_2_a_renewal_that_waited_past_the_expiry_is_refused(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let Some(mut lock) = scene.lock(lease.run).await else { return };
    let freed = async {
        lock.waited_for_by(1).await;
        scene.elapse(TTL + seconds(1)).await;
        lock.free().await;
    };
    let (renewed, ()) = both(scene.renew(&lease), freed).await;
    assert_eq!(renewed, RenewVerdict::Refused(expired(seconds(1))));
    assert_eq!(scene.standing(&lease).await, Standing::Lost(expired(seconds(1))));
}

/// A renewal that waited for the row and was in time lasts a TTL from when the row was free.
pub async fn a_renewal_that_waited_counts_from_the_lock(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let Some(mut lock) = scene.lock(lease.run).await else { return };
    let freed = async {
        lock.waited_for_by(1).await;
        scene.elapse(seconds(59)).await;
        lock.free().await;
    };
    let (renewed, ()) = both(scene.renew(&lease), freed).await;
    assert_eq!(renewed, RENEWED);
    let view = scene.view(lease.run).await;
    let expires_at = view.now.plus(TTL);
    assert_eq!(view.run.hold, Hold::Held { fence: fence(1), owner: owner("w#1"), expires_at });
}

/// Case 5. TRUTH: a holder that was superseded is told by whom and changes nothing; the newer one
/// can still renew.
pub async fn case_5_a_superseded_holder_is_told_by_whom_and_changes_nothing(harness: &dyn Harness) {
    let (scene, old) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    let new = scene.granted(old.run, "w#2").await;
    let before = scene.everything(old.run).await;
    let why = superseded(2, "w#2");
    assert_eq!(scene.release(&old, "submitted", Due::Now).await, ReleaseVerdict::Refused(why.clone()));
    assert_eq!(scene.renew(&old).await, RenewVerdict::Refused(why.clone()));
    assert_eq!(scene.fail(&old, "submitted").await, FailVerdict::Refused(why.clone()));
    assert_eq!(scene.save(&old, "submitted", "a").await, SaveVerdict::Refused(why.clone()));
    assert_eq!(scene.standing(&old).await, Standing::Lost(why));
    assert_eq!(scene.everything(old.run).await, before);
    scene.hold(&new).await;
}

/// TRUTH: each way to lose a lease has its own reason.
pub async fn truth_a_renewal_is_refused_with_the_actual_reason(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let mut lost: Vec<(LeaseId, LostReason)> = Vec::new();
    let lease = scene.granted(scene.run(1, "released").await, "w#1").await;
    scene.released(&lease, "submitted", later(seconds(1))).await;
    lost.push((lease, LostReason::Released));
    let lease = scene.granted(scene.run(2, "waiting").await, "w#1").await;
    scene.released(&lease, "submitted", Due::Approval).await;
    lost.push((lease, LostReason::Released));
    let lease = scene.granted(scene.run(3, "failed").await, "w#1").await;
    let _ = scene.fail(&lease, "submitted").await;
    lost.push((lease, LostReason::Finished(Ending::Failed)));
    let lease = scene.granted(scene.run(4, "cancelled").await, "w#1").await;
    scene.done(lease.run, &Action::Cancel).await;
    lost.push((lease, LostReason::Finished(Ending::Cancelled)));
    let lease = scene.granted(scene.run(5, "completed").await, "w#1").await;
    scene.complete(&lease).await;
    lost.push((lease, LostReason::Finished(Ending::Completed)));
    let lease = scene.granted(scene.run(6, "revoked").await, "w#1").await;
    scene.done(lease.run, &Action::Revoke { fence: lease.fence }).await;
    lost.push((lease.clone(), LostReason::Revoked));
    lost.push((LeaseId { run: id(99), ..lease.clone() }, LostReason::Gone));
    let ahead = LeaseId { fence: fence(9), ..lease };
    lost.push((ahead, LostReason::Forgotten { fence: Some(fence(1)) }));
    let never = LeaseId { run: scene.run(7, "never").await, owner: owner("w#1"), fence: fence(1) };
    lost.push((never, LostReason::Forgotten { fence: None }));
    for (lease, why) in &lost {
        assert_eq!(scene.renew(lease).await, RenewVerdict::Refused(why.clone()), "{lease:?}");
        assert_eq!(scene.standing(lease).await, Standing::Lost(why.clone()), "{lease:?}");
    }
    let (leases, reasons): (Vec<_>, Vec<_>) = lost.into_iter().unzip();
    let many = judged(scene.store.renew_many(&leases, ttl()).await);
    assert_eq!(many, reasons.into_iter().map(RenewVerdict::Refused).collect::<Vec<_>>());
}

/// A renewal of a paused run goes through and asks the holder to stop before the next phase.
pub async fn a_renewal_of_a_paused_run_asks_to_yield(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.done(lease.run, &Action::Pause).await;
    assert_eq!(scene.renew(&lease).await, RenewVerdict::Renewed { yield_asked: true });
    let many = judged(scene.store.renew_many(std::slice::from_ref(&lease), ttl()).await);
    assert_eq!(many, [RenewVerdict::Renewed { yield_asked: true }]);
    scene.done(lease.run, &Action::Resume).await;
    scene.hold(&lease).await;
}

/// ONE-HOLDER: in one batch every handle is judged by itself and answered in its place: old and new
/// ones of the same run, the same one twice, and none at all.
pub async fn a_batch_of_renewals_judges_each_handle_by_itself(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let old = scene.granted(scene.run(2, "two").await, "w#1").await;
    scene.lapse().await;
    let new = scene.granted(old.run, "w#1").await;
    let one = scene.granted(scene.run(1, "one").await, "w#2").await;
    let nobody = LeaseId { run: id(99), ..one.clone() };
    let thief = LeaseId { owner: owner("w#3"), ..one.clone() };
    scene.elapse(seconds(30)).await;
    let batch = [new.clone(), old, nobody, one.clone(), thief, new.clone(), one.clone()];
    let verdicts = judged(scene.store.renew_many(&batch, ttl()).await);
    let refused = RenewVerdict::Refused;
    let expected = [
        RENEWED,
        refused(superseded(2, "w#1")),
        refused(LostReason::Gone),
        RENEWED,
        refused(superseded(1, "w#2")),
        RENEWED,
        RENEWED,
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(judged(scene.store.renew_many(&[], ttl()).await), []);
    scene.elapse(TTL - BLINK).await;
    scene.hold(&new).await;
    scene.hold(&one).await;
}

/// A batch waits for no row: one that somebody has locked is not judged, and the others are renewed.
pub async fn a_batch_of_renewals_does_not_wait_for_a_locked_row(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let mut leases = Vec::new();
    for number in 1..=3 {
        leases.push(scene.granted(scene.run(number, &format!("run {number}")).await, "w#1").await);
    }
    let Some(lock) = scene.lock(leases[1].run).await else { return };
    scene.elapse(seconds(30)).await;
    let verdicts = judged(scene.store.renew_many(&leases, ttl()).await);
    assert_eq!(verdicts, [RENEWED, RenewVerdict::NotJudged, RENEWED]);
    lock.free().await;
    scene.elapse(seconds(30)).await;
    let busy = scene.claim(leases[0].run, "w#9").await;
    assert!(matches!(busy, ClaimVerdict::Busy { .. }), "{busy:?}");
    let verdict = scene.renew(&leases[1]).await;
    assert_eq!(verdict, RenewVerdict::Refused(expired(seconds(0))), "it ran on as it was");
}
