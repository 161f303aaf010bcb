//! Releases and failings by the holder, and the mark of one that was turned away:
//! BLOCKED-NOT-FAILED.

use std::time::Duration;

use lease_core::transition::{fail, mark_blocked, release};
use lease_core::{
    Action, AttemptOutcome, BlockedVerdict, ClaimVerdict, Due, Ending, FailVerdict, IdempotencyKey, LeaseId,
    LostReason, ReleaseVerdict, RenewVerdict,
};

use crate::shown::check;
use crate::world::{self, World, at, fence, later, loss, owner, phase};

#[test]
fn a_release_for_now_ends_the_lease_and_the_attempt_and_leaves_the_run_due() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(10);
    check(
        &world.run,
        &release(&world.run, &world::release(&lease, "submitted", Due::Now), world.now),
        &ReleaseVerdict::Released,
        &["hold = 1 a ended: yielded", "attempt 1 ends yielded: -"],
    );
}

#[test]
fn a_release_for_later_counts_a_failure_and_counts_the_delay_by_the_stores_clock() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(10);
    check(
        &world.run,
        &release(&world.run, &world::release(&lease, "submitted", later(5)), world.now),
        &ReleaseVerdict::Released,
        &[
            "hold = 1 a ended: retrying",
            "failures = 1",
            "due = +15s",
            "attempt 1 ends retrying: {\"attempts\":2,\"kind\":\"step\",\"message\":\"said no\",\"phase\":\"b\"}",
        ],
    );
}

#[test]
fn a_release_for_an_approval_makes_the_run_wait() {
    let mut world = World::new();
    let lease = world.granted("a");
    check(
        &world.run,
        &release(&world.run, &world::release(&lease, "submitted", Due::Approval), world.now),
        &ReleaseVerdict::Released,
        &["status = waiting", "hold = 1 a ended: waiting", "attempt 1 ends waiting: -"],
    );
}

#[test]
fn a_failing_fails_the_run_and_ends_the_lease_and_the_attempt() {
    let mut world = World::new();
    let lease = world.granted("a");
    let shown = "{\"attempts\":2,\"kind\":\"step\",\"message\":\"said no\",\"phase\":\"b\"}";
    check(
        &world.run,
        &fail(&world.run, &world::fail(&lease, "submitted"), world.now),
        &FailVerdict::Failed,
        &[
            "status = failed",
            "hold = 1 a ended: failed",
            "error = step failed at b: said no (try 2)",
            &format!("attempt 1 ends failed: {shown}"),
        ],
    );
}

/// Case 27, whatever has come after: the lease stays ended as it was asked.
#[test]
fn truth_case_27_a_release_or_failing_sent_again_is_done_and_writes_nothing() {
    for due in [Due::Now, later(5), Due::Approval] {
        let mut world = World::new();
        let lease = world.granted("a");
        let request = world::release(&lease, "submitted", due);
        let _ = world.write(release(&world.run, &request, world.now));
        world.pass(600);
        let _ = world.act(&Action::Pause);
        let again = release(&world.run, &request, world.now);
        check(&world.run, &again, &ReleaseVerdict::AlreadyReleased, &[]);
    }
    let mut world = World::new();
    let lease = world.granted("a");
    let request = world::fail(&lease, "submitted");
    let _ = world.write(fail(&world.run, &request, world.now));
    check(&world.run, &fail(&world.run, &request, world.now), &FailVerdict::AlreadyFailed, &[]);
    let _ = world.act(&Action::Retry(IdempotencyKey::Same));
    check(&world.run, &fail(&world.run, &request, world.now), &FailVerdict::AlreadyFailed, &[]);
}

#[test]
fn truth_a_lease_that_was_ended_in_another_way_than_asked_is_not_done() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", Due::Now);
    let released = LostReason::Released;
    assert_eq!(world.release(&lease, "submitted", later(5)), ReleaseVerdict::Refused(released.clone()));
    assert_eq!(world.release(&lease, "submitted", Due::Approval), ReleaseVerdict::Refused(released.clone()));
    assert_eq!(world.fail(&lease, "submitted"), FailVerdict::Refused(released));
    let mut failed = World::new();
    let lease = failed.granted("a");
    let _ = failed.fail(&lease, "submitted");
    let finished = LostReason::Finished(Ending::Failed);
    assert_eq!(failed.release(&lease, "submitted", Due::Now), ReleaseVerdict::Refused(finished));
}

/// Cases 1, 4 and 5, with the same owner's name both times, so that only the number can tell.
#[test]
fn blocked_not_failed_cases_1_4_and_5_a_stale_holder_can_neither_release_nor_fail() {
    let mut world = World::new();
    let old = world.granted("same");
    world.pass(60);
    let expired = LostReason::Expired { late_by: Some(Duration::ZERO) };
    let before = world.run.clone();
    for due in [Due::Now, later(5), Due::Approval] {
        assert_eq!(world.release(&old, "submitted", due), ReleaseVerdict::Refused(expired.clone()));
    }
    assert_eq!(world.fail(&old, "submitted"), FailVerdict::Refused(expired));
    assert_eq!(world.run, before);
    let new = world.granted("same");
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("same") };
    let before = world.run.clone();
    assert_eq!(world.release(&old, "submitted", Due::Now), ReleaseVerdict::Refused(superseded.clone()));
    assert_eq!(world.fail(&old, "submitted"), FailVerdict::Refused(superseded));
    assert_eq!(world.run, before);
    assert_eq!(world.renew(&new), RenewVerdict::Renewed { yield_asked: false });
}

