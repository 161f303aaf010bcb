//! What operators do to a run, and what becomes of its lease and its attempts.
//!
//! Clauses for TRUTH, FENCE-UP and ALL-OR-NOTHING.

use lease_core::{
    Action, AttemptOutcome, ClaimVerdict, Due, Ending, Failure, FailureKind, Hold, IdempotencyKey, LeaseEnd,
    LostReason, OperatorVerdict, Receipt, Refusal, ReleaseVerdict, RenewVerdict, RunId, SaveVerdict, Status,
};
use serde_json::json;

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::both;
use super::words::*;

/// An approval of this phase by the operator's own claim.
fn approve(phase: &str, by: &str) -> Action {
    Action::Approve { phase: name(phase), owner: owner(by) }
}

/// A run that waits for an approval of `a`, released by number 1.
async fn waiting(scene: &Scene<'_>, run: RunId) {
    let lease = scene.granted(run, "w#1").await;
    scene.released(&lease, "submitted", Due::Approval).await;
}

/// FENCE-UP, ONE-RECEIPT: an approval is a claim and a save in one: the next number, a receipt that
/// says who and why, an attempt that is complete, and a run that is due.
pub async fn an_approval_is_a_claim_and_a_save_in_one(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    waiting(&scene, run).await;
    scene.elapse(seconds(100)).await;
    scene.done(run, &approve("a", "o#1")).await;
    let view = scene.view(run).await;
    assert_eq!((view.run.status, &view.run.phase), (Status::Open, &phase("a")));
    let how = LeaseEnd::Completed;
    assert_eq!(view.run.hold, Hold::Ended { fence: fence(2), owner: owner("o#1"), how });
    assert_eq!((view.run.losses, view.run.failures, view.run.due_at), (0, 0, view.now));
    let words = document(json!({"approved_by": "olga", "reason": "because"}));
    let saved = Receipt { phase: name("a"), fence: fence(2), body: words.clone(), saved_at: view.now };
    assert_eq!(judged(scene.store.receipts(run).await), [saved]);
    let attempts = judged(scene.store.attempts(run).await);
    let last = attempts.last().expect("the approval's own");
    assert_eq!((last.fence, &last.owner, &last.from_phase), (fence(2), &owner("o#1"), &phase("submitted")));
    assert_eq!(last.end, Some((AttemptOutcome::Completed, view.now)));
    assert_eq!(last.reason, Some(words));
    let grant = scene.grant(run, "w#2").await;
    assert_eq!((grant.lease.fence, grant.job.phase), (fence(3), phase("a")));
}

/// Case 31. Two approval phases in a row: the first approval, sent twice, is told so, and the second
/// phase still waits.
pub async fn case_31_an_approval_sent_twice_approves_one_phase(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    waiting(&scene, run).await;
    let first = approve("a", "o#1");
    scene.done(run, &first).await;
    assert_eq!(scene.act(run, &first).await, OperatorVerdict::AlreadySo);
    let lease = scene.granted(run, "w#2").await;
    scene.released(&lease, "a", Due::Approval).await;
    let before = scene.everything(run).await;
    assert_eq!(scene.act(run, &first).await, OperatorVerdict::AlreadySo);
    let another = scene.act(run, &approve("a", "o#2")).await;
    assert_eq!(another, OperatorVerdict::Refused(Refusal::PhaseSaved));
    assert_eq!(scene.everything(run).await, before);
    assert_eq!(scene.claim(run, "w#3").await, ClaimVerdict::Waiting { phase: name("b") });
    scene.done(run, &approve("b", "o#3")).await;
    assert_eq!(scene.receipts(run).await, [("a".to_owned(), 2), ("b".to_owned(), 4)]);
}

/// An approval of the last phase completes the run, paused or not.
pub async fn an_approval_of_the_last_phase_completes_the_run(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.saved(&lease, "a", "b").await;
    scene.released(&lease, "b", Due::Approval).await;
    scene.done(lease.run, &Action::Pause).await;
    scene.done(lease.run, &approve("c", "o#1")).await;
    let view = scene.view(lease.run).await;
    assert_eq!((view.run.status, view.run.paused), (Status::Completed, false));
    assert_eq!(scene.claim(lease.run, "w#2").await, ClaimVerdict::Finished(Ending::Completed));
    assert_eq!(scene.act(lease.run, &approve("c", "o#1")).await, OperatorVerdict::AlreadySo);
}

