//! Case 22: a worker that is told to stop, once and twice.

use lease_core::{AttemptOutcome, Clock, Hold, Phase, Status};
use supplier_runner::worker::Take;

use crate::world::{SECOND, World, done};

#[tokio::test]
async fn case_22_a_step_may_finish_within_the_grace_period_and_the_lease_is_released() {
    let world = World::new(&["a", "b"], |call| async move {
        call.take(SECOND * 10).await;
        done()
    });
    let run = world.submit("K").await;
    let other = world.submit("L").await;
    let mut settings = world.settings();
    settings.concurrency = 1;
    let at_work = world.start_with(Take::Any, settings, world.clock.clone(), world.store.clone());
    world.until("the step to begin", || world.called().len() == 1).await;
    at_work.stopper.drain();
    let told_at = world.clock.now();
    let report = world.end_of(at_work).await;
    assert!(report.stopped && !report.stopped_now);
    assert_eq!(world.clock.now().since(told_at), SECOND * 10);
    let stored = world.stored(run);
    assert_eq!((stored.run.phase.as_str(), stored.run.status), ("a", Status::Open));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Yielded)]);
    assert!(matches!(stored.run.hold, Hold::Ended { .. }), "the next worker can claim at once");
    assert!(world.stored(other).attempts.is_empty(), "nothing new is claimed");
    assert_eq!(world.work(Take::UntilNoneIsOpen).await.completed, 2);
}

#[tokio::test]
async fn case_22_a_step_that_outlives_the_grace_period_is_ended_and_the_lease_is_released() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND * 3_000).await;
        done()
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::Any);
    world.until("the step to begin", || world.called().len() == 1).await;
    let told_at = world.clock.now();
    at_work.stopper.drain();
    world.end_of(at_work).await;
    assert_eq!(world.clock.now().since(told_at), SECOND * 30);
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Yielded)]);
    let stored = world.stored(run);
    assert_eq!((stored.run.phase, stored.run.failures, stored.run.losses), (Phase::Submitted, 0, 0));
}

#[tokio::test]
async fn case_22_told_twice_the_worker_ends_at_once_and_the_lease_runs_out_by_itself() {
    let world = World::new(&["a"], |_| std::future::pending());
    let run = world.submit("K").await;
    let at_work = world.start(Take::Any);
    world.until("the step to begin", || world.called().len() == 1).await;
    at_work.stopper.drain();
    world.settle().await;
    let told_at = world.clock.now();
    at_work.stopper.stop_now();
    let report = world.end_of(at_work).await;
    assert!(report.stopped_now);
    assert_eq!(world.clock.now(), told_at);
    let stored = world.stored(run);
    assert!(matches!(stored.run.hold, Hold::Held { .. }));
    assert_eq!(world.outcomes(run), [None]);
}

/// What is told twice is told to the jobs themselves: one that runs on before the main loop has dropped
/// it must not give up its lease in good order.
#[tokio::test]
async fn case_22_told_twice_no_job_releases_its_lease_before_it_is_dropped() {
    let world = World::of_quick_steps(&["a"], |_| std::future::pending());
    let run = world.submit("K").await;
    let at_work = world.start(Take::Any);
    world.until("the step to begin", || world.called().len() == 1).await;
    // A few polls of the main loop, which begins to wait anew: the job is woken first.
    world.clock.advance(SECOND * 5);
    world.settle().await;
    at_work.stopper.stop_now();
    let report = world.end_of(at_work).await;
    assert!(report.stopped_now);
    assert_eq!(world.outcomes(run), [None], "the lease runs out by itself");
}
