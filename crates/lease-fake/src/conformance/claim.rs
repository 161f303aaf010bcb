//! Claiming one run: what a claim gets, and what it is told where it gets nothing.
//!
//! Clauses for FENCE-UP, ONE-HOLDER, RESUME, TRUTH and LIVENESS.

use lease_core::{
    Action, Attempt, AttemptOutcome, ClaimVerdict, Due, Ending, Hold, IdempotencyKey, Phase, RenewVerdict,
};
use serde_json::json;

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::{all, both};
use super::words::*;

/// RESUME, FENCE-UP: a fresh run's first claim gets number 1, the whole job exactly as it was
/// submitted, and an attempt of its own.
pub async fn a_first_claim_gets_number_one_and_the_whole_job(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let mut submit = submit(1, "ACME-Ä 1");
    submit.input = document(json!({"n": 18_446_744_073_709_551_615_u64, "deep": {"list": [1, null, "é"]}}));
    let run = scene.open(&submit).await;
    let grant = scene.grant(run, "w#1").await;
    assert_eq!((grant.lease.run, grant.lease.fence, grant.lease.owner), (run, fence(1), owner("w#1")));
    assert_eq!((&grant.job.key, &grant.job.plan), (&submit.key, &submit.plan));
    assert_eq!((grant.job.phase, grant.job.input), (Phase::Submitted, submit.input));
    assert_eq!((grant.job.losses, grant.job.failures, grant.job.key_epoch), (0, 0, 0));
    let view = scene.view(run).await;
    let expires_at = view.now.plus(TTL);
    assert_eq!(view.run.hold, Hold::Held { fence: fence(1), owner: owner("w#1"), expires_at });
    let attempt = Attempt::open(fence(1), owner("w#1"), view.now, Phase::Submitted);
    assert_eq!(judged(scene.store.attempts(run).await), [attempt]);
    assert_eq!(view.last_outcome, None);
}

/// TRUTH: a run that is held is busy, with who has it, under which number and for how long; nothing
/// changes.
pub async fn a_held_run_is_busy_and_names_its_holder(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.elapse(seconds(10)).await;
    let before = scene.everything(lease.run).await;
    let busy = ClaimVerdict::Busy { owner: owner("w#1"), fence: fence(1), remaining: seconds(50) };
    assert_eq!(scene.claim(lease.run, "w#2").await, busy);
    assert_eq!(scene.claim(lease.run, "w#1").await, busy, "its own holder too");
    assert_eq!(scene.everything(lease.run).await, before);
}

/// ONE-HOLDER, LIVENESS: a lease is over at its expiry and not before.
pub async fn one_holder_a_lease_ends_at_its_expiry_and_not_before(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.elapse(TTL - BLINK).await;
    let busy = ClaimVerdict::Busy { owner: owner("w#1"), fence: fence(1), remaining: BLINK };
    assert_eq!(scene.claim(lease.run, "w#2").await, busy);
    scene.elapse(BLINK).await;
    assert_eq!(scene.granted(lease.run, "w#2").await.fence, fence(2));
}

/// Case 6. FENCE-UP, LIVENESS: a released run is claimed at once, with the next number.
pub async fn case_6_a_released_run_is_claimed_at_once_with_the_next_number(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.released(&lease, "a", Due::Now).await;
    let grant = scene.grant(lease.run, "w#2").await;
    assert_eq!((grant.lease.fence, grant.job.phase), (fence(2), phase("a")));
    assert_eq!(grant.job.losses, 0, "a release is no loss");
    scene.saved(&grant.lease, "a", "b").await;
    let outcomes = scene.outcomes(lease.run).await;
    assert_eq!(outcomes, [(1, Some(AttemptOutcome::Yielded)), (2, None)]);
}

