//! Losses and numbers that run out: a run that cannot go on is set aside, and the others go on.

use lease_core::{
    Action, AttemptOutcome, ClaimVerdict, Failure, FailureKind, FencingToken, Hold, IdempotencyKey,
    LostReason, OperatorVerdict, Refusal, ReleaseVerdict, RunId, RunKey, SaveVerdict, Status,
};
use serde_json::Value;

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::words::*;

/// Lets a run's lease run out as often as claims put up with.
async fn wear_out(scene: &Scene<'_>, run: RunId) {
    for loss in 0..=LOSSES {
        let grant = scene.grant(run, &format!("w#{loss}")).await;
        assert_eq!(grant.job.losses, loss, "losses are counted");
        scene.lapse().await;
    }
}

fn set_aside(verdict: ClaimVerdict) -> Failure {
    let ClaimVerdict::SetAside(failure) = verdict else { panic!("not set aside: {verdict:?}") };
    failure
}

/// Case 29. LIVENESS: a run whose workers always stall past their lease, and come back to be
/// refused, is set aside after the limit, though every attempt reads `blocked`.
pub async fn case_29_a_run_that_keeps_losing_its_workers_is_set_aside(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    for loss in 0..=LOSSES {
        let lease = scene.granted(run, &format!("w#{loss}")).await;
        scene.lapse().await;
        let refused = SaveVerdict::Refused(expired(seconds(0)));
        assert_eq!(scene.save(&lease, "submitted", "a").await, refused);
        let _ = judged(scene.store.mark_blocked(&lease, &blocked()).await);
    }
    let failure = set_aside(scene.claim(run, "w#9").await);
    assert_eq!((failure.kind.as_str(), &failure.phase), (FailureKind::SET_ASIDE, &name("a")));
    let view = scene.view(run).await;
    assert_eq!((view.run.status, view.run.error), (Status::Failed, Some(failure)));
    let number = u64::from(LOSSES) + 1;
    assert_eq!(view.run.hold.fence(), Some(fence(number)), "setting aside takes no number");
    assert!(!matches!(view.run.hold, Hold::Held { .. }), "the lease is ended");
    let expected: Vec<_> = (1..=number).map(|fence| (fence, Some(AttemptOutcome::Blocked))).collect();
    assert_eq!(scene.outcomes(run).await, expected);
}

/// TRUTH: setting aside closes the attempt that never came back, and its holder is told the truth.
pub async fn truth_setting_aside_closes_the_last_attempt(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    wear_out(&scene, run).await;
    let last = lease_core::LeaseId { run, owner: owner(&format!("w#{LOSSES}")), fence: fence(4) };
    let _ = set_aside(scene.claim(run, "w#9").await);
    assert_eq!(scene.outcomes(run).await.last(), Some(&(4, Some(AttemptOutcome::Superseded))));
    let refused = SaveVerdict::Refused(LostReason::Finished(lease_core::Ending::Failed));
    assert_eq!(scene.save(&last, "submitted", "a").await, refused);
}

/// A save starts the count of losses anew.
pub async fn a_save_starts_the_count_of_losses_anew(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    for _ in 0..LOSSES {
        let _ = scene.granted(run, "w#1").await;
        scene.lapse().await;
    }
    let lease = scene.granted(run, "w#2").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.lapse().await;
    assert_eq!(scene.grant(run, "w#3").await.job.losses, 1);
}

/// An operator's retry starts the count anew, at the same phase, with the number as it stands.
pub async fn a_retry_starts_the_counts_anew_and_keeps_the_number(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    wear_out(&scene, run).await;
    let _ = set_aside(scene.claim(run, "w#9").await);
    scene.done(run, &Action::Retry(IdempotencyKey::New)).await;
    let view = scene.view(run).await;
    assert_eq!((view.run.status, view.run.error), (Status::Open, None));
    let grant = scene.grant(run, "w#9").await;
    assert_eq!(grant.lease.fence, fence(u64::from(LOSSES) + 2));
    assert_eq!((grant.job.losses, grant.job.failures, grant.job.key_epoch), (0, 0, 1));
    assert_eq!(grant.job.phase, phase("submitted"));
}

