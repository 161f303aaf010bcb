//! Time that passes by hand, and who waits for it.
//!
//! Clocks are readings of a time line. Sleepers are woken in the order of their instants, those of
//! one instant in the order they lay down, with the time line standing at their instant.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

/// One passage of time, shared by the clocks that read it.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimeLine(Arc<Mutex<Passage>>);

#[derive(Debug, Default)]
struct Passage {
    elapsed: Duration,
    sleepers: BTreeMap<(Duration, u64), Waker>,
    next_sleeper: u64,
}

/// A place among the sleepers; gives it up when dropped.
#[derive(Debug)]
pub(crate) struct Sleeper {
    line: TimeLine,
    place: Option<(Duration, u64)>,
}

impl TimeLine {
    fn lock(&self) -> MutexGuard<'_, Passage> {
        self.0.lock().expect("nothing panics while it holds a time line")
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.lock().elapsed
    }

    /// When the first sleeper wants to be woken.
    pub(crate) fn next_wake(&self) -> Option<Duration> {
        self.lock().sleepers.first_key_value().map(|((instant, _), _)| *instant)
    }

    pub(crate) fn sleepers(&self) -> usize {
        self.lock().sleepers.len()
    }

    /// Moves on to `target`; never back.
    pub(crate) fn advance_to(&self, target: Duration) {
        while let Some(waker) = self.next_due(target) {
            waker.wake();
        }
        let mut passage = self.lock();
        passage.elapsed = passage.elapsed.max(target);
    }

    fn next_due(&self, target: Duration) -> Option<Waker> {
        let mut passage = self.lock();
        let first = passage.sleepers.first_entry()?;
        let (instant, _) = *first.key();
        if target < instant {
            return None;
        }
        let waker = first.remove();
        passage.elapsed = passage.elapsed.max(instant);
        Some(waker)
    }

    /// Wakes everybody, to look again at a clock whose reading was set.
    pub(crate) fn wake_all(&self) {
        let sleepers = std::mem::take(&mut self.lock().sleepers);
        sleepers.into_values().for_each(Waker::wake);
    }

    pub(crate) fn sleeper(&self) -> Sleeper {
        Sleeper { line: self.clone(), place: None }
    }
}

impl Sleeper {
    /// Lies down until `instant`, in place of where it lay before.
    pub(crate) fn lie_down(&mut self, instant: Duration, waker: &Waker) {
        let mut passage = self.line.lock();
        let order = match self.place.take() {
            Some((before, order)) => {
                passage.sleepers.remove(&(before, order));
                order
            }
            None => {
                passage.next_sleeper += 1;
                passage.next_sleeper
            }
        };
        passage.sleepers.insert((instant, order), waker.clone());
        self.place = Some((instant, order));
    }

    /// Gets up.
    pub(crate) fn get_up(&mut self) {
        if let Some(place) = self.place.take() {
            self.line.lock().sleepers.remove(&place);
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.get_up();
    }
}
