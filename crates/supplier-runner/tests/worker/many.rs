//! Many runs in one worker.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lease_core::{AttemptOutcome, ClaimVerdict, Clock, RenewVerdict, Status};
use lease_fake::{Exchange, Operation};
use supplier_runner::worker::Take;
use tokio::runtime::Builder;

use crate::world::{SECOND, World, done};

#[tokio::test]
async fn a_worker_works_on_as_many_runs_at_once_as_it_has_slots() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND * 100).await;
        done()
    });
    for key in ["K", "L", "M", "N"] {
        world.submit(key).await;
    }
    let began = world.clock.now();
    let report = world.work(Take::UntilNoneIsOpen).await;
    assert_eq!(report.completed, 4);
    let took = world.clock.now().since(began);
    assert!(took >= SECOND * 200 && took < SECOND * 215, "two at a time: {took:?}");
}

/// Heartbeats of many leases fall together and go as one request.
#[tokio::test]
async fn leases_of_one_worker_are_renewed_in_one_request_per_interval() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND * 400).await;
        done()
    });
    let mut settings = world.settings();
    settings.concurrency = 50;
    for number in 0..50 {
        world.submit(&format!("K-{number}")).await;
    }
    let at_work = world.start_with(Take::UntilNoneIsOpen, settings, world.clock.clone(), world.store.clone());
    assert_eq!(world.end_of(at_work).await.completed, 50);
    let requests: Vec<usize> = world
        .store
        .journal()
        .into_iter()
        .filter_map(|judged| {
            if let Exchange::RenewMany(leases, ..) = judged.exchange { Some(leases.len()) } else { None }
        })
        .collect();
    let renewals: usize = requests.iter().sum();
    assert!(renewals >= 50 * 20, "{renewals}");
    assert!(requests.len() <= 40, "{} requests for {renewals} renewals", requests.len());
}

/// A row that somebody has locked: its lease is asked for alone and waits, and the others go on.
#[tokio::test]
async fn a_lease_whose_row_is_locked_waits_alone_and_is_renewed_when_the_lock_goes() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND * 100).await;
        done()
    });
    let (locked, free) = (world.submit("K").await, world.submit("L").await);
    let at_work = world.start(Take::UntilNoneIsOpen);
    world.until("both steps to begin", || world.called().len() == 2).await;
    let lock = world.store.lock_row(locked);
    let began = world.clock.now();
    world.until("two intervals to pass", || world.clock.now().since(began) >= SECOND * 45).await;
    drop(lock);
    let report = world.end_of(at_work).await;
    assert_eq!((report.completed, report.lost.len()), (2, 0));
    let renewed = RenewVerdict::Renewed { yield_asked: false };
    let (mut alone, mut together) = (0, 0);
    for judged in world.store.journal() {
        if let Exchange::Renew(lease, _, verdict) = &judged.exchange {
            alone += usize::from(lease.run == locked && *verdict == renewed);
        } else if let Exchange::RenewMany(leases, _, verdicts) = &judged.exchange {
            let of_free = leases.iter().zip(verdicts).find(|(lease, _)| lease.run == free);
            together += usize::from(of_free.is_some_and(|(_, verdict)| *verdict == renewed));
        }
    }
    assert!(alone >= 1, "the one that waited");
    assert!(together >= 5, "{together} renewals of the other");
}

/// A run that another worker holds is waited for, and taken over only if that one loses it.
#[tokio::test]
async fn a_run_in_other_hands_is_waited_for() {
    let world = World::new(&["a"], |call| async move {
        call.take(SECOND * 500).await;
        done()
    });
    let run = world.submit("K").await;
    let first = world.start(Take::Any);
    world.until("the step to begin", || world.called().len() == 1).await;
    let report = world.work(Take::AsFarAsPossible(vec![run])).await;
    assert_eq!((report.completed, report.asked.len()), (0, 1));
    assert_eq!(world.stored(run).run.status, Status::Completed);
    assert_eq!(world.called().len(), 1);
    assert!(world.store.journal().iter().any(|judged| {
        judged.exchange.operation() == Operation::Claim
            && matches!(&judged.exchange, Exchange::Claim(_, ClaimVerdict::Busy { .. }))
    }));
    first.stopper.drain();
    world.end_of(first).await;
}

/// A step that blocks its thread lives on when its time is up. Until it returns, its run is not claimed
/// again here: two steps of one run would share files and ports, whatever their numbers.
#[tokio::test]
async fn a_run_that_was_asked_for_is_not_claimed_again_while_a_step_of_it_lives() {
    let lane = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let (go, wait) = channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let mut world = World::new(&["a"], move |call| {
        let wait = Arc::clone(&wait);
        async move {
            if call.fence == 1 {
                // Until the test lets it go.
                let _gone = wait.lock().unwrap().recv();
            }
            done()
        }
    });
    world.steps = Some(lane.handle().clone());
    let run = world.submit("K").await;
    let at_work = world.start(Take::AsFarAsPossible(vec![run]));
    // The step runs on a thread of its own, in real time; the clock moves a second for each millisecond.
    let eventually = async |what: &str, reached: &dyn Fn() -> bool| {
        for _ in 0..60_000 {
            world.settle().await;
            if reached() {
                return;
            }
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(1))).await.unwrap();
            if !world.called().is_empty() {
                world.clock.advance(SECOND);
            }
        }
        panic!("waited in vain for {what}");
    };
    eventually("the step to begin", &|| !world.called().is_empty()).await;
    eventually("its time to be up", &|| world.outcomes(run) == [Some(AttemptOutcome::Retrying)]).await;
    // Long after it is due again.
    for _ in 0..100 {
        world.clock.advance(SECOND);
        world.settle().await;
    }
    assert_eq!(world.outcomes(run).len(), 1, "claimed again while its step lives");
    go.send(()).unwrap();
    eventually("the run to be claimed again", &|| world.outcomes(run).len() == 2).await;
    at_work.stopper.stop_now();
    world.end_of(at_work).await;
    lane.shutdown_background();
}
