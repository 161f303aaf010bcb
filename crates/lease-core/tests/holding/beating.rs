//! The heartbeat around a step whose lease stays good: before, at every interval, right before the
//! end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use lease_core::{Clock, Due, Phase, RenewVerdict, release_lease, save_phase, under_lease};

use crate::scene::{Scene, confirmed, finished, save_of, seconds};
use crate::store::{answer, error, silence, unreachable};

/// Show: before the work, at every multiple of the interval, right before the save.
#[test]
fn a_step_is_renewed_before_it_at_every_interval_and_right_before_its_end() {
    let scene = Scene::new();
    let (lease, value, yield_asked) = finished(scene.guard(50, []));
    scene.saw(&["7s renew", "7s work begins", "20s renew", "40s renew", "57s work ends", "57s renew"]);
    assert_eq!((value, yield_asked), ("fine", false));
    assert_eq!(lease.deadline(), seconds(57 + 54));
    assert_eq!(lease.id(), &scene.lease_id());
}

#[test]
fn a_step_that_returns_at_once_is_renewed_before_and_after_it() {
    let scene = Scene::new();
    let _ = finished(scene.guard(0, []));
    scene.saw(&["7s renew", "7s work begins", "7s work ends", "7s renew"]);
}

#[test]
fn the_work_is_not_begun_before_the_first_renewal_is_confirmed() {
    let scene = Scene::new();
    let replies = [error(unreachable()), answer(RenewVerdict::NotJudged), confirmed().after(3)];
    let _ = finished(scene.guard(1, replies));
    scene.saw(&["7s renew", "8s renew", "9s renew", "12s work begins", "13s work ends", "13s renew"]);
}

/// Case 10: a renewal errors once, then works.
#[test]
fn case_10_a_renewal_that_errors_once_is_sent_again_a_second_later_and_the_step_goes_on() {
    let scene = Scene::new();
    let _ = finished(scene.guard(20, [confirmed(), error(unreachable())]));
    scene.saw(&["7s renew", "7s work begins", "20s renew", "21s renew", "27s work ends", "27s renew"]);
}

#[test]
fn a_renewal_that_was_not_judged_is_sent_again_a_second_later() {
    let scene = Scene::new();
    let not_judged = || answer(RenewVerdict::NotJudged);
    let _ = finished(scene.guard(15, [confirmed(), not_judged(), confirmed(), not_judged()]));
    scene.saw(&[
        "7s renew",
        "7s work begins",
        "20s renew",
        "21s renew",
        "22s work ends",
        "22s renew",
        "23s renew",
    ]);
}

#[test]
fn a_renewal_without_an_answer_is_given_up_after_an_interval_and_another_is_sent() {
    let scene = Scene::new();
    let _ = finished(scene.guard(36, [confirmed(), silence()]));
    scene.saw(&[
        "7s renew",
        "7s work begins",
        "20s renew",
        "40s renew given up",
        "41s renew",
        "43s work ends",
        "43s renew",
    ]);
}

#[test]
fn a_renewal_in_flight_when_the_work_ends_is_waited_for_before_the_last_one_is_sent() {
    let scene = Scene::new();
    let (lease, ..) = finished(scene.guard(18, [confirmed(), confirmed().after(10), confirmed().after(2)]));
    scene.saw(&["7s renew", "7s work begins", "20s renew", "25s work ends", "30s renew"]);
    assert_eq!(scene.clock.now(), seconds(32));
    assert_eq!(lease.deadline(), seconds(30 + 54));
}

/// SELF-STOP: trusted from when the renewal was sent, not from when its answer came.
#[test]
fn self_stop_a_slow_confirmation_counts_from_its_sending() {
    let scene = Scene::new();
    let (lease, ..) = finished(scene.guard(0, [confirmed(), confirmed().after(12)]));
    assert_eq!(scene.clock.now(), seconds(19));
    assert_eq!(lease.deadline(), seconds(7 + 54));
}

/// Case 19: the machine was busy for ten intervals.
#[test]
fn case_19_ten_beats_that_were_missed_are_one_renewal() {
    let scene = Scene::with_beat(2);
    let mut guarded = pin!(under_lease(&scene.store, &scene.clock, scene.lease(), scene.step(25)));
    assert!(scene.run_until(guarded.as_mut(), seconds(9)).is_none());
    scene.clock.advance_to(seconds(29));
    let _ = finished(scene.run(guarded));
    scene.saw(&[
        "7s renew",
        "7s work begins",
        "8s renew",
        "29s renew",
        "30s renew",
        "32s renew",
        "32s work ends",
        "32s renew",
    ]);
}

#[test]
fn a_step_that_blocks_the_thread_of_its_heartbeat_is_renewed_once_when_it_is_done() {
    let scene = Scene::new();
    let step = scene.blocking_step(45);
    let _ = finished(scene.run(under_lease(&scene.store, &scene.clock, scene.lease(), step)));
    scene.saw(&["7s renew", "7s work begins", "52s work ends", "52s renew"]);
}

#[test]
fn the_wish_to_yield_is_handed_on_as_the_last_renewal_says_it() {
    let paused = || answer(RenewVerdict::Renewed { yield_asked: true });
    let (_, _, yield_asked) = finished(Scene::new().guard(20, [confirmed(), confirmed(), paused()]));
    assert!(yield_asked);
    let (_, _, yield_asked) = finished(Scene::new().guard(20, [paused(), paused(), confirmed()]));
    assert!(!yield_asked, "it was resumed since");
}

/// Case 9: the step's future is dropped.
#[test]
fn case_9_dropping_the_future_drops_the_work_and_ends_the_renewals() {
    let scene = Scene::new();
    scene.store.renewals([confirmed(), silence()]);
    {
        let mut guarded = pin!(under_lease(&scene.store, &scene.clock, scene.lease(), scene.step(90)));
        assert!(scene.run_until(guarded.as_mut(), seconds(25)).is_none());
    }
    assert_eq!(scene.clock.sleepers(), 0);
    let lines = scene.log.lines();
    assert_eq!(&lines[..3], ["7s renew", "7s work begins", "20s renew"]);
    let mut ends = lines[3..].to_vec();
    ends.sort();
    assert_eq!(ends, ["25s renew given up", "25s work dropped"]);
}

/// Case 9: the step panics.
#[test]
fn case_9_a_step_that_panics_takes_its_heartbeat_with_it() {
    let scene = Scene::new();
    let guarded = under_lease(&scene.store, &scene.clock, scene.lease(), scene.panicking_step(20));
    let panicked = catch_unwind(AssertUnwindSafe(|| scene.run(guarded)));
    assert!(panicked.is_err());
    scene.saw(&["7s renew", "7s work begins", "20s renew", "27s work dropped"]);
    assert_eq!(scene.clock.sleepers(), 0);
}

/// A worker may run it on an executor with many threads.
#[test]
fn a_step_under_its_heartbeat_and_the_save_after_it_can_move_between_threads() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let scene = Scene::new();
    let (store, clock) = (&scene.store, &scene.clock);
    let (lease, value, _) = finished(scene.run(sent(under_lease(store, clock, scene.lease(), async { 1 }))));
    assert_eq!(value, 1);
    let (deadline, settings) = (lease.deadline(), scene.settings());
    let release = lease.release(Phase::Submitted, Due::Now);
    drop(sent(release_lease(store, clock, deadline, settings, &release)));
    let save = save_of(&scene);
    drop(sent(save_phase(store, clock, scene.lease(), &save)));
}
