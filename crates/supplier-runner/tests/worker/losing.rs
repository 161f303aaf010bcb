//! Leases that are lost: to another worker, to a store out of reach, to an operator, to stalling.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lease_core::{Action, AttemptOutcome, Clock, Ending, Hold, Operator, Status, Who};
use lease_fake::{Fault, Operation, Until};
use supplier_runner::worker::{RunStand, Take};

use crate::world::{SECOND, TTL, World, done};

/// BLOCKED-NOT-FAILED, TRUTH: a worker that stalled past its lease while another took over.
#[tokio::test]
async fn blocked_not_failed_a_stalled_worker_is_turned_away_and_leaves_the_run_alone() {
    let world = World::new(&["a"], |call| async move {
        if call.fence == 1 {
            std::future::pending::<()>().await;
        }
        done()
    });
    let run = world.submit("K").await;
    // The first worker's renewals stop getting through, as if its host were stopped.
    let first = world.start(Take::Only(run));
    world.until("the step to begin", || world.called().len() == 1).await;
    world.store.order(Operation::RenewMany, &Fault::RequestDelayed(Until::Never), 1_000);
    world.store.order(Operation::Standing, &Fault::RequestDelayed(Until::Never), 1);
    let lost = world.end_of(first).await;
    assert!(lost.lost_for_good());
    assert_eq!((lost.failed, lost.completed), (0, 0));
    let stored = world.stored(run);
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Blocked)]);
    assert_eq!((stored.run.status, stored.run.failures), (Status::Open, 0));
    assert!(matches!(stored.run.hold, Hold::Held { .. }), "the run's row is left alone");
    let reason = stored.attempts[0].reason.as_ref().unwrap().to_json();
    assert!(reason.contains(r#""why":"unconfirmed""#), "{reason}");

    world.store.no_more_faults();
    let report = world.work(Take::UntilNoneIsOpen).await;
    assert_eq!(report.completed, 1);
    assert_eq!(world.stored(run).receipts.iter().map(|receipt| receipt.fence.get()).collect::<Vec<_>>(), [2]);
}

/// TRUTH: asked after its deadline, the store names who took over.
#[tokio::test]
async fn truth_a_worker_that_comes_back_names_who_superseded_it() {
    let world = World::new(&["a"], |call| async move {
        if call.fence == 1 {
            std::future::pending::<()>().await;
        }
        done()
    });
    let run = world.submit("K").await;
    let first = world.start(Take::Only(run));
    world.until("the step to begin", || world.called().len() == 1).await;
    // The store's clock leaps, so the lease is over although the worker's own clock stands still.
    let leap = lease_core::Timestamp::from_micros(world.store.clock().now().as_micros()).plus(TTL * 2);
    world.store.clock().set(leap);
    let second = world.work(Take::Only(run)).await;
    assert_eq!(second.completed, 1);
    let lost = world.end_of(first).await;
    assert_eq!(lost.lost.len(), 1);
    let stored = world.stored(run);
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Blocked), Some(AttemptOutcome::Completed)]);
    let reason = stored.attempts[0].reason.as_ref().unwrap().to_json();
    assert!(reason.contains(r#""by_fence":2"#) && reason.contains(r#""why":"superseded""#), "{reason}");
    assert_eq!(stored.receipts.len(), 1);
    assert_eq!(stored.receipts[0].fence.get(), 2);
}

/// Case 29: every attempt stalls past its lease and is refused; the run is set aside all the same.
#[tokio::test]
async fn case_29_a_run_that_keeps_losing_its_workers_is_set_aside() {
    let world = World::new(&["a"], |_| async { std::future::pending().await });
    let run = world.submit("K").await;
    // Each attempt gets its first renewal and no other.
    for _ in 0..4 {
        world.store.let_through(Operation::RenewMany, 1);
        world.store.order(Operation::RenewMany, &Fault::RequestDelayed(Until::Never), 3);
    }
    let report = world.work(Take::UntilNoneIsOpen).await;
    assert_eq!((report.completed, report.failed), (0, 1));
    let stored = world.stored(run);
    let failure = stored.run.error.unwrap();
    assert_eq!((stored.run.status, failure.kind.as_str()), (Status::Failed, "set_aside"));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Blocked); 4]);
    assert_eq!((stored.run.losses, stored.run.failures), (4, 0));
}

/// The store goes away while work is under way: the worker reports blocked, and goes on when it is
/// back.
#[tokio::test]
async fn a_worker_outlives_a_store_that_is_out_of_reach_for_an_hour() {
    let down = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&down);
    let world = World::new(&["a"], move |_| {
        let first = seen.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            done()
        }
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::Any);
    world.until("the step to begin", || world.called().len() == 1).await;
    for operation in [Operation::RenewMany, Operation::Standing, Operation::ClaimNext, Operation::MarkBlocked]
    {
        world.store.order(operation, &Fault::Unreachable, 100_000);
    }
    let back = world.clock.now().plus(SECOND * 3_600);
    world.until("an hour to pass", || world.clock.now() >= back).await;
    world.store.no_more_faults();
    world.until("the run to be completed", || world.stored(run).run.status == Status::Completed).await;
    assert!(world.clock.now() <= back.plus(SECOND * 6), "it goes on within a poll");
    assert_eq!(world.told(run)[2], "attempt blocked");
    at_work.stopper.drain();
    let report = world.end_of(at_work).await;
    assert_eq!((report.completed, report.failed), (1, 0));
}

/// An operator cancels the run under the worker.
#[tokio::test]
async fn a_run_that_is_cancelled_under_its_worker_is_left_alone() {
    let world = World::new(&["a"], |_| async { std::future::pending().await });
    let run = world.submit("K").await;
    let at_work = world.start(Take::Only(run));
    world.until("the step to begin", || world.called().len() == 1).await;
    let who = Who::new("kim", None).unwrap();
    let verdict = world.store.act(run, &Action::Cancel, &who).await.unwrap();
    assert_eq!(verdict, lease_core::OperatorVerdict::Done);
    let report = world.end_of(at_work).await;
    assert_eq!((report.lost.len(), report.failed), (1, 0));
    assert_eq!(report.asked, [(run, RunStand::Ended(Ending::Cancelled))]);
    let stored = world.stored(run);
    assert_eq!(stored.run.status, Status::Cancelled);
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Cancelled)]);
    assert_eq!(world.told(run).last().map(String::as_str), Some("attempt blocked"));
}

/// Case 18: worker clocks that are hours off, both ways.
#[tokio::test]
async fn case_18_clocks_that_disagree_by_hours_change_nothing() {
    for ahead in [SECOND * 600, SECOND * 36_000] {
        let world = World::new(&["a", "b"], |_| async { done() });
        let run = world.submit("K").await;
        let skewed = world.clock.skewed(ahead);
        let at_work = world.start_with(Take::Only(run), world.settings(), skewed, world.store.clone());
        let report = world.end_of(at_work).await;
        assert_eq!((report.completed, report.lost.len()), (1, 0));
        assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Completed)]);
    }
}
