//! A store that does not answer: SELF-STOP at the local deadline, then one question, then the truth.
//!
//! The deadline of these scenes is 61 s: the claim and the first renewal were sent at 7 s, and both
//! are trusted for 54 s.

use std::pin::pin;

use lease_core::{Clock, Guarded, LostReason, RenewVerdict, Standing, StoreError, under_lease};

use crate::scene::{Scene, confirmed, lost, refused, seconds, superseded};
use crate::store::{Reply, answer, error, silence, unreachable};

/// A step of 90 s whose renewals are confirmed once and never answered again.
fn cut_off(standing: Reply<Standing>) -> (Scene, LostReason) {
    let scene = Scene::new();
    scene.store.standing(standing);
    let why = lost(scene.guard(90, [confirmed(), silence(), silence(), silence()]));
    (scene, why)
}

const CUT_OFF: [&str; 8] = [
    "7s renew",
    "7s work begins",
    "20s renew",
    "40s renew given up",
    "41s renew",
    "61s renew given up",
    "61s work dropped",
    "61s ask why",
];

/// Case 10: no answer until the local deadline.
#[test]
fn self_stop_case_10_without_answers_the_work_is_dropped_at_the_deadline_and_only_then_the_store_is_asked() {
    let (scene, why) = cut_off(answer(Standing::Lost(superseded())));
    assert_eq!(why, superseded());
    scene.saw(&CUT_OFF);
    assert_eq!(scene.clock.now(), seconds(61));
}

#[test]
fn truth_a_slow_answer_to_the_question_why_is_waited_for_and_reported() {
    let expired = LostReason::Expired { late_by: None };
    let (scene, why) = cut_off(answer(Standing::Lost(expired.clone())).after(9));
    assert_eq!((why, scene.clock.now()), (expired, seconds(70)));
    scene.saw(&CUT_OFF);
}

#[test]
fn truth_without_an_answer_to_the_question_why_the_reason_is_unconfirmed() {
    let (scene, why) = cut_off(error(unreachable()));
    assert_eq!(why, LostReason::Unconfirmed);
    scene.saw(&CUT_OFF);
    let (scene, why) = cut_off(silence());
    assert_eq!(why, LostReason::Unconfirmed);
    assert_eq!(scene.log.lines().last().map(String::as_str), Some("81s ask why given up"));
}

/// NO-LATE-SAVE, on the worker's side: nothing is saved any more, even if the answer is favourable.
#[test]
fn no_late_save_a_favourable_answer_after_the_deadline_does_not_bring_the_lease_back() {
    let (scene, why) = cut_off(answer(Standing::Held));
    assert_eq!(why, LostReason::Unconfirmed);
    scene.saw(&CUT_OFF);
}

/// Case 10: errors until the local deadline.
#[test]
fn self_stop_case_10_errors_until_the_deadline_are_no_different_from_silence() {
    for cause in [unreachable as fn() -> StoreError, || StoreError::Schema("newer".into())] {
        let scene = Scene::new();
        scene.store.standing(answer(Standing::Lost(superseded())));
        let replies = std::iter::once(confirmed()).chain((20..61).map(|_| error(cause())));
        assert_eq!(lost(scene.guard(90, replies)), superseded());
        let lines = scene.log.lines();
        let tries: Vec<String> = (20..61).map(|second| format!("{second}s renew")).collect();
        assert_eq!(lines[2..lines.len() - 2], tries);
        assert_eq!(lines[lines.len() - 2..], ["61s work dropped", "61s ask why"]);
    }
}

/// Where the store answers, if only with errors, that is told: it was not silent.
#[test]
fn truth_errors_until_the_deadline_are_told_as_errors_where_nobody_knows_more() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    let broken = || error(StoreError::Corrupt("owner is empty".into()));
    let replies = std::iter::once(confirmed()).chain((20..61).map(|_| broken()));
    let LostReason::StoreFailed { message } = lost(scene.guard(90, replies)) else {
        panic!("another reason")
    };
    assert!(message.as_str().ends_with("owner is empty"), "{}", message.as_str());
}

/// Tries fall on the half seconds; the last pause is cut short, so that the work ends on time.
#[test]
fn self_stop_a_pause_between_tries_ends_at_the_deadline() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(superseded())));
    let replies = [confirmed(), error(unreachable()).after_millis(500)];
    let replies = replies.into_iter().chain((0..60).map(|_| error(unreachable())));
    assert_eq!(lost(scene.guard(90, replies)), superseded());
    let lines = scene.log.lines();
    assert_eq!(lines[lines.len() - 3..], ["60.5s renew", "61s work dropped", "61s ask why"]);
}

