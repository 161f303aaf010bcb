//! Answers that get lost and errors that asking again does not help: what the worker reports then is
//! what became of it, and where nobody knows it says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lease_core::{
    Action, AttemptOutcome, Claim, ClaimVerdict, Clock, Document, IdempotencyKey, LeaseStore, LossLimit,
    Operator, OwnerId, Status, Ttl, Who,
};
use lease_fake::{Fault, Operation, Until};
use supplier_runner::step::StepEnd;
use supplier_runner::worker::{Event, EventKind, Events, NoEvents, RunStand, Take};

use crate::world::{SECOND, TTL, World, again, done};

/// Every answer to `operation` gets lost, though the first request takes effect; and nobody can say
/// why the lease is lost.
fn lose_answers(world: &World, operation: Operation) {
    world.store.order(operation, &Fault::UnknownAfter, 1);
    world.store.order(operation, &Fault::UnknownBefore, 1_000);
    world.store.order(Operation::Standing, &Fault::Unreachable, 1_000);
}

fn reason(world: &World, run: lease_core::RunId) -> Document {
    world.stored(run).attempts[0].reason.clone().expect("the attempt has a reason")
}

/// Cases 26 and 27: what the attempt's own record says counts, also where no other answer came.
#[tokio::test]
async fn truth_a_completion_whose_answers_got_lost_is_reported_completed() {
    let world = World::new(&["a"], |_| async { done() });
    let run = world.submit("K").await;
    lose_answers(&world, Operation::Save);
    let report = world.work(Take::Only(run)).await;
    assert_eq!((report.completed, report.lost.len()), (1, 0));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Completed)]);
    let told = world.told(run);
    assert_eq!(told[told.len() - 3..], ["saved a", "attempt completed", "run completed"]);
}

#[tokio::test]
async fn truth_a_failing_whose_answers_got_lost_is_reported_failed() {
    let world = World::new(&["a"], |_| async {
        StepEnd::Failed { kind: "step", message: "unknown to the portal".to_owned() }
    });
    let run = world.submit("K").await;
    lose_answers(&world, Operation::Fail);
    let report = world.work(Take::Only(run)).await;
    assert_eq!((report.failed, report.lost.len()), (1, 0));
    assert_eq!(world.told(run).last().map(String::as_str), Some("run failed"));
}

#[tokio::test]
async fn truth_a_release_whose_answers_got_lost_is_no_loss() {
    let world =
        World::new(&["a"], |call| async move { if call.fence == 1 { again("later") } else { done() } });
    let run = world.submit("K").await;
    lose_answers(&world, Operation::Release);
    let at_work = world.start(Take::Only(run));
    world.until("the release to be given up", || world.told(run).len() >= 3).await;
    world.store.no_more_faults();
    let report = world.end_of(at_work).await;
    assert_eq!((report.completed, report.lost.len()), (1, 0));
    assert_eq!(world.told(run)[2], "attempt retrying");
    assert_eq!(
        world.outcomes(run),
        [Some(AttemptOutcome::Retrying), Some(AttemptOutcome::Completed)],
        "and the attempt is not called blocked"
    );
}