/// A rejection fails the run with who and why; a retry brings it back to the same phase.
pub async fn a_rejection_fails_the_run_until_it_is_retried(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    waiting(&scene, run).await;
    scene.done(run, &Action::Reject { phase: name("a") }).await;
    let view = scene.view(run).await;
    let error = Failure::new(name("a"), FailureKind::REJECTED, "rejected by olga: because", 1);
    assert_eq!((view.run.status, view.run.error), (Status::Failed, Some(error)));
    scene.done(run, &Action::Retry(IdempotencyKey::Same)).await;
    let grant = scene.grant(run, "w#2").await;
    assert_eq!((grant.lease.fence, grant.job.phase, grant.job.key_epoch), (fence(2), phase("submitted"), 0));
}

/// Case 30. Paused while it waits, then approved, then resumed: neither state is lost.
pub async fn case_30_paused_while_waiting_then_approved_then_resumed(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    waiting(&scene, run).await;
    scene.done(run, &Action::Pause).await;
    scene.done(run, &approve("a", "o#1")).await;
    let view = scene.view(run).await;
    assert_eq!((view.run.status, view.run.paused, view.run.phase), (Status::Open, true, phase("a")));
    assert_eq!(scene.claim(run, "w#2").await, ClaimVerdict::Paused);
    scene.done(run, &Action::Resume).await;
    assert_eq!(scene.grant(run, "w#2").await.job.phase, phase("a"));
}

/// Case 30. Paused while a step runs, which then fails or is to be tried again: still paused, and on
/// from there.
pub async fn case_30_paused_while_a_step_runs_that_fails_or_retries(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let retrying = scene.granted(scene.run(1, "retrying").await, "w#1").await;
    scene.done(retrying.run, &Action::Pause).await;
    scene.released(&retrying, "submitted", later(seconds(5))).await;
    assert!(scene.view(retrying.run).await.run.paused);
    scene.elapse(seconds(5)).await;
    assert_eq!(scene.claim(retrying.run, "w#2").await, ClaimVerdict::Paused);
    scene.done(retrying.run, &Action::Resume).await;
    assert_eq!(scene.grant(retrying.run, "w#2").await.job.failures, 1);

    let failing = scene.granted(scene.run(2, "failing").await, "w#1").await;
    scene.done(failing.run, &Action::Pause).await;
    let _ = scene.fail(&failing, "submitted").await;
    let view = scene.view(failing.run).await;
    assert_eq!((view.run.status, view.run.paused), (Status::Failed, true));
    scene.done(failing.run, &Action::Retry(IdempotencyKey::Same)).await;
    assert_eq!(scene.claim(failing.run, "w#2").await, ClaimVerdict::Paused);
    scene.done(failing.run, &Action::Resume).await;
    assert_eq!(scene.granted(failing.run, "w#2").await.fence, fence(2));
}

/// Case 32. TRUTH: a forced release for a number that was seen takes that lease and no later one.
pub async fn case_32_a_forced_release_takes_the_lease_that_was_seen_and_no_later_one(harness: &dyn Harness) {
    let (scene, seen) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    let newer = scene.granted(seen.run, "w#2").await;
    let before = scene.everything(seen.run).await;
    let other = Refusal::OtherFence { fence: fence(2), owner: owner("w#2") };
    let late = scene.act(seen.run, &Action::Revoke { fence: seen.fence }).await;
    assert_eq!(late, OperatorVerdict::Refused(other));
    assert_eq!(scene.everything(seen.run).await, before);
    scene.hold(&newer).await;
    let revoke = Action::Revoke { fence: newer.fence };
    scene.done(seen.run, &revoke).await;
    assert_eq!(scene.act(seen.run, &revoke).await, OperatorVerdict::AlreadySo);
    assert_eq!(scene.renew(&newer).await, RenewVerdict::Refused(LostReason::Revoked));
    let attempts = judged(scene.store.attempts(seen.run).await);
    assert_eq!(attempts[1].outcome(), Some(AttemptOutcome::Revoked));
    assert_eq!(attempts[1].reason, Some(document(json!({"by": "olga", "reason": "because"}))));
    let grant = scene.grant(seen.run, "w#3").await;
    assert_eq!((grant.lease.fence, grant.job.losses), (fence(3), 1), "a forced release is no loss");
}

/// A cancel ends the lease and the attempt; the holder is told that the run is cancelled.
pub async fn a_cancel_ends_the_lease_and_the_holder_is_told(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.done(lease.run, &Action::Cancel).await;
    let view = scene.view(lease.run).await;
    let how = LeaseEnd::Cancelled;
    assert_eq!(view.run.hold, Hold::Ended { fence: fence(1), owner: owner("w#1"), how });
    assert_eq!((view.run.status, view.last_outcome), (Status::Cancelled, Some(AttemptOutcome::Cancelled)));
    let why = LostReason::Finished(Ending::Cancelled);
    assert_eq!(scene.save(&lease, "submitted", "a").await, SaveVerdict::Refused(why));
    assert_eq!(scene.claim(lease.run, "w#2").await, ClaimVerdict::Finished(Ending::Cancelled));
}

