//! Slots, and the steps that still live in this process.
//!
//! A step that blocks its thread cannot be ended. It keeps its slot until it returns, and until
//! then its run is not claimed again here: two steps of one run in one process would share files,
//! ports and the like, whatever their numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lease_core::RunId;
use tokio::sync::Notify;

/// The slots of a worker.
#[derive(Debug)]
pub(super) struct Living {
    slots: usize,
    changed: Notify,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    used: usize,
    runs: HashMap<RunId, usize>,
}

/// A slot, and the mark that something of this run still lives. Clones share the slot, which is
/// free once all are dropped.
#[derive(Debug, Clone)]
pub(super) struct Slot(#[expect(dead_code, reason = "held for its drop")] Arc<Holding>);

#[derive(Debug)]
struct Holding {
    living: Arc<Living>,
    run: RunId,
}

impl Living {
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self { slots, changed: Notify::new(), held: Mutex::default() })
    }

    /// How many slots are free.
    pub(super) fn free(&self) -> usize {
        self.slots.saturating_sub(self.locked(|held| held.used))
    }

    /// The runs of which something lives here.
    pub(super) fn runs(&self) -> Vec<RunId> {
        self.locked(|held| held.runs.keys().copied().collect())
    }

    /// Whether something of this run lives here.
    pub(super) fn has(&self, run: RunId) -> bool {
        self.locked(|held| held.runs.contains_key(&run))
    }

    /// Takes a slot for a run.
    pub(super) fn take(self: &Arc<Self>, run: RunId) -> Slot {
        self.locked(|held| {
            held.used += 1;
            *held.runs.entry(run).or_default() += 1;
        });
        Slot(Arc::new(Holding { living: Arc::clone(self), run }))
    }

    /// Returns when a slot was freed since the last wait.
    pub(super) async fn freed(&self) {
        self.changed.notified().await;
    }

    fn locked<T>(&self, look: impl FnOnce(&mut Held) -> T) -> T {
        // A panic cannot leave the counts half-changed: each change is one step.
        look(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.living.locked(|held| {
            held.used -= 1;
            if let Some(count) = held.runs.get_mut(&self.run) {
                *count -= 1;
                if *count == 0 {
                    held.runs.remove(&self.run);
                }
            }
        });
        self.living.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_stays_taken_until_its_last_holder_is_gone() {
        let living = Living::new(2);
        let run = super::super::new_run_id();
        let slot = living.take(run);
        let step = slot.clone();
        drop(slot);
        assert_eq!((living.free(), living.has(run)), (1, true));
        drop(step);
        assert_eq!((living.free(), living.runs()), (2, Vec::new()));
    }
}
