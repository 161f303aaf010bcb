//! One guard at a time: situations in which a single guard stands between a stale holder and the run.
//!
//! Usually several guards would refuse the same request, and a store that had lost one of them would
//! still pass. Each clause here takes the others away.

use lease_core::{
    Action, BlockedVerdict, Due, FailVerdict, LeaseId, LostReason, ReleaseVerdict, RenewVerdict, SaveVerdict,
    Standing,
};

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::words::*;

/// Case 4. NO-LATE-SAVE: the number alone stands, because the owner's name is used twice and the
/// lease of that name is live.
pub async fn case_4_only_the_number_tells_two_claims_of_one_owner_apart(harness: &dyn Harness) {
    let (scene, old) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    let new = scene.granted(old.run, "w#1").await;
    assert_eq!((&new.owner, new.fence), (&old.owner, fence(2)));
    refused_everything(&scene, &old, &superseded(2, "w#1")).await;
    scene.hold(&new).await;
}

/// ONE-HOLDER: the owner alone stands, because the store was restored to a time before the first
/// claim and gave the number out a second time.
pub async fn one_holder_only_the_owner_tells_two_claims_of_one_number_apart(harness: &dyn Harness) {
    let (scene, old) = Scene::with_lease(harness, "w#1").await;
    harness.set_fence(old.run, None).await;
    let new = scene.granted(old.run, "w#2").await;
    assert_eq!(new.fence, old.fence);
    refused_everything(&scene, &old, &superseded(1, "w#2")).await;
    assert_eq!(judged(scene.store.mark_blocked(&old, &blocked()).await), BlockedVerdict::Gone);
    scene.hold(&new).await;
}

/// NO-LATE-SAVE: the expiry alone stands, because nobody else has claimed and number and owner fit.
pub async fn no_late_save_only_the_expiry_stands_while_nobody_else_claims(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    refused_everything(&scene, &lease, &expired(seconds(0))).await;
}

/// TRUTH: a holder whose claim a restored store has forgotten is refused, though its number is higher
/// than the store's own, and is told so. The next claims pass it by.
pub async fn truth_a_claim_that_a_restored_store_has_forgotten_is_refused(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let first = scene.granted(run, "w#1").await;
    scene.released(&first, "submitted", Due::Now).await;
    let second = scene.granted(run, "w#2").await;
    harness.set_fence(run, Some(first.fence)).await;
    refused_everything(&scene, &second, &LostReason::Forgotten { fence: Some(fence(1)) }).await;
    harness.set_fence(run, None).await;
    refused_everything(&scene, &second, &LostReason::Forgotten { fence: None }).await;
    let _ = scene.granted(run, "w#3").await;
    refused_everything(&scene, &second, &LostReason::Forgotten { fence: Some(fence(1)) }).await;
}

/// IN-ORDER: the phase alone stands, because the lease is live and the phase to save is the next
/// one: only the phase that the save starts from is wrong.
pub async fn in_order_only_the_starting_phase_stands_for_a_live_lease(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    let before = scene.everything(lease.run).await;
    let refused = scene.save(&lease, "submitted", "b").await;
    assert_eq!(refused, SaveVerdict::Refused(conflict("submitted", "a")));
    assert_eq!(scene.everything(lease.run).await, before);
}

/// IN-ORDER: the plan's list alone stands, because the lease is live and the start is right: only the
/// phase to save is not the next one.
pub async fn in_order_only_the_list_of_phases_stands_for_a_live_lease(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    let before = scene.everything(lease.run).await;
    for wrong in ["c", "a", "other"] {
        let verdict = scene.save(&lease, "a", wrong).await;
        let refused = if wrong == "a" {
            // This very claim has saved `a`, from another phase.
            LostReason::ReceiptConflict
        } else {
            conflict("a", "a")
        };
        assert_eq!(verdict, SaveVerdict::Refused(refused), "{wrong}");
    }
    assert_eq!(scene.everything(lease.run).await, before);
}

/// ONE-RECEIPT: the digest alone stands, because claim and phase are those of the save that landed.
pub async fn one_receipt_only_the_digest_tells_another_receipt_from_the_same(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let landed = save(&lease, "submitted", "a", "one");
    let _ = judged(scene.store.save(&landed).await);
    let other = save(&lease, "submitted", "a", "other");
    let refused = SaveVerdict::Refused(LostReason::ReceiptConflict);
    assert_eq!(judged(scene.store.save(&other).await), refused);
    let again = judged(scene.store.save(&landed).await);
    assert!(matches!(again, SaveVerdict::AlreadySaved(_)), "{again:?}");
    assert_eq!(judged(scene.store.receipts(lease.run).await)[0].body, receipt("one"));
}

/// TRUTH: the number alone tells whose save landed, because the next claim has the same owner's name
/// and sends the very same save: it has saved nothing.
pub async fn truth_only_the_number_tells_whose_save_landed(harness: &dyn Harness) {
    let (scene, first) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&first, "submitted", "a").await;
    scene.lapse().await;
    let second = scene.granted(first.run, "w#1").await;
    let refused = SaveVerdict::Refused(conflict("submitted", "a"));
    assert_eq!(scene.save(&second, "submitted", "a").await, refused);
    let again = scene.save(&first, "submitted", "a").await;
    assert!(matches!(again, SaveVerdict::AlreadySaved(_)), "{again:?}");
}

