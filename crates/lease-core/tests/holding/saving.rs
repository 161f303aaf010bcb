//! Saving under a lease, when answers get lost: TRUTH about what landed, SELF-STOP at the deadline.
//!
//! The deadline is 61 s: the claim was sent at 7 s.

use lease_core::{
    AfterSave, Clock, Ending, LostReason, SaveEnd, SaveFate, SaveVerdict, Standing, StoreError, save_phase,
};

use crate::scene::{Scene, save_of, seconds, superseded};
use crate::store::{Reply, answer, answer_lost, error, not_applied, silence, unreachable};

const HELD: AfterSave = AfterSave::Held { yield_asked: false };

fn save(scene: &Scene, replies: impl IntoIterator<Item = Reply<SaveVerdict>>) -> SaveEnd {
    scene.store.saves(replies);
    let save = save_of(scene);
    let end = scene.run(save_phase(&scene.store, &scene.clock, scene.lease(), &save));
    assert_eq!(scene.clock.sleepers(), 0, "nothing is left behind");
    assert!(scene.store.saves_sent().iter().all(|sent| *sent == save), "the very same request each time");
    end
}

/// Errors from 7 s on, one a second, until the deadline.
fn until_the_deadline(cause: fn() -> StoreError) -> Vec<Reply<SaveVerdict>> {
    (7..61).map(|_| error(cause())).collect()
}

#[test]
fn self_stop_a_save_moves_the_deadline_from_when_it_was_sent() {
    let scene = Scene::new();
    let end = save(&scene, [answer(SaveVerdict::Saved(AfterSave::Held { yield_asked: true })).after(9)]);
    let SaveEnd::Held { lease, yield_asked: true } = end else { panic!("{end:?}") };
    assert_eq!(lease.deadline(), seconds(7 + 54));
    let scene = Scene::new();
    let end = save(&scene, [error(unreachable()), answer(SaveVerdict::Saved(HELD)).after(9)]);
    let SaveEnd::Held { lease, yield_asked: false } = end else { panic!("{end:?}") };
    assert_eq!(lease.deadline(), seconds(8 + 54));
}

/// The lease was extended when the save landed, and nobody knows when that was.
#[test]
fn self_stop_a_save_found_to_have_landed_before_does_not_move_the_deadline() {
    let scene = Scene::new();
    let end = save(&scene, [error(answer_lost()), answer(SaveVerdict::AlreadySaved(HELD))]);
    let SaveEnd::Held { lease, yield_asked: false } = end else { panic!("{end:?}") };
    assert_eq!(lease.deadline(), seconds(61));
    scene.saw(&["7s save", "8s save"]);
}

#[test]
fn a_save_without_an_answer_is_given_up_after_an_interval_and_sent_again() {
    let scene = Scene::new();
    let end = save(&scene, [silence(), answer(SaveVerdict::AlreadySaved(AfterSave::Completed))]);
    assert!(matches!(end, SaveEnd::Completed), "{end:?}");
    scene.saw(&["7s save", "27s save given up", "28s save"]);
}

#[test]
fn a_save_that_was_not_applied_is_sent_again() {
    let scene = Scene::new();
    let end = save(&scene, [error(not_applied()), answer(SaveVerdict::Saved(AfterSave::Completed))]);
    assert!(matches!(end, SaveEnd::Completed), "{end:?}");
    scene.saw(&["7s save", "8s save"]);
}

#[test]
fn a_refused_save_is_lost_at_once_and_the_reason_is_the_stores() {
    let scene = Scene::new();
    let end = save(&scene, [answer(SaveVerdict::Refused(superseded()))]);
    assert!(
        matches!(&end, SaveEnd::Lost { why, save: SaveFate::NotSaved } if *why == superseded()),
        "{end:?}"
    );
    scene.saw(&["7s save"]);
}

#[test]
fn truth_a_save_that_landed_under_a_lease_lost_since_is_told_as_both() {
    for lost in [SaveVerdict::Saved, SaveVerdict::AlreadySaved] {
        let end = save(&Scene::new(), [answer(lost(AfterSave::Lost(superseded())))]);
        assert!(
            matches!(&end, SaveEnd::Lost { why, save: SaveFate::Saved } if *why == superseded()),
            "{end:?}"
        );
    }
}

#[test]
fn refused_effects_give_the_lease_back_for_the_step_to_fail_under_it() {
    let scene = Scene::new();
    let end = save(&scene, [answer(SaveVerdict::EffectRefused { message: "taken".to_owned() }).after(3)]);
    let SaveEnd::EffectRefused { lease, message, save: SaveFate::NotSaved } = end else { panic!("{end:?}") };
    assert_eq!((lease.id(), lease.deadline()), (&scene.lease_id(), seconds(61)));
    assert_eq!(message, "taken");
}

#[test]
fn an_error_that_trying_again_does_not_help_ends_the_save_at_once() {
    for (cause, fate) in [
        (StoreError::Schema("broken".into()), SaveFate::NotSaved),
        (StoreError::Corrupt("broken".into()), SaveFate::Unknown),
        (StoreError::Unexpected("broken".into()), SaveFate::NotSaved),
    ] {
        let scene = Scene::new();
        let end = save(&scene, [error(cause)]);
        assert!(matches!(&end, SaveEnd::Error { save, .. } if *save == fate), "{end:?}");
        scene.saw(&["7s save"]);
    }
}

