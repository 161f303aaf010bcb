//! Runs that go well, and go on where another worker left off.

use lease_core::{AttemptOutcome, Clock, Phase, Status};
use lease_fake::{Fault, Operation};
use supplier_runner::worker::Take;

use crate::world::{SECOND, TTL, World, done};

#[tokio::test]
async fn a_run_goes_through_its_phases_in_one_claim() {
    let world = World::new(&["a", "b", "c"], |_| async { done() });
    let run = world.submit("K").await;
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.completed, report.failed, report.lost.len()), (1, 0, 0));
    let stored = world.stored(run);
    assert_eq!(stored.run.status, Status::Completed);
    let receipts: Vec<_> = stored.receipts.iter().map(|receipt| receipt.phase.to_string()).collect();
    assert_eq!(receipts, ["a", "b", "c"]);
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Completed)]);
    let told = [
        "claimed at submitted",
        "started a",
        "saved a",
        "started b",
        "saved b",
        "started c",
        "saved c",
        "attempt completed",
        "run completed",
    ];
    assert_eq!(world.told(run), told);
}

/// RESUME, cases 7 and 15: a worker that died in the middle of a step left a lease; the next one
/// goes on after the last receipt, and the step that was under way runs once more with the same key.
#[tokio::test]
async fn case_15_resume_the_next_worker_goes_on_after_the_last_receipt() {
    let world = World::new(&["a", "b", "c"], |call| async move {
        if (call.phase.as_str(), call.fence) == ("b", 1) {
            std::future::pending::<()>().await;
        }
        done()
    });
    let run = world.submit("K").await;
    let dying = world.start(Take::Any);
    world.until("b to begin", || world.called().len() == 2).await;
    dying.stopper.stop_now();
    world.end_of(dying).await;
    let report = world.work(Take::UntilNoneIsOpen).await;
    assert_eq!(report.completed, 1);
    let called: Vec<_> = world.called();
    let expected = [("a", 1), ("b", 1), ("b", 2), ("c", 2)];
    assert_eq!(called, expected.map(|(phase, fence)| (phase.to_owned(), fence)));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Superseded), Some(AttemptOutcome::Completed)]);
    let calls = world.calls.lock().unwrap();
    assert_eq!(calls[1].idempotency_key, calls[2].idempotency_key);
    assert_eq!(calls[1].document, calls[2].document);
    assert_ne!(calls[0].idempotency_key, calls[1].idempotency_key);
}

/// Case 26: the last save's answer is lost.
#[tokio::test]
async fn case_26_a_last_save_whose_answer_was_lost_is_completed_and_never_blocked() {
    let world = World::new(&["a"], |_| async { done() });
    let run = world.submit("K").await;
    world.store.order(Operation::Save, &Fault::UnknownAfter, 1);
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.completed, report.lost.len()), (1, 0));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Completed)]);
    assert_eq!(world.stored(run).receipts.len(), 1);
}

/// Case 10: errors until shortly before the local deadline, then an answer.
#[tokio::test]
async fn case_10_renewals_that_fail_for_a_while_do_not_end_the_work() {
    let world = World::new(&["a"], |_| async { done() });
    let run = world.submit("K").await;
    world.store.order(Operation::RenewMany, &Fault::NotApplied, 3);
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.completed, world.called().len()), (1, 1));
}

/// A slow step keeps its lease for as long as it runs.
#[tokio::test]
async fn a_step_that_takes_ten_leases_long_keeps_its_one_lease() {
    let world = World::new(&["a"], |_| async { std::future::pending().await });
    let run = world.submit("K").await;
    let at_work = world.start(Take::Any);
    let until = world.clock.now().plus(TTL * 10);
    world.until("ten leases to pass", || world.clock.now() >= until).await;
    let stored = world.stored(run);
    assert_eq!((stored.attempts.len(), stored.run.losses), (1, 0));
    assert_eq!(stored.run.hold.fence().map(lease_core::FencingToken::get), Some(1));
    at_work.stopper.stop_now();
    world.end_of(at_work).await;
}

/// LIVENESS: an idle worker is told of new work, and without being told finds it within a poll.
#[tokio::test]
async fn liveness_new_work_is_taken_within_one_poll() {
    let world = World::new(&["a"], |_| async { done() });
    let at_work = world.start(Take::Any);
    world.settle().await;
    let submitted_at = world.clock.now();
    let run = world.submit("K").await;
    world.until("the run to be completed", || world.phase(run) != Phase::Submitted).await;
    assert!(world.clock.now() <= submitted_at.plus(SECOND * 5));
    at_work.stopper.drain();
    world.end_of(at_work).await;
}