#[test]
fn self_stop_a_run_whose_row_stays_locked_is_given_up_at_the_deadline() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    let locked = (20..61).map(|_| answer(RenewVerdict::NotJudged));
    assert_eq!(lost(scene.guard(90, std::iter::once(confirmed()).chain(locked))), LostReason::Unconfirmed);
    assert_eq!(scene.log.lines().last().map(String::as_str), Some("61s ask why"));
}

/// The renewal of 20 s is answered at 35 s: trusted until 74 s, not 89 s.
#[test]
fn self_stop_the_deadline_counts_from_when_the_last_confirmed_renewal_was_sent() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    let replies = [confirmed(), confirmed().after(15), silence(), silence()];
    let _ = lost(scene.guard(90, replies));
    scene.saw(&[
        "7s renew",
        "7s work begins",
        "20s renew",
        "40s renew",
        "60s renew given up",
        "61s renew",
        "74s renew given up",
        "74s work dropped",
        "74s ask why",
    ]);
}

/// Sent at 41 s, answered at 61 s: the very instant of the deadline.
#[test]
fn self_stop_a_confirmation_that_comes_at_the_deadline_is_not_trusted() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    assert_eq!(
        lost(scene.guard(90, [confirmed(), silence(), confirmed().after(20)])),
        LostReason::Unconfirmed
    );
    let lines = scene.log.lines();
    assert_eq!(lines[lines.len() - 3..], ["41s renew", "61s work dropped", "61s ask why"]);
}

/// One instant earlier it is.
#[test]
fn a_confirmation_that_comes_just_before_the_deadline_is_trusted() {
    let scene = Scene::new();
    let replies = [confirmed(), silence(), confirmed().after_millis(19_999)];
    assert!(matches!(scene.guard(90, replies), Guarded::Finished { .. }));
}

/// The process was stopped from 45 s to 70 s; the answer of 46 s lay waiting.
#[test]
fn self_stop_an_answer_found_after_the_deadline_is_not_trusted() {
    let scene = Scene::new();
    scene.store.renewals([confirmed(), confirmed(), confirmed().after(6)]);
    scene.store.standing(answer(Standing::Lost(superseded())));
    let mut guarded = pin!(under_lease(&scene.store, &scene.clock, scene.lease(), scene.step(150)));
    assert!(scene.run_until(guarded.as_mut(), seconds(45)).is_none());
    // Renewals were confirmed up to the one of 20 s: the deadline is at 74 s.
    scene.clock.advance_to(seconds(80));
    assert_eq!(lost(scene.run(guarded)), superseded());
    scene.saw(&["7s renew", "7s work begins", "20s renew", "40s renew", "80s work dropped", "80s ask why"]);
}

/// TRUTH: a refusal is the true reason whenever it comes.
#[test]
fn truth_a_refusal_that_comes_at_the_deadline_is_the_reason() {
    let scene = Scene::new();
    assert_eq!(
        lost(scene.guard(90, [confirmed(), silence(), refused(superseded()).after(20)])),
        superseded()
    );
    assert_eq!(scene.log.lines().last().map(String::as_str), Some("61s work dropped"));
}

#[test]
fn self_stop_work_that_was_done_in_time_is_lost_all_the_same_if_the_last_renewal_stays_unanswered() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    assert_eq!(
        lost(scene.guard(10, [confirmed(), silence(), silence(), silence()])),
        LostReason::Unconfirmed
    );
    scene.saw(&[
        "7s renew",
        "7s work begins",
        "17s work ends",
        "17s renew",
        "37s renew given up",
        "38s renew",
        "58s renew given up",
        "59s renew",
        "61s renew given up",
        "61s ask why",
    ]);
}

#[test]
fn self_stop_work_that_blocked_its_heartbeat_past_the_deadline_is_lost_with_its_result() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(superseded())));
    let step = scene.blocking_step(54);
    let guarded = scene.run(under_lease(&scene.store, &scene.clock, scene.lease(), step));
    assert_eq!(lost(guarded), superseded());
    scene.saw(&["7s renew", "7s work begins", "61s work ends", "61s ask why"]);
}

#[test]
fn self_stop_a_lease_whose_deadline_has_passed_before_the_step_begins_nothing() {
    let scene = Scene::new();
    scene.clock.advance_to(seconds(61));
    scene.store.standing(answer(Standing::Lost(LostReason::Gone)));
    assert_eq!(lost(scene.guard(5, [])), LostReason::Gone);
    scene.saw(&["61s ask why"]);
}

#[test]
fn self_stop_a_first_renewal_that_is_never_answered_means_that_the_work_never_begins() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    assert_eq!(lost(scene.guard(5, [silence(), silence(), silence()])), LostReason::Unconfirmed);
    assert!(!scene.log.lines().iter().any(|line| line.contains("work")));
    assert_eq!(scene.clock.now(), seconds(61));
}
