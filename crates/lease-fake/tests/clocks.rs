//! The fake clocks: they stand still, move by hand, wake sleepers in order, and disagree.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use lease_core::{Clock, Moment, Timestamp};
use lease_fake::{FakeClock, StoreClock, drive};

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: u32) -> Moment {
    Moment::from_start(SECOND * seconds)
}

#[test]
fn a_clock_stands_still_until_it_is_moved() {
    let clock = FakeClock::starting_at(SECOND * 5);
    assert_eq!(clock.now(), at(5));
    clock.advance(SECOND * 2);
    clock.advance_to(at(6));
    assert_eq!(clock.now(), at(7));
    assert_eq!(drive::at_once(clock.sleep_until(at(7))), Some(()));
}

#[test]
fn it_says_who_sleeps_and_until_when_and_forgets_those_who_gave_up() {
    let clock = FakeClock::starting_at(SECOND * 100);
    assert_eq!((clock.next_wake(), clock.sleepers()), (None, 0));
    let mut late = pin!(clock.sleep_until(at(130)));
    assert!(drive::until_stalled(late.as_mut()).is_pending());
    {
        let mut early = pin!(clock.sleep_until(at(110)));
        assert!(drive::until_stalled(early.as_mut()).is_pending());
        assert_eq!((clock.next_wake(), clock.sleepers()), (Some(at(110)), 2));
    }
    let dropped = drive::at_once(clock.sleep_until(at(105)));
    assert_eq!(dropped, None);
    assert_eq!((clock.next_wake(), clock.sleepers()), (Some(at(130)), 1));
    assert!(clock.advance_to_next_wake());
    assert!(drive::until_stalled(late.as_mut()).is_ready());
    assert!(!clock.advance_to_next_wake());
}

/// A waker that notes its name and what the clock read.
struct Note(&'static str, FakeClock, Arc<Mutex<Vec<(&'static str, Moment)>>>);

impl std::task::Wake for Note {
    fn wake(self: Arc<Self>) {
        self.2.lock().expect("nothing panics here").push((self.0, self.1.now()));
    }
}

#[test]
fn sleepers_wake_in_the_order_of_their_instants_each_at_its_own() {
    let clock = FakeClock::default();
    let woken = Arc::default();
    let mut sleeping = Vec::new();
    for (name, seconds) in [("last", 30), ("first", 10), ("also first", 10), ("second", 20), ("never", 41)] {
        let mut sleep = clock.sleep_until(at(seconds));
        let waker = Arc::new(Note(name, clock.clone(), Arc::clone(&woken))).into();
        assert!(sleep.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        sleeping.push(sleep);
    }
    clock.advance(SECOND * 40);
    let expected = vec![("first", at(10)), ("also first", at(10)), ("second", at(20)), ("last", at(30))];
    assert_eq!(*woken.lock().unwrap(), expected);
    assert_eq!(clock.now(), at(40));
}

/// Case 18: clocks on one passage of time that disagree by hours.
#[test]
fn case_18_skewed_clocks_move_together_and_read_differently() {
    let worker = FakeClock::default();
    let other = worker.skewed(SECOND * 36_000);
    let store = worker.store_clock(Timestamp::from_micros(7));
    other.advance(SECOND);
    assert_eq!((worker.now(), other.now()), (at(1), at(36_001)));
    assert_eq!(store.now(), Timestamp::from_micros(1_000_007));
    store.set(Timestamp::from_micros(3));
    assert_eq!((worker.now(), store.now()), (at(1), Timestamp::from_micros(3)));
}

#[test]
fn a_store_clock_can_be_set_and_whoever_waits_for_it_looks_again() {
    let clock = StoreClock::default();
    let start = clock.now();
    let mut waiting = pin!(clock.reaches(start.plus(SECOND * 10)));
    assert!(drive::until_stalled(waiting.as_mut()).is_pending());
    clock.set_back(SECOND * 5);
    clock.advance(SECOND * 10);
    assert!(drive::until_stalled(waiting.as_mut()).is_pending());
    clock.set(start.plus(SECOND * 10));
    assert_eq!(drive::until_stalled(waiting.as_mut()), Poll::Ready(()));
}

#[test]
fn a_future_runs_from_wake_to_wake() {
    let clock = FakeClock::default();
    let slept = drive::run(&clock, async {
        clock.sleep_until(at(3)).await;
        clock.sleep_until(at(4)).await;
        clock.now()
    });
    assert_eq!(slept, Some(at(4)));
    assert_eq!(drive::run(&clock, std::future::pending::<()>()), None);
}