/// TRUTH: the owner alone tells whose save landed, because a restored store gave the number out a
/// second time and its new holder has saved the very same.
pub async fn truth_only_the_owner_tells_whose_save_landed(harness: &dyn Harness) {
    let (scene, old) = Scene::with_lease(harness, "w#1").await;
    harness.set_fence(old.run, None).await;
    let new = scene.granted(old.run, "w#2").await;
    scene.saved(&new, "submitted", "a").await;
    let refused = SaveVerdict::Refused(superseded(1, "w#2"));
    assert_eq!(scene.save(&old, "submitted", "a").await, refused);
    let again = scene.save(&new, "submitted", "a").await;
    assert!(matches!(again, SaveVerdict::AlreadySaved(_)), "{again:?}");
}

/// TRUTH: number or owner alone tell whose lease was ended, because the newer claim of the same
/// owner's name, or of the same number, was ended in the very way that the old handle asks for.
pub async fn truth_only_number_or_owner_tells_whose_lease_was_ended(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    for (key, restored) in [(1, false), (2, true), (3, false), (4, true)] {
        let old = scene.granted(scene.run(key, &format!("run {key}")).await, "w#1").await;
        let (by, number) = if restored { ("w#2", 1) } else { ("w#1", 2) };
        if restored {
            harness.set_fence(old.run, None).await;
        } else {
            scene.lapse().await;
        }
        let new = scene.granted(old.run, by).await;
        let why = superseded(number, by);
        if key < 3 {
            scene.released(&new, "submitted", Due::Now).await;
            let late = scene.release(&old, "submitted", Due::Now).await;
            assert_eq!(late, ReleaseVerdict::Refused(why), "restored: {restored}");
        } else {
            assert_eq!(scene.fail(&new, "submitted").await, FailVerdict::Failed);
            let late = scene.fail(&old, "submitted").await;
            assert_eq!(late, FailVerdict::Refused(why), "restored: {restored}");
        }
    }
}

/// ONE-RECEIPT: the uniqueness of receipts alone stands, because the run's row was set back and
/// every other guard lets the save through. It gets no verdict, and nothing of it lands.
pub async fn one_receipt_only_uniqueness_stands_when_a_row_was_set_back(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let effects = lease_core::Effects::new(vec![harness.effect("first")]).expect("one effect");
    let _ = judged(scene.store.save(&save_with(&lease, "submitted", "a", "first", effects)).await);
    harness.forget_saves(lease.run).await;
    let nothing_lands = async |lease: &LeaseId| {
        let before = scene.everything(lease.run).await;
        let effects = lease_core::Effects::new(vec![harness.effect("second")]).expect("one effect");
        let again = scene.store.save(&save_with(lease, "submitted", "a", "second", effects)).await;
        assert!(again.is_err(), "{lease:?}: {again:?}");
        assert_eq!(scene.everything(lease.run).await, before);
        assert_eq!(before.receipts.len(), 1);
    };
    nothing_lands(&lease).await;
    // The receipt has another number than the one that it would be saved under now.
    scene.lapse().await;
    nothing_lands(&scene.granted(lease.run, "x#1").await).await;
}

/// FENCE-UP: the rise of the number alone stands, because a released run is claimed again under the
/// same owner's name: the released handle must not come to life with it.
pub async fn fence_up_only_the_rise_of_the_number_ends_a_released_handle(harness: &dyn Harness) {
    let (scene, old) = Scene::with_lease(harness, "w#1").await;
    scene.released(&old, "submitted", Due::Now).await;
    let new = scene.granted(old.run, "w#1").await;
    refused_everything(&scene, &old, &superseded(2, "w#1")).await;
    scene.hold(&new).await;
}

/// Case 10. NO-LAZARUS: the expiry alone keeps a renewal from waking a lapsed lease, and the refusal itself
/// does not.
pub async fn no_lazarus_a_refused_renewal_stays_refused(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    for late in 0..3 {
        let refused = RenewVerdict::Refused(expired(seconds(late)));
        assert_eq!(scene.renew(&lease).await, refused);
        scene.elapse(seconds(1)).await;
    }
    assert_eq!(scene.save(&lease, "submitted", "a").await, SaveVerdict::Refused(expired(seconds(3))));
}

/// The end of the lease alone stands, because it was ended by an operator long before it would have
/// run out, and number and owner still fit.
pub async fn no_late_save_only_the_cleared_expiry_stands_after_an_operator_took_the_lease(
    harness: &dyn Harness,
) {
    let scene = Scene::new(harness).await;
    let revoked = scene.granted(scene.run(1, "revoked").await, "w#1").await;
    scene.done(revoked.run, &Action::Revoke { fence: fence(1) }).await;
    refused_everything(&scene, &revoked, &LostReason::Revoked).await;
    let cancelled = scene.granted(scene.run(2, "cancelled").await, "w#1").await;
    scene.done(cancelled.run, &Action::Cancel).await;
    let why = LostReason::Finished(lease_core::Ending::Cancelled);
    refused_everything(&scene, &cancelled, &why).await;
}

/// Every request under this lease is refused for this reason, and nothing changes.
async fn refused_everything(scene: &Scene<'_>, lease: &LeaseId, why: &LostReason) {
    let before = scene.everything(lease.run).await;
    let refused = RenewVerdict::Refused(why.clone());
    assert_eq!(scene.renew(lease).await, refused);
    assert_eq!(judged(scene.store.renew_many(std::slice::from_ref(lease), ttl()).await), [refused]);
    assert_eq!(scene.save(lease, "submitted", "a").await, SaveVerdict::Refused(why.clone()));
    for due in [Due::Now, later(seconds(1)), Due::Approval] {
        let refused = ReleaseVerdict::Refused(why.clone());
        assert_eq!(scene.release(lease, "submitted", due).await, refused);
    }
    assert_eq!(scene.fail(lease, "submitted").await, FailVerdict::Refused(why.clone()));
    assert_eq!(scene.standing(lease).await, Standing::Lost(why.clone()));
    assert_eq!(scene.everything(lease.run).await, before);
}