/// Case 13. A claim that meant to set a run aside judges again: a holder that renewed is left alone.
pub async fn case_13_a_run_that_was_renewed_in_time_is_not_set_aside(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    for _ in 0..LOSSES {
        let _ = scene.granted(run, "w#1").await;
        scene.lapse().await;
    }
    let lease = scene.granted(run, "w#2").await;
    scene.elapse(TTL - BLINK).await;
    scene.hold(&lease).await;
    scene.elapse(BLINK).await;
    let claimed = judged(scene.store.claim_next(&next(&["w#3"])).await);
    assert_eq!((claimed.grants, claimed.set_aside), (vec![], vec![]));
    assert!(matches!(scene.claim(run, "w#3").await, ClaimVerdict::Busy { .. }));
    scene.saved(&lease, "submitted", "a").await;
}

/// Case 11. TRUTH: numbers past 2^31 and 2^53 are exact in claims, saves, renewals, releases and
/// JSON.
pub async fn case_11_large_numbers_are_exact(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let stands = [(1 << 31) - 1, 1 << 53, FencingToken::LAST.get() - 1];
    for (before, from, to) in [(stands[0], "submitted", "a"), (stands[1], "a", "b"), (stands[2], "b", "c")] {
        harness.set_fence(run, Some(fence(before))).await;
        let lease = scene.granted(run, "w#1").await;
        assert_eq!(lease.fence, fence(before + 1));
        scene.hold(&lease).await;
        let refused = lease_core::LeaseId { fence: fence(before), ..lease.clone() };
        let why = superseded(before + 1, "w#1");
        assert_eq!(scene.save(&refused, from, to).await, SaveVerdict::Refused(why.clone()));
        let loss = lease_core::Loss::before_save(lease_core::Refused::Save, name(to), why);
        let number = loss.to_document().fields().get("by_fence").and_then(Value::as_u64);
        assert_eq!(number, Some(before + 1));
        scene.saved(&lease, from, to).await;
        let attempts = judged(scene.store.attempts(run).await);
        assert_eq!(attempts.last().map(|attempt| attempt.fence), Some(fence(before + 1)));
        if to != "c" {
            scene.released(&lease, to, lease_core::Due::Now).await;
            let again = scene.release(&lease, to, lease_core::Due::Now).await;
            assert_eq!(again, ReleaseVerdict::AlreadyReleased);
        }
    }
    let receipts = scene.receipts(run).await;
    let numbers: Vec<_> = receipts.iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, stands.map(|before| before + 1));
}

/// Case 11. FENCE-UP: a run whose number stands at the top is set aside with a clear error, and the
/// others go on. An approval, which needs a number too, is refused.
pub async fn case_11_a_run_at_the_top_number_is_set_aside_and_the_others_go_on(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let (top, other) = (scene.run(1, "top").await, scene.run(2, "other").await);
    harness.set_fence(top, Some(FencingToken::LAST)).await;
    let claimed = judged(scene.store.claim_next(&next(&["w#1", "w#2"])).await);
    let granted: Vec<_> = claimed.grants.iter().map(|grant| grant.lease.run).collect();
    assert_eq!(granted, [other]);
    let [(run, key, failure)] = &claimed.set_aside[..] else { panic!("{:?}", claimed.set_aside) };
    assert_eq!((run, key.as_str()), (&top, "top"));
    assert_eq!(failure.kind.as_str(), FailureKind::FENCE_EXHAUSTED);
    let view = scene.view(top).await;
    assert_eq!((view.run.status, view.run.hold.fence()), (Status::Failed, Some(FencingToken::LAST)));
    let waiting = scene.run(3, "waiting").await;
    let lease = scene.granted(waiting, "w#3").await;
    scene.released(&lease, "submitted", lease_core::Due::Approval).await;
    harness.set_fence(waiting, Some(FencingToken::LAST)).await;
    let approve = Action::Approve { phase: name("a"), owner: owner("o#1") };
    let refused = OperatorVerdict::Refused(Refusal::FenceExhausted);
    assert_eq!(scene.act(waiting, &approve).await, refused);
    assert_eq!(scene.receipts(waiting).await, []);
}

/// A run set aside while `claim_next` looks for work is told of, by run and key.
pub async fn claiming_the_next_tells_which_runs_it_set_aside(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    wear_out(&scene, run).await;
    let claimed = judged(scene.store.claim_next(&next(&["w#8", "w#9"])).await);
    assert_eq!(claimed.grants, []);
    let told: Vec<(RunId, &RunKey, &str)> =
        claimed.set_aside.iter().map(|(run, key, failure)| (*run, key, failure.kind.as_str())).collect();
    assert_eq!(told, [(run, &key("key"), FailureKind::SET_ASIDE)]);
    assert_eq!(scene.view(run).await.run.status, Status::Failed);
}
