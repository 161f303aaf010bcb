//! Claims: what they write, in which order they are refused, losses, and the top of the numbers.
//!
//! FENCE-UP, ONE-HOLDER and RESUME by single steps; `histories` has them at random.

use std::time::Duration;

use lease_core::transition::claim;
use lease_core::{
    Action, AttemptOutcome, BlockedVerdict, ClaimVerdict, Due, Ending, Failure, FailureKind, FencingToken,
    Hold, IdempotencyKey, LeaseId, OperatorVerdict, SaveVerdict, Standing,
};

use crate::shown::{check, writes};
use crate::world::{self, World, at, fence, job_of, later, name, owner, phase, plan};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn fence_up_the_first_claim_of_a_run_gets_number_one_and_a_whole_ttl() {
    let world = World::new();
    let decision = claim(&world.run, &world::claim(&world.run, "a"), world.now);
    assert_eq!(writes(&world.run, &decision), ["hold = 1 a until +60s", "attempt 1 of a at submitted, +0s"]);
    let grant = job_of(decision.verdict);
    assert_eq!(grant.lease, LeaseId { run: world.run.id, owner: owner("a"), fence: FencingToken::FIRST });
    assert_eq!((grant.job.phase.clone(), grant.job.next_phase()), (phase("submitted"), Some(&name("a"))));
    assert_eq!(grant.job.input, world.run.input);
}

/// Case 6: released, and claimed by another at once.
#[test]
fn resume_case_6_the_claim_after_a_release_goes_on_after_the_last_saved_phase() {
    let mut world = World::new();
    let first = world.granted("a");
    let _ = world.save(&first, "submitted", "a", "one");
    let _ = world.release(&first, "a", Due::Now);
    let decision = claim(&world.run, &world::claim(&world.run, "b"), world.now);
    assert_eq!(
        writes(&world.run, &decision),
        ["hold = 2 b until +60s", "attempts to 1 superseded", "attempt 2 of b at a, +0s"]
    );
    let grant = job_of(world.write(decision));
    assert_eq!((grant.job.phase, grant.job.losses), (phase("a"), 0));
    assert_eq!(world.attempts[0].outcome(), Some(AttemptOutcome::Yielded));
}

/// Case 7: a row exactly as a killed worker leaves it, an hour old.
#[test]
fn case_7_a_lapsed_lease_is_taken_over_with_the_next_number_and_counted_as_a_loss() {
    let mut world = World::new();
    let killed = world.granted("a");
    let _ = world.save(&killed, "submitted", "a", "one");
    world.pass(3_600);
    let decision = claim(&world.run, &world::claim(&world.run, "b"), world.now);
    assert_eq!(
        writes(&world.run, &decision),
        ["hold = 2 b until +3660s", "losses = 1", "attempts to 1 superseded", "attempt 2 of b at a, +3600s"]
    );
    let grant = job_of(world.write(decision));
    assert_eq!((grant.job.phase, grant.job.losses), (phase("a"), 1));
    assert_eq!(world.attempts[0].end, Some((AttemptOutcome::Superseded, at(4_600))));
}

#[test]
fn one_holder_a_live_lease_is_busy_until_the_very_instant_of_its_expiry() {
    let mut world = World::new();
    let _ = world.granted("a");
    world.pass(59);
    let busy = ClaimVerdict::Busy { owner: owner("a"), fence: fence(1), remaining: SECOND };
    check(&world.run, &claim(&world.run, &world::claim(&world.run, "b"), world.now), &busy, &[]);
    world.pass(1);
    assert_eq!(world.granted("b").fence, fence(2));
}

/// Case 8, with the racing claims in the order in which the row's lock lets them through.
#[test]
fn one_holder_case_8_of_twenty_claims_at_one_instant_the_first_is_granted_and_the_rest_are_busy() {
    let mut world = World::new();
    let _ = world.granted("dead");
    world.pass(60);
    let verdicts: Vec<_> = (0..20).map(|worker| world.claim(&format!("w{worker}"))).collect();
    assert!(matches!(&verdicts[0], ClaimVerdict::Granted(grant) if grant.lease.fence == fence(2)));
    let busy = ClaimVerdict::Busy { owner: owner("w0"), fence: fence(2), remaining: SECOND * 60 };
    assert!(verdicts[1..].iter().all(|verdict| *verdict == busy));
}

/// Each refusal in its turn, the next one behind it as soon as the cause of this one is gone.
#[test]
fn a_claim_is_refused_for_the_most_telling_reason() {
    let mut world = World::new();
    let stranger = plan("does something else").id;
    let lease = world.granted("a");
    let _ = world.act(&Action::Pause);
    let ask = |world: &World, known: bool| {
        let mut request = world::claim(&world.run, "b");
        if !known {
            request.plans = vec![stranger.digest];
        }
        let decision = claim(&world.run, &request, world.now);
        assert!(decision.change.is_none(), "{decision:?}");
        decision.verdict
    };
    let unknown = ClaimVerdict::UnknownPlan(world.run.plan.id.clone());
    assert_eq!(ask(&world, false), unknown);
    let busy = ClaimVerdict::Busy { owner: owner("a"), fence: fence(1), remaining: SECOND * 60 };
    assert_eq!(ask(&world, true), busy);
    let mut waiting = world.clone();
    let _ = waiting.release(&lease, "submitted", Due::Approval);
    assert_eq!(ask(&waiting, true), ClaimVerdict::Waiting { phase: name("a") });
    let _ = world.release(&lease, "submitted", later(5));
    assert_eq!(ask(&world, true), ClaimVerdict::Paused);
    let _ = world.act(&Action::Resume);
    assert_eq!(ask(&world, true), ClaimVerdict::NotDue { due_in: SECOND * 5 });
    assert_eq!(ask(&world, false), unknown);
    let _ = world.act(&Action::Cancel);
    assert_eq!(ask(&world, true), ClaimVerdict::Finished(Ending::Cancelled));
    assert_eq!(ask(&world, false), ClaimVerdict::Finished(Ending::Cancelled));
}