/// Case 13. A sweep that read its list earlier judges each run again: a run that was completed or
/// claimed again in between is not touched.
pub async fn case_13_a_sweep_judges_each_run_again(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let seen = lease.fence;
    scene.complete(&lease).await;
    let before = scene.everything(lease.run).await;
    let refused = OperatorVerdict::Refused(Refusal::Status(Status::Completed));
    assert_eq!(scene.act(lease.run, &Action::Cancel).await, refused);
    assert_eq!(scene.act(lease.run, &Action::Revoke { fence: seen }).await, refused);
    assert_eq!(scene.everything(lease.run).await, before);
}

/// A retry can ask for a new idempotency key, and each one that does counts.
pub async fn a_retry_may_ask_for_a_new_idempotency_key(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let keys = [(IdempotencyKey::Same, 0), (IdempotencyKey::New, 1), (IdempotencyKey::Same, 1)];
    for (key, epoch) in keys.into_iter().chain([(IdempotencyKey::New, 2)]) {
        let lease = scene.granted(run, "w#1").await;
        let _ = scene.fail(&lease, "submitted").await;
        scene.done(run, &Action::Retry(key)).await;
        let view = scene.view(run).await;
        assert_eq!((view.run.key_epoch, view.run.error, view.run.due_at), (epoch, None, view.now));
        assert_eq!((view.run.losses, view.run.failures), (0, 0));
    }
    let actions = judged(scene.store.actions(run).await);
    let words: Vec<_> = actions.iter().map(|action| action.action.as_str()).collect();
    assert_eq!(words, ["retry"; 4]);
}

/// Sends an action while something else waits for the run's row, so that both wait, and then lets go.
/// `None` where the store has no such locks.
async fn behind<F: Future>(
    scene: &Scene<'_>,
    run: RunId,
    first: F,
    action: Action,
) -> Option<(F::Output, OperatorVerdict)> {
    let mut lock = scene.lock(run).await?;
    let then = async {
        lock.waited_for_by(1).await;
        let freed = async {
            lock.waited_for_by(2).await;
            lock.free().await;
        };
        both(scene.act(run, &action), freed).await.0
    };
    Some(both(first, then).await)
}

/// TRUTH: an action that waited while the run was claimed for the first time is done, and ends that claim.
pub async fn truth_an_action_that_waited_behind_the_first_claim_is_done(harness: &dyn Harness) {
    let ends = [
        (Action::Cancel, AttemptOutcome::Cancelled),
        (Action::Revoke { fence: fence(1) }, AttemptOutcome::Revoked),
    ];
    for ((action, outcome), number) in ends.into_iter().zip(1..) {
        let scene = Scene::new(harness).await;
        let run = scene.run(number, &format!("key {number}")).await;
        let Some((claimed, done)) = behind(&scene, run, scene.claim(run, "w#1"), action).await else {
            return;
        };
        assert!(matches!(claimed, ClaimVerdict::Granted(_)), "{claimed:?}");
        assert_eq!(done, OperatorVerdict::Done);
        assert_eq!(scene.outcomes(run).await, [(1, Some(outcome))]);
    }
}

/// TRUTH: a cancel that waited behind a retry of the same run ends it.
pub async fn truth_a_cancel_that_waited_behind_a_retry_is_done(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let run = lease.run;
    let _ = scene.fail(&lease, "submitted").await;
    let retry = Action::Retry(IdempotencyKey::Same);
    let retried = behind(&scene, run, scene.act(run, &retry), Action::Cancel).await;
    let Some((retried, cancelled)) = retried else { return };
    assert_eq!((retried, cancelled), (OperatorVerdict::Done, OperatorVerdict::Done));
    let run = scene.view(run).await.run;
    assert_eq!((run.status, run.error), (Status::Cancelled, None));
}

/// TRUTH: a rejection that waited behind the release that asks for it fails the run.
pub async fn truth_a_rejection_that_waited_behind_the_release_is_done(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let run = lease.run;
    let release = scene.release(&lease, "submitted", Due::Approval);
    let Some((released, rejected)) = behind(&scene, run, release, Action::Reject { phase: name("a") }).await
    else {
        return;
    };
    assert_eq!((released, rejected), (ReleaseVerdict::Released, OperatorVerdict::Done));
    let view = scene.view(run).await;
    assert_eq!((view.run.status, view.last_outcome), (Status::Failed, Some(AttemptOutcome::Waiting)));
}