/// FENCE-UP: every claim adds exactly one, and nothing else moves the number.
pub async fn fence_up_every_claim_adds_one_and_nothing_else_moves_the_number(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let mut number = 0;
    for round in 0..4 {
        let lease = scene.granted(run, "w#1").await;
        number += 1;
        assert_eq!(lease.fence.get(), number, "round {round}");
        scene.hold(&lease).await;
        match round {
            0 => scene.released(&lease, "submitted", Due::Now).await,
            1 => scene.lapse().await,
            2 => scene.done(run, &Action::Revoke { fence: lease.fence }).await,
            _ => {
                let _ = scene.fail(&lease, "submitted").await;
                scene.done(run, &Action::Retry(IdempotencyKey::Same)).await;
            }
        }
        assert_eq!(scene.view(run).await.run.hold.fence(), Some(fence(number)), "round {round}");
    }
    scene.done(run, &Action::Pause).await;
    scene.done(run, &Action::Resume).await;
    scene.done(run, &Action::Cancel).await;
    assert_eq!(scene.view(run).await.run.hold.fence(), Some(fence(4)));
}

/// TRUTH: a claim is told the first reason of a fixed order: finished, unknown plan, busy, waiting,
/// paused, not due.
pub async fn truth_a_claim_is_told_the_most_telling_reason(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let run = lease.run;
    let mut stranger = claim(run, "w#2");
    stranger.plans = vec![plan_of("plan", 2, "").id.digest];
    let unknown = ClaimVerdict::UnknownPlan(plan().id);
    assert_eq!(judged(scene.store.claim(&stranger).await), unknown, "though it is held");
    scene.done(run, &Action::Pause).await;
    let busy = ClaimVerdict::Busy { owner: owner("w#1"), fence: fence(1), remaining: TTL };
    assert_eq!(scene.claim(run, "w#2").await, busy, "though it is paused");
    scene.released(&lease, "submitted", later(seconds(5))).await;
    assert_eq!(scene.claim(run, "w#2").await, ClaimVerdict::Paused, "though it is not due");
    scene.done(run, &Action::Resume).await;
    assert_eq!(scene.claim(run, "w#2").await, ClaimVerdict::NotDue { due_in: seconds(5) });
    scene.elapse(seconds(5)).await;
    let lease = scene.granted(run, "w#2").await;
    scene.released(&lease, "submitted", Due::Approval).await;
    scene.done(run, &Action::Pause).await;
    let waiting = ClaimVerdict::Waiting { phase: name("a") };
    assert_eq!(scene.claim(run, "w#3").await, waiting, "though it is paused");
    scene.done(run, &Action::Cancel).await;
    let cancelled = ClaimVerdict::Finished(Ending::Cancelled);
    assert_eq!(judged(scene.store.claim(&stranger).await), cancelled, "though its plan is unknown");
    assert_eq!(scene.claim(id(99), "w#3").await, ClaimVerdict::Gone);
}

/// TRUTH: a claim of a finished run is told how it finished. Case 15: the run is done, nothing is
/// done again.
pub async fn case_15_a_finished_run_is_not_claimed_again(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let (completed, failed) = (scene.run(1, "one").await, scene.run(2, "two").await);
    let lease = scene.granted(completed, "w#1").await;
    scene.complete(&lease).await;
    let lease = scene.granted(failed, "w#2").await;
    let _ = scene.fail(&lease, "submitted").await;
    scene.lapse().await;
    assert_eq!(scene.claim(completed, "w#3").await, ClaimVerdict::Finished(Ending::Completed));
    assert_eq!(scene.claim(failed, "w#3").await, ClaimVerdict::Finished(Ending::Failed));
}

/// Case 15, RESUME: after a worker died between the step and its save, the next claim gets the same
/// phase and the same idempotency key (the same key epoch).
pub async fn case_15_a_phase_that_was_not_saved_is_handed_out_again(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.lapse().await;
    let job = scene.grant(lease.run, "w#2").await.job;
    assert_eq!((job.phase.clone(), job.next_phase(), job.key_epoch), (phase("a"), Some(&name("b")), 0));
    assert_eq!((job.losses, job.failures), (1, 0), "a loss uses up no retry");
}

/// Case 7. RESUME, LIVENESS: a row as a killed worker leaves it, an hour old, is claimed, and work
/// goes on after the last receipt.
pub async fn case_7_a_row_that_a_killed_worker_left_is_taken_over(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.elapse(seconds(3_600)).await;
    let grant = scene.grant(lease.run, "w#2").await;
    assert_eq!((grant.lease.fence, grant.job.phase), (fence(2), phase("a")));
    assert_eq!(scene.receipts(lease.run).await, [("a".to_owned(), 1)]);
    scene.saved(&grant.lease, "a", "b").await;
    scene.saved(&grant.lease, "b", "c").await;
    let outcomes = scene.outcomes(lease.run).await;
    assert_eq!(outcomes, [(1, Some(AttemptOutcome::Superseded)), (2, Some(AttemptOutcome::Completed))]);
}