#[test]
fn a_run_that_was_put_off_is_claimed_from_the_instant_it_falls_due() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", later(5));
    world.pass(4);
    assert_eq!(world.claim("b"), ClaimVerdict::NotDue { due_in: SECOND });
    world.pass(1);
    let grant = job_of(world.claim("b"));
    assert_eq!((grant.job.failures, grant.job.losses), (1, 0));
}

/// Case 29: each attempt reads `blocked`, and still the run is set aside after the limit.
#[test]
fn case_29_a_run_that_keeps_losing_its_workers_is_set_aside_with_no_new_number() {
    let mut world = World::new();
    for _ in 0..=world::LOSS_LIMIT {
        let lease = world.granted("stalls");
        world.pass(61);
        let before = world.run.clone();
        assert_eq!(world.block(&lease), BlockedVerdict::Recorded);
        assert_eq!(world.run, before);
    }
    let message = "its lease ran out 3 times in a row at this phase";
    let failure = Failure::new(name("a"), FailureKind::SET_ASIDE, message, 3);
    check(
        &world.run,
        &claim(&world.run, &world::claim(&world.run, "next"), world.now),
        &ClaimVerdict::SetAside(failure),
        &[
            "status = failed",
            "hold = 3 stalls ended: lapsed",
            "losses = 3",
            &format!("error = set_aside failed at a: {message} (try 3)"),
            "attempts to 3 superseded",
        ],
    );
    let _ = world.claim("next");
    assert!(world.attempts.iter().all(|attempt| attempt.outcome() == Some(AttemptOutcome::Blocked)));
    assert_eq!(world.act(&Action::Retry(IdempotencyKey::Same)), OperatorVerdict::Done);
    let grant = job_of(world.claim("after retry"));
    assert_eq!((grant.lease.fence, grant.job.losses), (fence(4), 0));
}

#[test]
fn a_saved_phase_starts_the_count_of_losses_and_failures_anew() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", later(0));
    let _ = world.granted("b");
    world.pass(60);
    let lease = world.granted("c");
    assert_eq!((world.run.losses, world.run.failures), (1, 1));
    assert!(matches!(world.save(&lease, "submitted", "a", "one"), SaveVerdict::Saved(_)));
    assert_eq!((world.run.losses, world.run.failures), (0, 0));
}

/// Losses and failures are counted apart: a loss is not a failed try, nor the other way round.
#[test]
fn a_release_is_no_loss_and_a_loss_is_no_failure() {
    let mut world = World::new();
    for _ in 0..=world::LOSS_LIMIT {
        let lease = world.granted("a");
        let _ = world.release(&lease, "submitted", Due::Now);
    }
    assert_eq!((world.run.losses, world.run.failures), (0, 0));
    let lease = world.granted("a");
    let _ = world.act(&Action::Revoke { fence: lease.fence });
    world.pass(600);
    let _ = world.granted("b");
    assert_eq!((world.run.losses, world.run.failures), (0, 0));
}

/// Case 11: the numbers past which a 32-bit counter or a JavaScript number goes wrong.
#[test]
fn case_11_claim_renew_save_and_release_are_exact_at_two_to_the_31_and_53_and_at_the_top() {
    for current in [(1 << 31) - 1, (1 << 53) - 1, (1 << 53), FencingToken::LAST.get() - 1] {
        let mut world = with_fence(current);
        let lease = world.granted("a");
        assert_eq!(lease.fence, fence(current + 1));
        assert!(matches!(world.renew(&lease), lease_core::RenewVerdict::Renewed { .. }));
        assert!(matches!(world.save(&lease, "submitted", "a", "one"), SaveVerdict::Saved(_)));
        assert_eq!(world.receipts[0].fence, lease.fence);
        assert_eq!(world.standing(&LeaseId { fence: fence(current), ..lease.clone() }), superseded(&lease));
        assert_eq!(world.release(&lease, "a", Due::Now), lease_core::ReleaseVerdict::Released);
    }
}

/// Case 11.
#[test]
fn case_11_a_run_with_no_number_left_is_set_aside_with_a_clear_error() {
    let mut world = with_fence(FencingToken::LAST.get());
    let verdict = world.claim("a");
    let ClaimVerdict::SetAside(failure) = verdict else { panic!("not set aside: {verdict:?}") };
    assert_eq!(failure.kind.as_str(), FailureKind::FENCE_EXHAUSTED);
    assert_eq!(
        failure.message,
        "its fencing token stands at the top of its range, so it cannot be claimed again"
    );
    assert_eq!(world.run.hold.fence(), Some(FencingToken::LAST));
    assert_eq!(world.run.error, Some(failure));
}

fn with_fence(current: u64) -> World {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", Due::Now);
    let Hold::Ended { owner, how, .. } = world.run.hold.clone() else { panic!("the lease was ended") };
    world.run.hold = Hold::Ended { fence: fence(current), owner, how };
    world
}

fn superseded(by: &LeaseId) -> Standing {
    Standing::Lost(lease_core::LostReason::Superseded { by_fence: by.fence, by_owner: by.owner.clone() })
}