/// A save that landed in the middle of the plan completes nothing: its fate stays unknown to the
/// worker, and the next claim goes on after it.
#[tokio::test]
async fn truth_a_save_of_unknown_fate_is_recorded_beside_the_reason() {
    let world = World::new(&["a", "b"], |_| async { done() });
    let run = world.submit("K").await;
    lose_answers(&world, Operation::Save);
    let at_work = world.start(Take::Only(run));
    let report = world.end_of(at_work).await;
    assert_eq!((report.completed, report.lost.len()), (0, 1));
    let told = reason(&world, run).to_json();
    assert!(told.contains(r#""save_may_have_landed":true"#), "{told}");
    assert!(told.contains(r#""why":"unconfirmed""#), "{told}");
    world.store.no_more_faults();
    assert_eq!(world.work(Take::UntilNoneIsOpen).await.completed, 1);
    assert_eq!(world.called().iter().filter(|(phase, _)| phase == "a").count(), 1);
}

/// An error is not silence: the reason says what the store answered.
#[tokio::test]
async fn truth_a_save_that_the_store_refuses_with_an_error_is_not_called_unanswered() {
    let world = World::new(&["a"], |_| async { done() });
    let run = world.submit("K").await;
    world.store.order(Operation::Save, &Fault::Refused, 1);
    let report = world.work(Take::Only(run)).await;
    assert_eq!((report.completed, report.failed, report.lost.len()), (0, 0, 1));
    let told = reason(&world, run).to_json();
    assert!(told.contains(r#""why":"store_error""#) && told.contains("the test ordered this"), "{told}");
    assert!(told.contains(r#""save_may_have_landed":false"#), "{told}");
}

#[tokio::test]
async fn truth_a_release_and_a_failing_that_the_store_refuses_with_an_error_say_so() {
    for (operation, word) in [(Operation::Release, "release"), (Operation::Fail, "fail")] {
        let world = World::new(&["a"], move |_| async move {
            let message = "no".to_owned();
            if word == "fail" { StepEnd::Failed { kind: "step", message } } else { again("later") }
        });
        let run = world.submit("K").await;
        world.store.order(operation, &Fault::Refused, 1);
        assert_eq!(world.work(Take::Only(run)).await.lost.len(), 1);
        let told = reason(&world, run).to_json();
        assert!(told.contains(&format!(r#""refused":"{word}""#)), "{told}");
        assert!(told.contains(r#""why":"store_error""#), "{told}");
    }
}

/// The receipts cannot be read until the lease is over; what was refused is the reading, and the
/// store says how the lease stands.
#[tokio::test]
async fn truth_a_lease_that_ran_out_over_reading_receipts_says_so() {
    let first = Arc::new(AtomicBool::new(true));
    let world = World::new(&["a", "b"], move |call| {
        let first = first.swap(false, Ordering::SeqCst);
        async move { if first || call.fence > 1 { done() } else { again("never") } }
    });
    let run = world.submit("K").await;
    world.store.order(Operation::Read, &Fault::RequestDelayed(Until::Never), 1);
    let report = world.work(Take::Only(run)).await;
    assert_eq!(report.lost.len(), 1);
    let told = reason(&world, run).to_json();
    assert!(told.contains(r#""refused":"read""#) && told.contains(r#""phase":"b""#), "{told}");
    assert!(told.contains(r#""why":"unconfirmed""#), "the lease is live at its local deadline: {told}");
}

/// A job that breaks off over a bug leaves its run to the next claim, and the worker goes on.
#[tokio::test]
async fn a_job_that_panics_is_counted_and_its_run_goes_on() {
    struct PanicsOnce(AtomicBool);
    impl Events for PanicsOnce {
        fn emit(&self, event: &Event) {
            let saved = matches!(event.kind, EventKind::PhaseSaved { .. });
            assert!(!saved || self.0.swap(true, Ordering::SeqCst), "a bug, to order");
        }
    }
    for take in [Take::Only, |run| Take::AsFarAsPossible(vec![run])] {
        let world = World::new(&["a", "b"], |_| async { done() });
        let run = world.submit("K").await;
        let events = Arc::new(PanicsOnce(AtomicBool::new(false)));
        let at_work = world.start_telling(take(run), events);
        let report = world.end_of(at_work).await;
        assert_eq!(report.broken, 1);
        let goes_on = take(run) != Take::Only(run);
        assert_eq!(report.completed, u64::from(goes_on));
        let stand = if goes_on { Status::Completed } else { Status::Open };
        assert_eq!(world.stored(run).run.status, stand);
    }
}

/// A store that will not have the worker's claims ends a worker that ends by itself, with the error;
/// one that works until it is told to stop goes on asking.
#[tokio::test]
async fn a_store_that_refuses_every_claim_ends_a_worker_that_ends_by_itself() {
    let world = World::new(&["a"], |_| async { done() });
    let run = world.submit("K").await;
    for take in [Take::UntilNoneIsOpen, Take::Only(run), Take::AsFarAsPossible(vec![run])] {
        world.store.order(Operation::ClaimNext, &Fault::Refused, 100);
        world.store.order(Operation::Claim, &Fault::Refused, 100);
        let report = world.work(take).await;
        world.store.no_more_faults();
        let error = report.store_error.expect("why it ended");
        assert!(!error.may_try_again());
        assert!(report.asked.iter().all(|(_, stand)| *stand == RunStand::Unfinished));
    }
    world.store.order(Operation::ClaimNext, &Fault::Refused, 20);
    let at_work = world.start_telling(Take::Any, Arc::new(NoEvents));
    world.until("the run to be completed", || world.stored(run).run.status == Status::Completed).await;
    at_work.stopper.drain();
    assert!(world.end_of(at_work).await.store_error.is_none());
}

/// The request landed, its answer got lost, and somebody claimed the run before it was asked again: the
/// refusal is true, and so is that the attempt ended as was meant. It is no loss.
#[tokio::test]
async fn truth_an_end_that_landed_before_a_takeover_is_no_loss() {
    for (word, operation) in [("retrying", Operation::Release), ("failed", Operation::Fail)] {
        let world = World::new(&["a"], move |call| async move {
            match (call.fence, word) {
                (1, "failed") => StepEnd::Failed { kind: "step", message: "no".to_owned() },
                (1, _) => again("later"),
                _ => done(),
            }
        });
        let run = world.submit("K").await;
        world.store.order(operation, &Fault::UnknownAfter, 1);
        world.store.order(operation, &Fault::Unreachable, 3);
        let first = world.start(Take::Any);
        let landed = || world.outcomes(run) == [word.parse().ok()];
        world.until("the request to land", landed).await;
        if word == "failed" {
            let who = Who::new("kim", None).unwrap();
            let retry = Action::Retry(IdempotencyKey::Same);
            let _ = world.store.act(run, &retry, &who).await.unwrap();
        }
        let claim = Claim {
            run,
            owner: OwnerId::from_stored("other#1").unwrap(),
            ttl: Ttl::new(TTL).unwrap(),
            plans: vec![world.stored(run).run.plan.id.digest],
            loss_limit: LossLimit::new(3).unwrap(),
        };
        world.clock.advance(SECOND * 9);
        let verdict = world.store.claim(&claim).await.unwrap();
        assert!(matches!(verdict, ClaimVerdict::Granted(_)), "{verdict:?}");
        world.until("the first worker to hear", || world.told(run).len() >= 3).await;
        assert_eq!(world.told(run)[2], format!("attempt {word}"));
        first.stopper.drain();
        assert!(world.end_of(first).await.lost.is_empty(), "{word}");
    }
}

/// A server that is gone holds up a worker that was told to stop for no longer than its leases last.
#[tokio::test]
async fn a_worker_that_was_told_to_stop_does_not_wait_long_to_say_that_it_was_blocked() {
    let world = World::new(&["a"], |_| async { std::future::pending().await });
    let run = world.submit("K").await;
    let at_work = world.start(Take::Only(run));
    world.until("the step to begin", || world.called().len() == 1).await;
    for operation in [Operation::RenewMany, Operation::Standing, Operation::Release, Operation::MarkBlocked] {
        world.store.order(operation, &Fault::RequestDelayed(Until::Never), 1_000);
    }
    let told = world.clock.now();
    at_work.stopper.drain();
    world.end_of(at_work).await;
    // What was left of the lease, the question why, and one interval.
    let longest = TTL + SECOND * 41;
    assert!(world.clock.now().since(told) <= longest, "{:?}", world.clock.now().since(told));
}
