//! Whose turn it is: one save with effects at a time for each lease.
//!
//! Such a save cannot be stopped half-way, so a caller that gives up and asks again leaves it behind.
//! The next one waits for it: saves that all wait for the same lock would otherwise take one connection
//! after the other from everybody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use lease_core::LeaseId;
use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard};

/// The leases that are being saved under.
#[derive(Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<HashMap<LeaseId, Weak<FairMutex<()>>>>>);

/// Held while a save is under way.
pub(crate) struct Turn(#[expect(dead_code, reason = "held for its drop")] OwnedMutexGuard<()>);

impl Turns {
    /// Waits until no save of this lease is under way.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the place in the queue, and nothing else.
    pub(crate) async fn of(&self, lease: &LeaseId) -> Turn {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match turns.get(lease).and_then(Weak::upgrade) {
                Some(turn) => turn,
                None => {
                    turns.retain(|_, turn| turn.strong_count() > 0);
                    let turn = Arc::new(FairMutex::new(()));
                    turns.insert(lease.clone(), Arc::downgrade(&turn));
                    turn
                }
            }
        };
        Turn(turn.lock_owned().await)
    }
}
