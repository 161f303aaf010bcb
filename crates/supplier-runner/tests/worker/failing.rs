//! Steps that fail, are tried again, hang and panic.

use lease_core::{AttemptOutcome, Clock, Status};
use lease_fake::{Fault, Operation};
use supplier_runner::step::StepEnd;
use supplier_runner::worker::Take;

use crate::world::{SECOND, World, again, done};

#[tokio::test]
async fn a_step_that_says_later_is_tried_again_after_a_pause() {
    let world = World::new(&["a", "b"], |call| async move {
        if call.fence < 3 && call.phase == "a" { again("not yet") } else { done() }
    });
    let run = world.submit("K").await;
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.completed, report.failed), (1, 0));
    use AttemptOutcome::{Completed, Retrying};
    assert_eq!(world.outcomes(run), [Some(Retrying), Some(Retrying), Some(Completed)]);
    let stored = world.stored(run);
    assert_eq!((stored.run.failures, stored.run.losses), (0, 0));
    let reason = stored.attempts[0].reason.as_ref().unwrap().to_json();
    assert!(reason.contains("not yet") && reason.contains(r#""attempts":1"#), "{reason}");
}

#[tokio::test]
async fn a_step_is_tried_as_often_as_its_policy_says_and_then_fails_the_run() {
    let world = World::new(&["a"], |_| async { again("still down") });
    let run = world.submit("K").await;
    let report = world.work(Take::UntilNoneIsOpen).await;
    assert_eq!((report.completed, report.failed), (0, 1));
    let stored = world.stored(run);
    let failure = stored.run.error.unwrap();
    assert_eq!((stored.run.status, failure.kind.as_str(), failure.attempts), (Status::Failed, "step", 3));
    assert_eq!(failure.message, "still down");
    assert_eq!(world.called().len(), 3);
}

#[tokio::test]
async fn what_a_step_asks_for_is_waited_for() {
    let world = World::new(&["a"], |call| async move {
        let after = Some(SECOND * 300);
        if call.fence == 1 { StepEnd::Again { message: "429".to_owned(), after } } else { done() }
    });
    let run = world.submit("K").await;
    let began = world.clock.now();
    world.work(Take::AsFarAsPossible(vec![run])).await;
    assert!(world.clock.now().since(began) >= SECOND * 300);
}

#[tokio::test]
async fn a_step_that_says_no_fails_the_run_at_once() {
    let world = World::new(&["a"], |_| async {
        StepEnd::Failed { kind: "input", message: "iban: check digits do not match".to_owned() }
    });
    let run = world.submit("K").await;
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!(report.failed, 1);
    assert_eq!(world.called().len(), 1);
    assert_eq!(world.stored(run).run.error.unwrap().kind.as_str(), "input");
    assert_eq!(world.told(run).last().map(String::as_str), Some("run failed"));
}

#[tokio::test]
async fn a_step_that_hangs_is_ended_at_its_time_limit() {
    let world = World::new(&["a"], |_| async { std::future::pending().await });
    let run = world.submit("K").await;
    let began = world.clock.now();
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.failed, report.lost.len()), (1, 0));
    let failure = world.stored(run).run.error.unwrap();
    assert_eq!((failure.kind.as_str(), failure.attempts), ("timeout", 3));
    let took = world.clock.now().since(began);
    assert!(took >= SECOND * 2_700 && took < SECOND * 2_800, "{took:?}");
}

/// Case 9: a panic ends the attempt in good order, and the next claim comes well within a lease.
#[tokio::test]
async fn case_9_a_step_that_panics_is_tried_again() {
    let world = World::new(&["a"], |call| async move {
        assert!(call.fence > 1, "the first attempt panics");
        done()
    });
    let run = world.submit("K").await;
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!(report.completed, 1);
    let reason = world.stored(run).attempts[0].reason.as_ref().unwrap().to_json();
    assert!(reason.contains("the first attempt panics"), "{reason}");
}

/// Case 27: a fail or a release lands, and its answer is lost.
#[tokio::test]
async fn case_27_an_end_whose_answer_was_lost_counts_as_done() {
    let world = World::new(&["a"], |call| async move {
        if call.fence == 1 {
            again("later")
        } else {
            StepEnd::Failed { kind: "step", message: "no".to_owned() }
        }
    });
    let run = world.submit("K").await;
    world.store.order(Operation::Release, &Fault::UnknownAfter, 1);
    world.store.order(Operation::Fail, &Fault::UnknownAfter, 1);
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.failed, report.lost.len()), (1, 0));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Retrying), Some(AttemptOutcome::Failed)]);
    assert_eq!(world.stored(run).run.failures, 1);
}
