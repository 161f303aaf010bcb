//! What a worker says of what became of its runs, where others or lost answers have a part in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lease_core::{
    Action, AttemptOutcome, Claim, ClaimVerdict, Clock, Document, Effect, EffectKind, Effects, Ending,
    FailureKind, LeaseStore, LossLimit, Operator, OwnerId, PhaseName, RunId, Ttl, Who,
};
use lease_fake::{Fault, Operation, Until};
use supplier_runner::step::{StepDone, StepEnd};
use supplier_runner::worker::{RunStand, Take};

use crate::world::{SECOND, TTL, World, done};

fn failing() -> StepEnd {
    StepEnd::Failed { kind: FailureKind::STEP, message: "a failing of its own".to_owned() }
}

async fn claim(world: &World, run: RunId, owner: &str, loss_limit: u32) -> ClaimVerdict {
    let claim = Claim {
        run,
        owner: OwnerId::from_stored(owner).unwrap(),
        ttl: Ttl::new(TTL).unwrap(),
        plans: vec![world.stored(run).run.plan.id.digest],
        loss_limit: LossLimit::new(loss_limit).unwrap(),
    };
    world.store.claim(&claim).await.unwrap()
}

fn kim() -> Who {
    Who::new("kim", None).unwrap()
}

/// TRUTH, BLOCKED-NOT-FAILED: its own failing never arrived, and another worker's claim set the run
/// aside under the same number. The run is failed, and not by this worker.
#[tokio::test]
async fn truth_a_run_set_aside_by_another_is_not_taken_for_the_own_failing() {
    let world = World::new(&["a"], |_| async { failing() });
    let run = world.submit("K").await;
    assert!(matches!(claim(&world, run, "z#1", 1).await, ClaimVerdict::Granted(_)));
    world.clock.advance(TTL + SECOND);
    world.store.order(Operation::Fail, &Fault::UnknownBefore, 1_000);
    let at_work = world.start(Take::Only(run));
    world.until("the step to be done", || world.called().len() == 1).await;
    world.settle().await;
    // The worker stands still for longer than its lease.
    world.clock.advance(TTL * 2);
    assert!(matches!(claim(&world, run, "b#1", 1).await, ClaimVerdict::SetAside(_)));
    let report = world.end_of(at_work).await;
    assert_eq!((report.failed, report.lost.len()), (0, 1));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Superseded), Some(AttemptOutcome::Blocked)]);
    assert!(!world.told(run).iter().any(|told| told == "run failed"), "{:?}", world.told(run));
}

/// TRUTH: the same, where it was its own failing whose answer got lost.
#[tokio::test]
async fn truth_the_own_failing_whose_answer_never_came_is_told_as_that() {
    let world = World::new(&["a"], |_| async { failing() });
    let run = world.submit("K").await;
    world.store.order(Operation::Fail, &Fault::UnknownAfter, 1_000);
    let report = world.work(Take::Only(run)).await;
    assert_eq!((report.failed, report.lost.len()), (1, 0));
    assert_eq!(world.outcomes(run), [Some(AttemptOutcome::Failed)]);
}

/// A lease lost here, and the run completed here by a later claim: nothing is lost for good where the run
/// was asked for. A worker that drains tells of every lease it lost.
#[tokio::test]
async fn a_run_that_was_asked_for_and_completed_after_a_lost_lease_is_not_lost_for_good() {
    for asked in [true, false] {
        completed_after_a_lost_lease(asked).await;
    }
}

async fn completed_after_a_lost_lease(asked: bool) {
    let first = Arc::new(AtomicBool::new(true));
    let world = World::new(&["a"], move |call| {
        let first = first.swap(false, Ordering::SeqCst);
        async move {
            if first {
                call.take(SECOND * 100).await;
            }
            done()
        }
    });
    let run = world.submit("K").await;
    let take = if asked { Take::AsFarAsPossible(vec![run]) } else { Take::UntilNoneIsOpen };
    let at_work = world.start(take);
    world.until("the step to begin", || world.called().len() == 1).await;
    let fence = world.stored(run).run.hold.fence().unwrap();
    let _done = world.store.act(run, &Action::Revoke { fence }, &kim()).await.unwrap();
    let report = world.end_of(at_work).await;
    assert_eq!((report.completed, report.lost.len()), (1, 1));
    assert!(report.recovered.contains(&run));
    assert_eq!(report.lost_for_good(), !asked);
}

