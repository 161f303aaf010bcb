//! Releasing and failing under a lease, when answers get lost (case 27).
//!
//! The deadline is 61 s: the claim was sent at 7 s.

use lease_core::{
    Due, Ended, Ending, FailVerdict, Failure, FailureKind, LostReason, Phase, PhaseName, ReleaseVerdict,
    Standing, StoreError, fail_run, give_back, give_up, release_lease,
};

use crate::scene::{Scene, seconds, superseded};
use crate::store::{Reply, answer, answer_lost, error, not_applied, silence, unreachable};

fn release(scene: &Scene, replies: impl IntoIterator<Item = Reply<ReleaseVerdict>>) -> Ended {
    scene.store.releases(replies);
    let lease = scene.lease();
    let deadline = lease.deadline();
    let release = lease.release(Phase::Submitted, Due::Now);
    let clock = &scene.clock;
    scene.run(release_lease(&scene.store, clock, deadline, scene.settings(), &release))
}

fn fail(scene: &Scene, replies: impl IntoIterator<Item = Reply<FailVerdict>>) -> Ended {
    scene.store.fails(replies);
    let lease = scene.lease();
    let deadline = lease.deadline();
    let failure = Failure::new(PhaseName::new("a").expect("a phase name"), FailureKind::STEP, "said no", 1);
    let fail = lease.fail(Phase::Submitted, failure);
    let clock = &scene.clock;
    scene.run(fail_run(&scene.store, clock, deadline, scene.settings(), &fail))
}

fn errors<V>(cause: fn() -> StoreError) -> Vec<Reply<V>> {
    (7..61).map(|_| error(cause())).collect()
}

fn failed() -> LostReason {
    LostReason::Finished(Ending::Failed)
}

fn is_lost(end: &Ended, expected: &LostReason) -> bool {
    matches!(end, Ended::Lost(why) if why == expected)
}

#[test]
fn case_27_a_release_or_failing_is_done_when_it_lands_and_when_it_had_landed_before() {
    for verdict in [ReleaseVerdict::Released, ReleaseVerdict::AlreadyReleased] {
        let scene = Scene::new();
        let end = release(&scene, [error(answer_lost()), silence(), answer(verdict)]);
        assert!(matches!(end, Ended::Done), "{end:?}");
        scene.saw(&["7s release", "8s release", "28s release given up", "29s release"]);
    }
    for verdict in [FailVerdict::Failed, FailVerdict::AlreadyFailed] {
        let scene = Scene::new();
        let end = fail(&scene, [error(not_applied()), answer(verdict)]);
        assert!(matches!(end, Ended::Done), "{end:?}");
        scene.saw(&["7s fail", "8s fail"]);
    }
}

#[test]
fn truth_a_refusal_is_a_lost_lease_at_once() {
    let scene = Scene::new();
    let end = release(&scene, [answer(ReleaseVerdict::Refused(superseded()))]);
    assert!(is_lost(&end, &superseded()), "{end:?}");
    scene.saw(&["7s release"]);
    let scene = Scene::new();
    let end = fail(&scene, [answer(FailVerdict::Refused(superseded()))]);
    assert!(is_lost(&end, &superseded()), "{end:?}");
    scene.saw(&["7s fail"]);
}

#[test]
fn an_error_that_trying_again_does_not_help_ends_it_at_once() {
    let broken = || StoreError::Corrupt("broken".into());
    assert!(matches!(release(&Scene::new(), [error(broken())]), Ended::Error(_)));
    assert!(matches!(fail(&Scene::new(), [error(broken())]), Ended::Error(_)));
}

#[test]
fn self_stop_nothing_is_sent_from_the_deadline_on_but_the_question_why() {
    let scene = Scene::new();
    scene.clock.advance_to(seconds(61));
    scene.store.standing(answer(Standing::Lost(superseded())));
    assert!(is_lost(&release(&scene, []), &superseded()));
    scene.saw(&["61s ask why"]);
}

/// Case 27, with no answer at all before the deadline.
#[test]
fn truth_case_27_the_own_end_learnt_after_the_deadline_is_done() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(LostReason::Released)));
    assert!(matches!(release(&scene, errors(answer_lost)), Ended::Done));
}

/// A run that is found failed after the deadline was failed by this request, or by a claim that set it
/// aside: nothing on the run tells which, so it is not claimed as the own end.
#[test]
fn truth_a_run_found_failed_is_not_claimed_as_the_own_end() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(failed())));
    assert!(is_lost(&fail(&scene, errors(answer_lost)), &failed()));
}

#[test]
fn truth_another_end_than_the_own_is_a_lost_lease() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(failed())));
    assert!(is_lost(&release(&scene, errors(answer_lost)), &failed()));
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(LostReason::Released)));
    assert!(is_lost(&fail(&scene, errors(answer_lost)), &LostReason::Released));
}

/// What cannot have landed is not the cause of an end that looks like it.
#[test]
fn truth_an_end_that_was_never_sent_is_not_claimed_as_the_own() {
    for cause in [unreachable as fn() -> StoreError, not_applied] {
        let scene = Scene::new();
        scene.store.standing(answer(Standing::Lost(failed())));
        assert!(is_lost(&fail(&scene, errors(cause)), &failed()));
        let scene = Scene::new();
        scene.store.standing(answer(Standing::Lost(LostReason::Released)));
        assert!(is_lost(&release(&scene, errors(cause)), &LostReason::Released));
    }
}

#[test]
fn truth_without_an_answer_nothing_is_claimed() {
    for standing in [answer(Standing::Held), error(unreachable()), silence()] {
        let scene = Scene::new();
        scene.store.standing(standing);
        assert!(is_lost(&release(&scene, errors(answer_lost)), &LostReason::Unconfirmed));
    }
    let scene = Scene::new();
    scene.store.standing(silence());
    assert!(is_lost(&fail(&scene, errors(answer_lost)), &LostReason::Unconfirmed));
}

/// The short forms take the deadline and the times from the lease.
#[test]
fn giving_a_lease_back_or_a_run_up_ends_with_the_leases_own_deadline() {
    let scene = Scene::new();
    scene.store.releases([silence(), answer(ReleaseVerdict::Released)]);
    let back = give_back(&scene.store, &scene.clock, scene.lease(), Phase::Submitted, Due::Now);
    assert!(matches!(scene.run(back), Ended::Done));
    scene.saw(&["7s release", "27s release given up", "28s release"]);
    let scene = Scene::new();
    scene.store.fails(errors(unreachable));
    scene.store.standing(answer(Standing::Lost(superseded())));
    let failure = Failure::new(PhaseName::new("a").unwrap(), FailureKind::STEP, "said no", 1);
    let up = give_up(&scene.store, &scene.clock, scene.lease(), Phase::Submitted, failure);
    assert!(is_lost(&scene.run(up), &superseded()));
    assert_eq!(scene.log.lines().last().map(String::as_str), Some("61s ask why"));
}
