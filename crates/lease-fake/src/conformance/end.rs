//! Ending a lease by its holder, and reporting that a holder was turned away.
//!
//! Clauses for BLOCKED-NOT-FAILED and TRUTH.

use lease_core::{
    AfterSave, AttemptOutcome, BlockedVerdict, Due, Ending, FailVerdict, Hold, LeaseEnd, LeaseId, LostReason,
    ReleaseVerdict, SaveVerdict, Status,
};

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::both;
use super::words::*;

/// Each kind of release ends the lease, says how on the run and on the attempt, and leaves the run to
/// the next claim: at once, later, or once it is approved.
pub async fn each_kind_of_release_leaves_the_run_as_asked(harness: &dyn Harness) {
    let kinds = [
        (Due::Now, LeaseEnd::Yielded, AttemptOutcome::Yielded, Status::Open),
        (later(seconds(5)), LeaseEnd::Retrying, AttemptOutcome::Retrying, Status::Open),
        (Due::Approval, LeaseEnd::Waiting, AttemptOutcome::Waiting, Status::Waiting),
    ];
    let scene = Scene::new(harness).await;
    for (number, (due, how, outcome, status)) in (1..).zip(kinds) {
        let lease = scene.granted(scene.run(number, &format!("run {number}")).await, "w#1").await;
        scene.elapse(seconds(1)).await;
        let due_before = scene.view(lease.run).await.run.due_at;
        scene.released(&lease, "submitted", due.clone()).await;
        let view = scene.view(lease.run).await;
        assert_eq!(view.run.hold, Hold::Ended { fence: fence(1), owner: owner("w#1"), how });
        assert_eq!((view.run.status, view.last_outcome), (status, Some(outcome)));
        let retried = matches!(due, Due::Later { .. });
        let due_at = if retried { view.now.plus(seconds(5)) } else { due_before };
        assert_eq!((view.run.due_at, view.run.failures), (due_at, u32::from(retried)), "{due:?}");
        let attempts = judged(scene.store.attempts(lease.run).await);
        assert_eq!(attempts[0].end, Some((outcome, view.now)));
        let reason = retried.then(|| failure("a").to_document());
        assert_eq!(attempts[0].reason, reason);
        assert_eq!((view.run.error, view.run.losses), (None, 0));
    }
}