/// Case 8. ONE-HOLDER: twenty claims of one lapsed run at the same instant: one is granted, with
/// the next number, and the others are told who got it.
pub async fn case_8_twenty_claims_of_one_lapsed_run_grant_one(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#0").await;
    scene.lapse().await;
    let claims: Vec<_> = (1..=20).map(|number| claim(lease.run, &format!("w#{number}"))).collect();
    let answers = all(claims.iter().map(|claim| scene.store.claim(claim)).collect()).await;
    let mut holder = None;
    let mut busy = Vec::new();
    for answer in answers {
        let verdict = judged(answer);
        if let ClaimVerdict::Granted(grant) = verdict {
            assert_eq!(holder.replace(grant.lease), None, "ONE-HOLDER");
        } else {
            let ClaimVerdict::Busy { owner, fence, .. } = verdict else { panic!("{verdict:?}") };
            busy.push((owner, fence));
        }
    }
    let holder = holder.expect("one of them got it");
    assert_eq!(holder.fence, fence(2));
    assert_eq!(busy, vec![(holder.owner.clone(), holder.fence); 19]);
    scene.hold(&holder).await;
}

/// TRUTH: a claim closes every attempt that never ended, as superseded, at its own instant.
pub async fn truth_a_claim_closes_the_attempts_that_never_came_back(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    let _second = scene.granted(lease.run, "w#2").await;
    scene.lapse().await;
    let _third = scene.granted(lease.run, "w#3").await;
    let at = scene.view(lease.run).await.now;
    let attempts = judged(scene.store.attempts(lease.run).await);
    let ends: Vec<_> = attempts.iter().map(|attempt| attempt.end.map(|(outcome, _)| outcome)).collect();
    assert_eq!(ends, [Some(AttemptOutcome::Superseded), Some(AttemptOutcome::Superseded), None]);
    assert_eq!(attempts[1].end.map(|(_, ended_at)| ended_at), Some(at));
}

/// Case 28, RESUME: a claim that waits for the row while its holder ends the lease goes on after
/// the holder's last phase, with its receipt.
pub async fn case_28_a_claim_that_waited_for_the_row_goes_on_after_the_newest_phase(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let run = lease.run;
    let Some(mut lock) = scene.lock(run).await else { return };
    let (save, claim) = (save(&lease, "submitted", "a", "fine"), claim(run, "w#2"));
    let holder = async {
        let _ = judged(scene.store.save(&save).await);
        scene.release(&lease, "a", Due::Now).await
    };
    let freed = async {
        lock.waited_for_by(2).await;
        lock.free().await;
    };
    let ((_, claimed), ()) = both(both(holder, scene.store.claim(&claim)), freed).await;
    let claimed = judged(claimed);
    let grant = if let ClaimVerdict::Granted(grant) = claimed {
        *grant
    } else {
        // It was judged between the holder's save and its release.
        assert!(matches!(claimed, ClaimVerdict::Busy { .. }), "{claimed:?}");
        scene.grant(run, "w#3").await
    };
    assert_eq!((grant.lease.fence, grant.job.phase), (fence(2), phase("a")));
    assert_eq!(scene.receipts(run).await, [("a".to_owned(), 1)]);
}

/// A claim that waits for a locked row judges the row and the clock as they are once it is free.
pub async fn one_holder_a_claim_that_waited_judges_the_clock_after_the_lock(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let Some(mut lock) = scene.lock(lease.run).await else { return };
    let claim = claim(lease.run, "w#2");
    let freed = async {
        lock.waited_for_by(1).await;
        scene.lapse().await;
        lock.free().await;
    };
    let (claimed, ()) = both(scene.store.claim(&claim), freed).await;
    let ClaimVerdict::Granted(grant) = judged(claimed) else { panic!("the lease had run out") };
    assert_eq!(grant.lease.fence, fence(2));
    assert_eq!(scene.renew(&grant.lease).await, RenewVerdict::Renewed { yield_asked: false });
    scene.elapse(TTL - BLINK).await;
    scene.hold(&grant.lease).await;
}