/// What an earlier try may have done is not undone by a later one that is refused.
#[test]
fn truth_an_error_after_a_lost_answer_leaves_the_saves_fate_unknown() {
    let end = save(&Scene::new(), [error(answer_lost()), error(StoreError::Unexpected("broken".into()))]);
    assert!(matches!(&end, SaveEnd::Error { save: SaveFate::Unknown, .. }), "{end:?}");
}

#[test]
fn self_stop_from_the_deadline_on_nothing_is_sent_but_the_question_why() {
    let scene = Scene::new();
    scene.clock.advance_to(seconds(61));
    scene.store.standing(answer(Standing::Lost(superseded())));
    let end = save(&scene, []);
    assert!(
        matches!(&end, SaveEnd::Lost { why, save: SaveFate::NotSaved } if *why == superseded()),
        "{end:?}"
    );
    scene.saw(&["61s ask why"]);
}

/// Tries fall on the half seconds; the last pause and the last try end with the deadline.
#[test]
fn self_stop_the_last_pause_ends_at_the_deadline() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(superseded())));
    let mut replies = until_the_deadline(unreachable);
    replies[0] = error(unreachable()).after_millis(500);
    let _ = save(&scene, replies);
    let lines = scene.log.lines();
    assert_eq!(lines[lines.len() - 2..], ["60.5s save", "61s ask why"]);
}

#[test]
fn self_stop_the_last_try_is_given_up_at_the_deadline() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Held));
    let _ = save(&scene, [silence(), silence(), silence()]);
    scene.saw(&[
        "7s save",
        "27s save given up",
        "28s save",
        "48s save given up",
        "49s save",
        "61s save given up",
        "61s ask why",
    ]);
}

/// Never reached, or not applied: nothing can have landed, so the store's word is the whole truth.
#[test]
fn truth_a_save_that_cannot_have_landed_is_lost_for_the_reason_that_the_store_gives() {
    for cause in [unreachable as fn() -> StoreError, not_applied] {
        for (standing, expected) in [
            (answer(Standing::Lost(superseded())), superseded()),
            (answer(Standing::Lost(finished(Ending::Completed))), finished(Ending::Completed)),
            (answer(Standing::Held), LostReason::Unconfirmed),
            (error(unreachable()), LostReason::Unconfirmed),
            (silence(), LostReason::Unconfirmed),
        ] {
            let scene = Scene::new();
            scene.store.standing(standing);
            let end = save(&scene, until_the_deadline(cause));
            assert!(
                matches!(&end, SaveEnd::Lost { why, save: SaveFate::NotSaved } if *why == expected),
                "{end:?}"
            );
        }
    }
}

/// How the lease stands since, and that nobody knows of the save, are two truths.
#[test]
fn truth_a_save_of_unknown_fate_is_told_beside_what_became_of_the_lease() {
    for (standing, expected) in [
        (answer(Standing::Lost(superseded())), superseded()),
        (answer(Standing::Lost(finished(Ending::Failed))), finished(Ending::Failed)),
        (answer(Standing::Lost(finished(Ending::Cancelled))), finished(Ending::Cancelled)),
        (answer(Standing::Held), LostReason::Unconfirmed),
        (error(unreachable()), LostReason::Unconfirmed),
        (silence(), LostReason::Unconfirmed),
    ] {
        let scene = Scene::new();
        scene.store.standing(standing);
        let end = save(&scene, until_the_deadline(answer_lost));
        assert!(
            matches!(&end, SaveEnd::Lost { why, save: SaveFate::Unknown } if *why == expected),
            "{end:?}"
        );
    }
}

/// One lost answer is enough, and what comes after it does not take it back.
#[test]
fn truth_a_try_that_may_have_landed_stays_so_when_later_tries_cannot_have() {
    for first in [error(answer_lost()), silence()] {
        let scene = Scene::new();
        scene.store.standing(answer(Standing::Held));
        let mut replies = until_the_deadline(not_applied);
        replies[0] = first;
        let end = save(&scene, replies);
        assert!(
            matches!(&end, SaveEnd::Lost { why: LostReason::Unconfirmed, save: SaveFate::Unknown }),
            "{end:?}"
        );
    }
}

/// Case 26: only a save under this very lease can have completed the run with its number.
#[test]
fn truth_case_26_a_completion_learnt_after_the_deadline_is_this_save() {
    let scene = Scene::new();
    scene.store.standing(answer(Standing::Lost(finished(Ending::Completed))).after(3));
    let end = save(&scene, until_the_deadline(answer_lost));
    assert!(matches!(end, SaveEnd::Completed), "{end:?}");
    assert_eq!(scene.clock.now(), seconds(64));
}

/// A later refusal says how the lease stands, and nothing of what an earlier try did: the next holder
/// may have saved on, so that the store cannot tell any more either.
#[test]
fn truth_a_refusal_after_a_lost_answer_leaves_the_saves_fate_unknown() {
    for first in [error(answer_lost()), silence()] {
        let end = save(&Scene::new(), [first, answer(SaveVerdict::Refused(superseded()))]);
        assert!(
            matches!(&end, SaveEnd::Lost { why, save: SaveFate::Unknown } if *why == superseded()),
            "{end:?}"
        );
    }
}

fn finished(ending: Ending) -> LostReason {
    LostReason::Finished(ending)
}