/// A retried step's failures are counted, and a save starts the count anew.
pub async fn failures_are_counted_until_the_next_save(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    for failures in 0..3 {
        let grant = scene.grant(run, "w#1").await;
        assert_eq!(grant.job.failures, failures);
        scene.released(&grant.lease, "submitted", later(seconds(1))).await;
        scene.elapse(seconds(1)).await;
    }
    let lease = scene.granted(run, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.released(&lease, "a", Due::Now).await;
    assert_eq!(scene.grant(run, "w#2").await.job.failures, 0);
}

/// Case 27. TRUTH: a release asked again as it was is done, also much later; asked otherwise, it is
/// not what happened.
pub async fn case_27_a_release_asked_again_is_done_as_asked(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let kinds = [Due::Now, later(seconds(5)), Due::Approval];
    for (number, due) in (1..).zip(&kinds) {
        let lease = scene.granted(scene.run(number, &format!("run {number}")).await, "w#1").await;
        scene.released(&lease, "submitted", due.clone()).await;
        scene.elapse(seconds(3_600)).await;
        let before = scene.everything(lease.run).await;
        for other in &kinds {
            let verdict = scene.release(&lease, "submitted", other.clone()).await;
            let expected = if other == due {
                ReleaseVerdict::AlreadyReleased
            } else {
                ReleaseVerdict::Refused(LostReason::Released)
            };
            assert_eq!(verdict, expected, "{due:?}, then {other:?}");
        }
        assert_eq!(scene.fail(&lease, "submitted").await, FailVerdict::Refused(LostReason::Released));
        assert_eq!(scene.everything(lease.run).await, before);
    }
}

/// Case 27. TRUTH: failing a run asked again is done, and the first failure stands.
pub async fn case_27_a_failing_asked_again_is_done(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    assert_eq!(scene.fail(&lease, "submitted").await, FailVerdict::Failed);
    let view = scene.view(lease.run).await;
    let how = LeaseEnd::Failed;
    assert_eq!(view.run.hold, Hold::Ended { fence: fence(1), owner: owner("w#1"), how });
    assert_eq!((view.run.status, view.run.error), (Status::Failed, Some(failure("a"))));
    let attempts = judged(scene.store.attempts(lease.run).await);
    assert_eq!(attempts[0].end, Some((AttemptOutcome::Failed, view.now)));
    assert_eq!(attempts[0].reason, Some(failure("a").to_document()));
    scene.elapse(seconds(3_600)).await;
    let before = scene.everything(lease.run).await;
    assert_eq!(scene.fail(&lease, "submitted").await, FailVerdict::AlreadyFailed);
    let refused = ReleaseVerdict::Refused(LostReason::Finished(Ending::Failed));
    assert_eq!(scene.release(&lease, "submitted", Due::Now).await, refused);
    let refused = SaveVerdict::Refused(LostReason::Finished(Ending::Failed));
    assert_eq!(scene.save(&lease, "submitted", "a").await, refused);
    assert_eq!(scene.everything(lease.run).await, before);
}

/// Case 27. Two of the same release, or the same failing, at once: one does it, the other is told
/// that it is done.
pub async fn case_27_ends_sent_twice_at_once_land_once(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let lease = scene.granted(scene.run(1, "one").await, "w#1").await;
    let asked = release(&lease, "submitted", later(seconds(5)));
    let (one, other) = both(scene.store.release(&asked), scene.store.release(&asked)).await;
    let verdicts = [judged(one), judged(other)];
    assert!(verdicts.contains(&ReleaseVerdict::Released), "{verdicts:?}");
    assert!(verdicts.contains(&ReleaseVerdict::AlreadyReleased), "{verdicts:?}");
    assert_eq!(scene.view(lease.run).await.run.failures, 1);
    let lease = scene.granted(scene.run(2, "two").await, "w#1").await;
    let asked = fail(&lease, "submitted");
    let (one, other) = both(scene.store.fail(&asked), scene.store.fail(&asked)).await;
    let verdicts = [judged(one), judged(other)];
    assert!(verdicts.contains(&FailVerdict::Failed), "{verdicts:?}");
    assert!(verdicts.contains(&FailVerdict::AlreadyFailed), "{verdicts:?}");
}

/// BLOCKED-NOT-FAILED: a stale worker can neither fail nor release a run, live lease or not.
pub async fn blocked_not_failed_a_stale_worker_can_never_fail_a_run(harness: &dyn Harness) {
    let (scene, stale) = Scene::with_lease(harness, "w#1").await;
    scene.lapse().await;
    let before = scene.everything(stale.run).await;
    assert_eq!(scene.fail(&stale, "submitted").await, FailVerdict::Refused(expired(seconds(0))));
    assert_eq!(scene.everything(stale.run).await, before);
    let live = scene.granted(stale.run, "w#2").await;
    let before = scene.everything(stale.run).await;
    assert_eq!(scene.fail(&stale, "submitted").await, FailVerdict::Refused(superseded(2, "w#2")));
    let released = scene.release(&stale, "submitted", Due::Approval).await;
    assert_eq!(released, ReleaseVerdict::Refused(superseded(2, "w#2")));
    assert_eq!(scene.everything(stale.run).await, before);
    scene.hold(&live).await;
}

/// A release or failing that names another phase than the one the run stands at is a phase conflict.
pub async fn an_end_that_names_another_phase_is_a_phase_conflict(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    let before = scene.everything(lease.run).await;
    let why = conflict("submitted", "a");
    let released = scene.release(&lease, "submitted", Due::Now).await;
    assert_eq!(released, ReleaseVerdict::Refused(why.clone()));
    assert_eq!(scene.fail(&lease, "submitted").await, FailVerdict::Refused(why));
    assert_eq!(scene.everything(lease.run).await, before);
    scene.hold(&lease).await;
}

/// BLOCKED-NOT-FAILED: being turned away is written on the attempt alone; the run's own row is left
/// alone, whatever it says. Nothing but an empty outcome or `superseded` is replaced.
pub async fn blocked_not_failed_being_turned_away_is_written_on_the_attempt_alone(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let block = async |lease: &LeaseId| judged(scene.store.mark_blocked(lease, &blocked()).await);
    scene.lapse().await;
    let before = scene.view(lease.run).await.run;
    assert_eq!(block(&lease).await, BlockedVerdict::Recorded);
    let view = scene.view(lease.run).await;
    assert_eq!((view.run, view.last_outcome), (before, Some(AttemptOutcome::Blocked)));
    let attempts = judged(scene.store.attempts(lease.run).await);
    assert_eq!(attempts[0].end, Some((AttemptOutcome::Blocked, view.now)));
    assert_eq!(attempts[0].reason, Some(blocked()));
    let again = block(&lease).await;
    assert_eq!(again, BlockedVerdict::AlreadyEnded(AttemptOutcome::Blocked));

    let second = scene.granted(lease.run, "w#2").await;
    scene.lapse().await;
    let third = scene.granted(lease.run, "w#3").await;
    let closed_at = scene.view(lease.run).await.now;
    scene.elapse(seconds(9)).await;
    assert_eq!(block(&second).await, BlockedVerdict::Recorded);
    let attempts = judged(scene.store.attempts(lease.run).await);
    assert_eq!(attempts[1].end, Some((AttemptOutcome::Blocked, closed_at)), "it ended when it was closed");
    scene.released(&third, "submitted", Due::Now).await;
    assert_eq!(block(&third).await, BlockedVerdict::AlreadyEnded(AttemptOutcome::Yielded));
    let expected = [
        (1, Some(AttemptOutcome::Blocked)),
        (2, Some(AttemptOutcome::Blocked)),
        (3, Some(AttemptOutcome::Yielded)),
    ];
    assert_eq!(scene.outcomes(lease.run).await, expected);
    let stranger = LeaseId { owner: owner("w#9"), ..second.clone() };
    assert_eq!(block(&stranger).await, BlockedVerdict::Gone, "another owner's attempt");
    assert_eq!(block(&LeaseId { fence: fence(9), ..second.clone() }).await, BlockedVerdict::Gone);
    assert_eq!(block(&LeaseId { run: id(99), ..second }).await, BlockedVerdict::Gone);
}

/// TRUTH: every outcome that an attempt ended with stands against a late "blocked".
pub async fn truth_an_outcome_is_not_overwritten_by_blocked(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let completed = scene.granted(scene.run(1, "completed").await, "w#1").await;
    scene.complete(&completed).await;
    let failed = scene.granted(scene.run(2, "failed").await, "w#1").await;
    let _ = scene.fail(&failed, "submitted").await;
    let retrying = scene.granted(scene.run(3, "retrying").await, "w#1").await;
    scene.released(&retrying, "submitted", later(seconds(1))).await;
    let waiting = scene.granted(scene.run(4, "waiting").await, "w#1").await;
    scene.released(&waiting, "submitted", Due::Approval).await;
    let cancelled = scene.granted(scene.run(5, "cancelled").await, "w#1").await;
    scene.done(cancelled.run, &lease_core::Action::Cancel).await;
    let revoked = scene.granted(scene.run(6, "revoked").await, "w#1").await;
    scene.done(revoked.run, &lease_core::Action::Revoke { fence: fence(1) }).await;
    for (lease, outcome) in [
        (completed, AttemptOutcome::Completed),
        (failed, AttemptOutcome::Failed),
        (retrying, AttemptOutcome::Retrying),
        (waiting, AttemptOutcome::Waiting),
        (cancelled, AttemptOutcome::Cancelled),
        (revoked, AttemptOutcome::Revoked),
    ] {
        let before = scene.everything(lease.run).await;
        let verdict = judged(scene.store.mark_blocked(&lease, &blocked()).await);
        assert_eq!(verdict, BlockedVerdict::AlreadyEnded(outcome));
        assert_eq!(scene.everything(lease.run).await, before);
    }
}

/// TRUTH: a worker hears nothing of its last request, gives up and records `blocked`; the request
/// lands after that, under the live lease. What it did to the run is the attempt's outcome. Where an
/// operator ends that lease instead, it stays `blocked`.
pub async fn truth_a_request_that_lands_after_its_worker_gave_up_ends_the_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let gave_up = async |number: u128, key: &str| {
        let lease = scene.granted(scene.run(number, key).await, "w#1").await;
        assert_eq!(judged(scene.store.mark_blocked(&lease, &blocked()).await), BlockedVerdict::Recorded);
        lease
    };
    let completed = gave_up(1, "completed").await;
    scene.complete(&completed).await;
    let failed = gave_up(2, "failed").await;
    assert_eq!(scene.fail(&failed, "submitted").await, FailVerdict::Failed);
    let retrying = gave_up(3, "retrying").await;
    scene.released(&retrying, "submitted", later(seconds(1))).await;
    let waiting = gave_up(4, "waiting").await;
    scene.released(&waiting, "submitted", Due::Approval).await;
    let yielded = gave_up(5, "yielded").await;
    scene.released(&yielded, "submitted", Due::Now).await;
    let saved = gave_up(6, "saved").await;
    scene.saved(&saved, "submitted", "a").await;
    let cancelled = gave_up(7, "cancelled").await;
    scene.done(cancelled.run, &lease_core::Action::Cancel).await;
    let revoked = gave_up(8, "revoked").await;
    scene.done(revoked.run, &lease_core::Action::Revoke { fence: fence(1) }).await;
    for (lease, outcome, keeps_the_loss) in [
        (completed, AttemptOutcome::Completed, false),
        (failed, AttemptOutcome::Failed, false),
        (retrying, AttemptOutcome::Retrying, false),
        (waiting, AttemptOutcome::Waiting, false),
        (yielded, AttemptOutcome::Yielded, false),
        (saved, AttemptOutcome::Blocked, true),
        (cancelled, AttemptOutcome::Blocked, true),
        (revoked, AttemptOutcome::Blocked, true),
    ] {
        assert_eq!(scene.outcomes(lease.run).await, [(1, Some(outcome))]);
        let attempts = judged(scene.store.attempts(lease.run).await);
        assert_eq!(attempts[0].reason == Some(blocked()), keeps_the_loss, "{outcome}: {:?}", attempts[0]);
    }
}

