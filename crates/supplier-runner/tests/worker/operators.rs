//! Operators act while a worker works.

use lease_core::{
    Action, AttemptOutcome, Clock, Operator, OperatorVerdict, PhaseName, RunId, Status, Who, WorkerName,
};
use supplier_runner::step::StepEnd;
use supplier_runner::worker::{RunStand, Take};

use crate::world::{SECOND, World, again, done};

async fn act(world: &World, run: RunId, action: Action) {
    let who = Who::new("kim", Some("because".to_owned())).unwrap();
    assert_eq!(world.store.act(run, &action, &who).await.unwrap(), OperatorVerdict::Done);
}

fn approve(phase: &str) -> Action {
    let owner = WorkerName::new("operator").unwrap().owner(7);
    Action::Approve { phase: PhaseName::new(phase).unwrap(), owner }
}

/// Case 31: two approvals in a row.
#[tokio::test]
async fn case_31_a_run_waits_for_each_approval_without_a_lease() {
    let world = World::new(&["first", "second", "last"], |call| async move {
        if call.phase == "last" { done() } else { StepEnd::AwaitApproval }
    });
    let run = world.submit("K").await;
    for phase in ["first", "second"] {
        let report = world.work(Take::AsFarAsPossible(vec![run])).await;
        let waiting = RunStand::Waiting(PhaseName::new(phase).unwrap());
        assert_eq!(report.asked, [(run, waiting)]);
        assert_eq!(world.stored(run).run.status, Status::Waiting);
        act(&world, run, approve(phase)).await;
    }
    assert_eq!(world.work(Take::AsFarAsPossible(vec![run])).await.completed, 1);
    use AttemptOutcome::{Completed, Waiting};
    let outcomes = [Waiting, Completed, Waiting, Completed, Completed].map(Some);
    assert_eq!(world.outcomes(run), outcomes);
}

/// Case 30: paused while a step runs; the phase is saved, and the worker stops before the next.
#[tokio::test]
async fn case_30_a_paused_run_is_given_back_after_its_phase() {
    let world = World::new(&["a", "b"], |call| async move {
        call.take(SECOND * 50).await;
        done()
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::AsFarAsPossible(vec![run]));
    world.until("the step to begin", || world.called().len() == 1).await;
    act(&world, run, Action::Pause).await;
    let report = world.end_of(at_work).await;
    assert_eq!(report.asked, [(run, RunStand::Paused)]);
    let stored = world.stored(run);
    assert_eq!((stored.run.phase.as_str(), stored.run.paused), ("a", true));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Yielded)]);
    act(&world, run, Action::Resume).await;
    assert_eq!(world.work(Take::AsFarAsPossible(vec![run])).await.completed, 1);
    assert_eq!(world.called().len(), 2);
}

/// Case 30: paused while a step runs, which then asks to be tried again.
#[tokio::test]
async fn case_30_a_run_paused_under_a_step_that_retries_stays_paused() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND).await;
        if call.fence == 1 { again("later") } else { done() }
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::AsFarAsPossible(vec![run]));
    world.until("the step to begin", || world.called().len() == 1).await;
    act(&world, run, Action::Pause).await;
    assert_eq!(world.end_of(at_work).await.asked, [(run, RunStand::Paused)]);
    let stored = world.stored(run);
    assert_eq!((stored.run.paused, stored.run.failures), (true, 1));
    act(&world, run, Action::Resume).await;
    assert_eq!(world.work(Take::AsFarAsPossible(vec![run])).await.completed, 1);
}

/// A worker that waits on one run sees an approval within a poll.
#[tokio::test]
async fn a_worker_on_one_run_waits_for_a_person() {
    let world = World::new(&["first", "last"], |call| async move {
        if call.phase == "last" { done() } else { StepEnd::AwaitApproval }
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::Only(run));
    world.until("the run to wait", || world.stored(run).run.status == Status::Waiting).await;
    let later = world.clock.now().plus(SECOND * 600);
    world.until("ten minutes to pass", || world.clock.now() >= later).await;
    act(&world, run, approve("first")).await;
    let report = world.end_of(at_work).await;
    assert_eq!(report.completed, 1);
    assert!(world.clock.now() <= later.plus(SECOND * 6));
}
