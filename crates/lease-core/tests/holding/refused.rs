//! A refused renewal is the step's result, at the instant it comes, whatever the work has to say.
//!
//! The store is not asked why: it has said so. (An answer that the script does not hold panics.)

use lease_core::{Ending, Guarded, LostReason, under_lease};

use crate::scene::{Scene, confirmed, lost, refused, superseded};
use crate::store::{error, unreachable};

/// Case 10: refused once means lost at once, with no second try.
#[test]
fn case_10_a_refusal_in_the_middle_drops_the_work_at_that_instant() {
    let scene = Scene::new();
    assert_eq!(lost(scene.guard(50, [confirmed(), confirmed(), refused(superseded())])), superseded());
    scene.saw(&["7s renew", "7s work begins", "20s renew", "40s renew", "40s work dropped"]);
}

#[test]
fn a_refusal_that_comes_slowly_drops_the_work_when_it_comes() {
    let scene = Scene::new();
    assert_eq!(
        lost(scene.guard(50, [confirmed(), refused(LostReason::Revoked).after(5)])),
        LostReason::Revoked
    );
    scene.saw(&["7s renew", "7s work begins", "20s renew", "25s work dropped"]);
}

#[test]
fn a_refusal_of_the_first_renewal_means_that_the_work_never_begins() {
    let scene = Scene::new();
    let cancelled = LostReason::Finished(Ending::Cancelled);
    assert_eq!(lost(scene.guard(50, [refused(cancelled.clone())])), cancelled);
    scene.saw(&["7s renew"]);
}

#[test]
fn a_refusal_of_the_last_renewal_outweighs_work_that_returned_something_fine() {
    let scene = Scene::new();
    assert_eq!(lost(scene.guard(10, [confirmed(), refused(superseded())])), superseded());
    scene.saw(&["7s renew", "7s work begins", "17s work ends", "17s renew"]);
}

#[test]
fn a_refusal_of_the_last_renewal_after_an_error_outweighs_it_too() {
    let scene = Scene::new();
    let why = lost(scene.guard(10, [confirmed(), error(unreachable()), refused(superseded())]));
    assert_eq!(why, superseded());
    scene.saw(&["7s renew", "7s work begins", "17s work ends", "17s renew", "18s renew"]);
}

/// The work would be done at 20 s, at which a renewal is sent and refused.
#[test]
fn a_refusal_at_the_instant_at_which_the_work_is_done_wins() {
    let scene = Scene::new();
    assert_eq!(lost(scene.guard(13, [confirmed(), refused(superseded())])), superseded());
    scene.saw(&["7s renew", "7s work begins", "20s renew", "20s work dropped"]);
}

/// The same with a renewal that was sent before, its answer coming at the instant of the work's.
#[test]
fn a_refusal_that_comes_at_the_instant_at_which_the_work_is_done_wins() {
    let scene = Scene::new();
    assert_eq!(lost(scene.guard(18, [confirmed(), refused(superseded()).after(5)])), superseded());
    scene.saw(&["7s renew", "7s work begins", "20s renew", "25s work dropped"]);
}

#[test]
fn a_refusal_in_flight_when_the_work_ends_is_waited_for_and_wins() {
    let scene = Scene::new();
    assert_eq!(lost(scene.guard(18, [confirmed(), refused(superseded()).after(15)])), superseded());
    scene.saw(&["7s renew", "7s work begins", "20s renew", "25s work ends"]);
}

/// The answer is there before the work has let go of the thread, and is looked at first.
#[test]
fn a_refusal_that_came_while_the_work_blocked_the_thread_wins() {
    let scene = Scene::new();
    scene.store.renewals([confirmed(), refused(superseded()).after(5)]);
    let work = async {
        scene.step(13).await;
        scene.blocking_step(10).await
    };
    let guarded = scene.run(under_lease(&scene.store, &scene.clock, scene.lease(), work));
    assert!(matches!(guarded, Guarded::Lost(why) if why == superseded()));
    scene.saw(&[
        "7s renew",
        "7s work begins",
        "20s renew",
        "20s work ends",
        "20s work begins",
        "30s work ends",
    ]);
}