/// Case 2. NO-LATE-SAVE: a release or failing that waited for the row past the expiry is refused,
/// and a save that waits behind them is told that the lease is over.
pub async fn case_2_an_end_that_waited_past_the_expiry_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let lease = scene.granted(scene.run(1, "key").await, "w#1").await;
    let Some(mut lock) = scene.lock(lease.run).await else { return };
    let (asked_release, asked_fail) = (release(&lease, "submitted", Due::Now), fail(&lease, "submitted"));
    let freed = async {
        lock.waited_for_by(2).await;
        scene.lapse().await;
        lock.free().await;
    };
    let ends = both(scene.store.release(&asked_release), scene.store.fail(&asked_fail));
    let ((released, failed), ()) = both(ends, freed).await;
    assert_eq!(judged(released), ReleaseVerdict::Refused(expired(seconds(0))));
    assert_eq!(judged(failed), FailVerdict::Refused(expired(seconds(0))));
    let view = scene.view(lease.run).await;
    assert_eq!((view.run.status, view.last_outcome), (Status::Open, None));
    let lease = scene.granted(lease.run, "w#2").await;
    let held = SaveVerdict::Saved(AfterSave::Held { yield_asked: false });
    assert_eq!(scene.save(&lease, "submitted", "a").await, held);
}
