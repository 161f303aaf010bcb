//! A worker's clock that stands still until all that can be done at an instant is done, and a
//! one-task executor on it.
//!
//! The executor polls only what was woken, as a real one does, so a wake-up that was forgotten
//! shows as a renewal at the wrong instant or as a task that hangs.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Clock, Moment};

/// Alarms by instant and by the order in which they were set.
type Alarms = BTreeMap<(Moment, u64), Waker>;

pub(crate) struct HandClock(Mutex<State>);

struct State {
    now: Moment,
    alarms: Alarms,
    set_so_far: u64,
}

/// A sleep; takes its alarm back when it is dropped.
struct Sleep<'a> {
    clock: &'a HandClock,
    instant: Moment,
    alarm: Option<u64>,
}

/// Remembers that the task was woken.
struct Flag(AtomicBool);

pub(crate) fn seconds(seconds: u64) -> Moment {
    Moment::from_start(Duration::from_secs(seconds))
}

impl HandClock {
    pub(crate) fn at(now: Moment) -> Self {
        Self(Mutex::new(State { now, alarms: Alarms::new(), set_so_far: 0 }))
    }

    /// Poison does not matter: work that panics is among the things tested.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves on without letting anybody run, as when the thread is busy or the machine sleeps.
    pub(crate) fn jump_to(&self, instant: Moment) {
        let mut state = self.state();
        assert!(state.now <= instant, "a monotonic clock does not go back");
        state.now = instant;
    }

    /// How many sleeps are waited for.
    pub(crate) fn alarms(&self) -> usize {
        self.state().alarms.len()
    }

    /// Moves to the next alarm, if one is set for `last` or before, and lets everything due go off.
    fn ring(&self, last: Option<Moment>) -> bool {
        let mut state = self.state();
        let Some((&(next, _), _)) = state.alarms.first_key_value() else { return false };
        if last.is_some_and(|last| last < next) {
            return false;
        }
        state.now = state.now.max(next);
        let now = state.now;
        let due: Vec<_> = state.alarms.extract_if(.., |(instant, _), _| *instant <= now).collect();
        drop(state);
        due.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }

    /// Runs a future to its end, from alarm to alarm.
    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        self.run_to(pin!(future), None).expect("the future is done, or an alarm is set")
    }

    /// Runs a future through everything up to and at `last`; `None` if it is not done by then.
    pub(crate) fn run_until<F: Future>(&self, future: Pin<&mut F>, last: Moment) -> Option<F::Output> {
        let output = self.run_to(future, Some(last));
        if output.is_none() {
            self.jump_to(last);
        }
        output
    }

    fn run_to<F: Future>(&self, mut future: Pin<&mut F>, last: Option<Moment>) -> Option<F::Output> {
        let woken = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        loop {
            while woken.0.swap(false, Ordering::Relaxed) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return Some(output);
                }
            }
            if !self.ring(last) {
                return None;
            }
        }
    }
}

#[async_trait]
impl Clock for HandClock {
    fn now(&self) -> Moment {
        self.state().now
    }

    async fn sleep_until(&self, instant: Moment) {
        Sleep { clock: self, instant, alarm: None }.await;
    }
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.state();
        if let Some(old) = self.alarm {
            state.alarms.remove(&(self.instant, old));
        }
        if self.instant <= state.now {
            return Poll::Ready(());
        }
        state.set_so_far += 1;
        let alarm = state.set_so_far;
        state.alarms.insert((self.instant, alarm), context.waker().clone());
        drop(state);
        self.alarm = Some(alarm);
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(alarm) = self.alarm {
            self.clock.state().alarms.remove(&(self.instant, alarm));
        }
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
