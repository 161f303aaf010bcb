//! What a test orders of the fake store, and what it sees in it without asking through a port.

use lease_core::{
    Attempt, EffectKind, FencingToken, Hold, LeaseEnd, OperatorAction, OwnerId, Phase, Receipt, Run, RunId,
};

use super::FakeStore;
use super::tables::{EffectRow, Tables};
use crate::fault::Fault;
use crate::journal::{Judged, Operation};

/// Everything the store keeps of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The run's row.
    pub run: Run,
    /// Its receipts, in the order they were written.
    pub receipts: Vec<Receipt>,
    /// Its attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// What operators did, oldest first.
    pub actions: Vec<OperatorAction>,
    /// The rows that effects left, in the order they were written.
    pub effects: Vec<EffectRow>,
}

/// All tables as they once stood.
#[derive(Debug, Clone)]
pub struct Backup(Tables);

/// A row that is locked from outside, as by somebody's open session, until this is dropped.
#[must_use = "the row is free again when this is dropped"]
pub struct RowLock {
    store: FakeStore,
    run: RunId,
}

impl FakeStore {
    /// Orders a fault for the next `times` requests of this kind, after those ordered before.
    pub fn order(&self, operation: Operation, fault: &Fault, times: usize) {
        let mut state = self.lock();
        for _ in 0..times {
            state.faults.order(operation, Some(fault.clone()));
        }
    }

    /// Lets the next `times` requests of this kind through, after the faults ordered before.
    pub fn let_through(&self, operation: Operation, times: usize) {
        let mut state = self.lock();
        for _ in 0..times {
            state.faults.order(operation, None);
        }
    }

    /// Takes back every fault that has not happened yet.
    pub fn no_more_faults(&self) {
        self.lock().faults.clear();
    }

    /// From now on effects of this kind are refused.
    pub fn refuse_effect(&self, kind: &EffectKind) {
        self.lock().tables.refused.push(kind.clone());
    }

    /// Locks a run's row from outside.
    pub fn lock_row(&self, run: RunId) -> RowLock {
        self.settle();
        *self.lock().tables.locks.entry(run).or_default() += 1;
        RowLock { store: self.clone(), run }
    }

    /// What was judged so far, oldest first.
    #[must_use]
    pub fn journal(&self) -> Vec<Judged> {
        self.settle();
        self.lock().journal.clone()
    }

    /// What was judged after the first `seen` entries.
    #[must_use]
    pub fn journal_after(&self, seen: usize) -> Vec<Judged> {
        self.settle();
        self.lock().journal.get(seen..).unwrap_or_default().to_vec()
    }

    /// Everything kept of a run; `None` if there is none. No fault touches this.
    #[must_use]
    pub fn stored(&self, run: RunId) -> Option<Stored> {
        self.settle();
        let state = self.lock();
        let row = state.tables.rows.get(&run)?;
        let effects = state.tables.effects.iter().filter(|effect| effect.run == run);
        Some(Stored {
            run: row.run.clone(),
            receipts: row.receipts.clone(),
            attempts: row.attempts.clone(),
            actions: row.actions.clone(),
            effects: effects.cloned().collect(),
        })
    }

    /// A copy of all tables.
    #[must_use]
    pub fn back_up(&self) -> Backup {
        self.settle();
        Backup(self.lock().tables.clone())
    }

    /// Sets all tables back to a copy. Locks and requests under way are as they are.
    pub fn restore(&self, backup: &Backup) {
        self.settle();
        let mut state = self.lock();
        let now = std::mem::replace(&mut state.tables, backup.0.clone());
        state.tables.locks = now.locks;
        state.tables.freed = now.freed;
    }

    /// Sets a run's number, as in a store restored from a time when it stood there: attempts with
    /// larger numbers are gone, and nobody holds the run. `None`: never claimed.
    pub fn set_fence(&self, run: RunId, fence: Option<FencingToken>) {
        self.settle();
        let mut state = self.lock();
        let Some(row) = state.tables.rows.get_mut(&run) else { return };
        row.attempts.retain(|attempt| Some(attempt.fence) <= fence);
        row.run.hold = match fence {
            None => Hold::Never,
            Some(fence) => {
                let owner = OwnerId::from_stored("restored").expect("a short name is an owner");
                Hold::Ended { fence, owner, how: LeaseEnd::Yielded }
            }
        };
    }

    /// Sets a run's row alone back to the start; its receipts stand.
    pub fn forget_saves(&self, run: RunId) {
        self.settle();
        if let Some(row) = self.lock().tables.rows.get_mut(&run) {
            row.run.phase = Phase::Submitted;
            row.run.mark = None;
        }
    }
}

impl Drop for RowLock {
    fn drop(&mut self) {
        let now = self.store.clock.now();
        {
            let mut state = self.store.lock();
            let count = state.tables.locks.entry(self.run).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                state.tables.locks.remove(&self.run);
                state.tables.freed.insert(self.run, now);
            }
        }
        self.store.settle();
    }
}