/// The newer claim ended in the very way that the older one asks for, under the same owner's name.
#[test]
fn truth_case_4_the_end_of_a_newer_claim_is_not_the_older_ones() {
    let mut world = World::new();
    let old = world.granted("same");
    world.pass(60);
    let new = world.granted("same");
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("same") };
    let mut failed = world.clone();
    let _ = world.release(&new, "submitted", Due::Now);
    assert_eq!(world.release(&old, "submitted", Due::Now), ReleaseVerdict::Refused(superseded.clone()));
    let _ = failed.fail(&new, "submitted");
    assert_eq!(failed.fail(&old, "submitted"), FailVerdict::Refused(superseded));
}

/// A number given out twice: only the owner can tell, before and after the lease's end.
#[test]
fn one_holder_another_owner_with_the_same_number_can_neither_release_nor_fail() {
    let mut world = World::new();
    let mine = world.granted("a");
    let twin = LeaseId { owner: owner("b"), ..mine.clone() };
    let superseded = LostReason::Superseded { by_fence: fence(1), by_owner: owner("a") };
    assert_eq!(world.release(&twin, "submitted", Due::Now), ReleaseVerdict::Refused(superseded.clone()));
    assert_eq!(world.fail(&twin, "submitted"), FailVerdict::Refused(superseded.clone()));
    let mut failed = world.clone();
    let _ = failed.fail(&mine, "submitted");
    assert_eq!(failed.fail(&twin, "submitted"), FailVerdict::Refused(superseded.clone()));
    let _ = world.release(&mine, "submitted", Due::Now);
    assert_eq!(world.release(&twin, "submitted", Due::Now), ReleaseVerdict::Refused(superseded));
}

#[test]
fn in_order_a_release_or_failing_that_names_another_phase_is_a_phase_conflict() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.save(&lease, "submitted", "a", "one");
    let conflict = LostReason::PhaseConflict { expected: phase("submitted"), actual: phase("a") };
    let before = world.run.clone();
    assert_eq!(world.release(&lease, "submitted", later(5)), ReleaseVerdict::Refused(conflict.clone()));
    assert_eq!(world.fail(&lease, "submitted"), FailVerdict::Refused(conflict));
    assert_eq!(world.run, before);
    assert_eq!(world.release(&lease, "a", later(5)), ReleaseVerdict::Released);
}

#[test]
fn blocked_not_failed_an_open_attempt_is_marked_at_the_instant_it_is_told() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(70);
    let before = world.run.clone();
    assert_eq!(world.block(&lease), BlockedVerdict::Recorded);
    assert_eq!(world.attempts[0].end, Some((AttemptOutcome::Blocked, at(1_070))));
    assert_eq!(world.attempts[0].reason, Some(loss()));
    assert_eq!(world.run, before);
    assert_eq!(world.block(&lease), BlockedVerdict::AlreadyEnded(AttemptOutcome::Blocked));
}

#[test]
fn truth_a_superseded_attempt_becomes_blocked_and_keeps_the_instant_of_its_end() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(60);
    let _ = world.granted("b");
    world.pass(30);
    assert_eq!(world.block(&lease), BlockedVerdict::Recorded);
    assert_eq!(world.attempts[0].end, Some((AttemptOutcome::Blocked, at(1_060))));
    assert_eq!(world.attempts[1].end, None);
}

#[test]
fn truth_an_attempt_that_ended_otherwise_keeps_its_outcome() {
    for due in [Due::Now, later(5), Due::Approval] {
        let mut world = World::new();
        let lease = world.granted("a");
        let _ = world.release(&lease, "submitted", due);
        let before = world.attempts.clone();
        let outcome = before[0].outcome().unwrap();
        assert_eq!(world.block(&lease), BlockedVerdict::AlreadyEnded(outcome));
        assert_eq!(world.attempts, before);
    }
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.act(&Action::Cancel);
    assert_eq!(world.block(&lease), BlockedVerdict::AlreadyEnded(AttemptOutcome::Cancelled));
}

#[test]
fn one_holder_the_attempt_of_another_owner_or_number_is_not_marked() {
    let mut world = World::new();
    let lease = world.granted("a");
    let twin = LeaseId { owner: owner("b"), ..lease.clone() };
    let before = world.attempts.clone();
    assert_eq!(world.block(&twin), BlockedVerdict::Gone);
    assert_eq!(world.block(&LeaseId { fence: fence(2), ..lease.clone() }), BlockedVerdict::Gone);
    assert_eq!(mark_blocked(None, &lease, &loss(), world.now), (BlockedVerdict::Gone, None));
    assert_eq!(world.attempts, before);
}

/// Case 32: the forced release names the number that was seen.
#[test]
fn case_32_a_forced_release_of_an_older_number_leaves_the_new_holder_alone() {
    let mut world = World::new();
    let old = world.granted("a");
    world.pass(60);
    let new = world.granted("b");
    let refused = world.act(&Action::Revoke { fence: old.fence });
    assert_ne!(refused, lease_core::OperatorVerdict::Done);
    assert_eq!(world.renew(&new), RenewVerdict::Renewed { yield_asked: false });
    let _ = world.act(&Action::Revoke { fence: new.fence });
    assert_eq!(world.renew(&new), RenewVerdict::Refused(LostReason::Revoked));
    assert!(matches!(world.claim("c"), ClaimVerdict::Granted(_)));
}