/// TRUTH: a first save that may land yet, a second one whose effect is refused, and a failing that is
/// never answered: the reason says that the save may have landed.
#[tokio::test]
async fn truth_a_save_that_may_land_yet_is_not_forgotten_over_a_refused_effect() {
    let kind = EffectKind::new("k").unwrap();
    let effect = Effect { kind: kind.clone(), body: Document::default() };
    let world = World::new(&["a", "b"], move |_| {
        let effects = Effects::new(vec![effect.clone()]).unwrap();
        async move { StepEnd::Done(StepDone { receipt: Document::default(), effects }) }
    });
    let run = world.submit("K").await;
    let late = world.clock.now().plus(SECOND * 57);
    world.store.order(Operation::Save, &Fault::RequestDelayed(Until::Worker(world.clock.clone(), late)), 1);
    world.store.refuse_effect(&kind);
    world.store.order(Operation::Fail, &Fault::UnknownBefore, 1_000);
    let report = world.work(Take::Only(run)).await;
    assert_eq!(report.lost.len(), 1);
    let reason = world.stored(run).attempts[0].reason.as_ref().unwrap().to_json();
    assert!(reason.contains(r#""refused":"fail""#), "{reason}");
    assert!(reason.contains(r#""save_may_have_landed":true"#), "{reason}");
}

/// A worker that is told to stop says of a run what it knows of it.
#[tokio::test]
async fn truth_a_drained_worker_tells_a_waiting_and_a_cancelled_run_as_that() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND).await;
        StepEnd::AwaitApproval
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::AsFarAsPossible(vec![run]));
    world.until("the step to begin", || world.called().len() == 1).await;
    at_work.stopper.drain();
    let report = world.end_of(at_work).await;
    assert_eq!(report.asked, [(run, RunStand::Waiting(PhaseName::new("a").unwrap()))]);

    let world = World::new(&["a"], |call| async move {
        call.take(SECOND * 50).await;
        done()
    });
    let run = world.submit("K").await;
    let at_work = world.start(Take::AsFarAsPossible(vec![run]));
    world.until("the step to begin", || world.called().len() == 1).await;
    at_work.stopper.drain();
    let _done = world.store.act(run, &Action::Cancel, &kim()).await.unwrap();
    let report = world.end_of(at_work).await;
    assert_eq!(report.asked, [(run, RunStand::Ended(Ending::Cancelled))]);
}

/// TRUTH: what was completed before the second signal counts, also while another claim is waited for.
#[tokio::test]
async fn truth_a_worker_stopped_at_once_counts_what_had_ended() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND).await;
        done()
    });
    let (one, two) = (world.submit("K").await, world.submit("L").await);
    let lock = world.store.lock_row(two);
    let at_work = world.start(Take::AsFarAsPossible(vec![one, two]));
    world.until("one to be completed", || world.told(one).iter().any(|told| told == "run completed")).await;
    at_work.stopper.drain();
    at_work.stopper.stop_now();
    let report = world.end_of(at_work).await;
    assert!(report.stopped_now);
    assert_eq!(report.completed, 1);
    drop(lock);
}

/// Claims that are sent together are refused together, over a schema that is being changed for a moment:
/// that is one refusal, and not eight in a row.
#[tokio::test]
async fn claims_that_are_refused_together_count_once() {
    let world = World::new(&["a"], |_| async { done() });
    let mut runs = Vec::new();
    for key in ["A", "B", "C", "D", "E", "F", "G", "H"] {
        runs.push(world.submit(key).await);
    }
    world.store.order(Operation::Claim, &Fault::Refused, runs.len());
    let report = world.work(Take::AsFarAsPossible(runs)).await;
    assert!(report.store_error.is_none(), "{:?}", report.store_error);
    assert_eq!(report.completed, 8);
}

/// LIVENESS: a run whose row somebody keeps locked holds up no other that was asked for.
#[tokio::test]
async fn liveness_a_locked_row_holds_up_no_other_run() {
    let world = World::new(&["a"], |_| async { done() });
    let (one, two) = (world.submit("K").await, world.submit("L").await);
    let lock = world.store.lock_row(one);
    let at_work = world.start(Take::AsFarAsPossible(vec![one, two]));
    let began = world.clock.now();
    world.until("the other to be claimed", || !world.stored(two).attempts.is_empty()).await;
    assert!(world.clock.now().since(began) < SECOND * 5, "later than a poll");
    drop(lock);
    assert_eq!(world.end_of(at_work).await.completed, 2);
}

/// LIVENESS: the look for runs of unknown plans is waited for by nobody.
#[tokio::test]
async fn liveness_a_slow_look_for_unknown_plans_holds_up_no_claim() {
    let world = World::new(&["a"], |_| async { done() });
    let late = world.clock.now().plus(SECOND * 40);
    world.store.order(Operation::Read, &Fault::RequestDelayed(Until::Worker(world.clock.clone(), late)), 1);
    let at_work = world.start(Take::Any);
    world.settle().await;
    let run = world.submit("K").await;
    let began = world.clock.now();
    world.until("it to be claimed", || !world.stored(run).attempts.is_empty()).await;
    assert!(world.clock.now().since(began) <= SECOND * 5, "later than a poll");
    at_work.stopper.drain();
    world.end_of(at_work).await;
}

/// TRUTH: a grant that is heard of when its lease is over begins nothing, and no request that was never
/// sent is called refused.
#[tokio::test]
async fn truth_a_grant_heard_of_too_late_is_told_as_that() {
    let world = World::new(&["a"], |_| async { done() });
    let run = world.submit("K").await;
    let late = world.clock.now().plus(SECOND * 90);
    world.store.order(Operation::Claim, &Fault::AnswerDelayed(Until::Worker(world.clock.clone(), late)), 1);
    let at_work = world.start(Take::Only(run));
    world.settle().await;
    world.clock.advance(SECOND * 100);
    let report = world.end_of(at_work).await;
    let stored = world.stored(run);
    let reasons: Vec<String> =
        stored.attempts.iter().filter_map(|attempt| attempt.reason.as_ref().map(Document::to_json)).collect();
    assert!(reasons.iter().all(|reason| reason.contains(r#""refused":"claim""#)), "{reasons:?}");
    assert!(!world.called().contains(&("a".to_owned(), 1)), "nothing is begun under it");
    assert_eq!(report.lost.len(), usize::from(!reasons.is_empty()));
}
