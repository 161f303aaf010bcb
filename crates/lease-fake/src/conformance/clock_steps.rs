//! When the store's own clock is set back or jumps: what does not depend on time still holds, and
//! the rest holds again once every lease from before the step is over.
//!
//! Clauses for FENCE-UP, ONE-HOLDER, IN-ORDER and ONE-RECEIPT.

use lease_core::{ClaimVerdict, RenewVerdict, SaveVerdict};

use super::harness::Harness;
use super::scene::Scene;
use super::words::*;

/// FENCE-UP, ONE-HOLDER: a clock that is set back wakes no superseded holder, and numbers go on.
pub async fn one_holder_a_clock_that_is_set_back_wakes_no_superseded_holder(harness: &dyn Harness) {
    let (scene, old) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    let new = scene.granted(old.run, "w#2").await;
    harness.set_back(seconds(3_600)).await;
    assert_eq!(scene.renew(&old).await, RenewVerdict::Refused(superseded(2, "w#2")));
    assert_eq!(scene.save(&old, "submitted", "a").await, SaveVerdict::Refused(superseded(2, "w#2")));
    let busy = scene.claim(old.run, "w#3").await;
    assert!(matches!(busy, ClaimVerdict::Busy { .. }), "{busy:?}");
    scene.saved(&new, "submitted", "a").await;
    scene.lapse().await;
    assert_eq!(scene.renew(&new).await, RenewVerdict::Refused(expired(seconds(0))), "counted anew");
    scene.elapse(seconds(3_600)).await;
    assert_eq!(scene.granted(old.run, "w#3").await.fence, fence(3));
}

/// IN-ORDER, ONE-RECEIPT: a holder goes on through a step of the clock either way, where its lease
/// is still live, and is refused where it is not.
pub async fn in_order_a_holder_goes_on_through_a_step_of_the_clock(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    harness.set_back(seconds(36_000)).await;
    scene.saved(&lease, "submitted", "a").await;
    scene.elapse(TTL - BLINK).await;
    scene.saved(&lease, "a", "b").await;
    scene.elapse(seconds(36_000)).await;
    let refused = SaveVerdict::Refused(expired(seconds(36_000) - TTL));
    assert_eq!(scene.save(&lease, "b", "c").await, refused);
    assert_eq!(scene.receipts(lease.run).await, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    let next = scene.grant(lease.run, "w#2").await;
    assert_eq!((next.lease.fence, next.job.phase), (fence(2), phase("b")));
}
