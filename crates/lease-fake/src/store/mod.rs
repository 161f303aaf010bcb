//! A store in memory: one lock around tables that are changed by the rules alone.
//!
//! Keeps ALL-OR-NOTHING by checking everything before it writes anything. A request, once sent, is
//! the store's: it takes effect also when its sender has stopped waiting, as on a real server.

mod leases;
mod operator;
mod orders;
mod reader;
mod renewals;
mod request;
mod tables;

use std::sync::{Arc, Mutex, MutexGuard};

pub use self::orders::{Backup, RowLock, Stored};
pub use self::tables::EffectRow;

use crate::fault::Faults;
use crate::journal::Judged;
use crate::signal::Bell;
use crate::store_clock::StoreClock;
use request::InFlight;
use tables::Tables;

/// A store in memory. Clones are the same store.
#[derive(Clone, Default)]
pub struct FakeStore {
    clock: StoreClock,
    bell: Arc<Bell>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    tables: Tables,
    faults: Faults,
    journal: Vec<Judged>,
    in_flight: Vec<InFlight>,
    next_request: u64,
}

impl FakeStore {
    /// An empty store that lives by this clock.
    #[must_use]
    pub fn new(clock: StoreClock) -> Self {
        Self { clock, ..Self::default() }
    }

    /// The store's clock.
    #[must_use]
    pub fn clock(&self) -> &StoreClock {
        &self.clock
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the store")
    }
}
