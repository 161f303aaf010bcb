//! What a store has to bring along for random histories, beyond what clauses need.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::RunId;
use serde_json::Value;

use crate::conformance::{Harness, Store};

/// A store that many histories use in turn.
#[async_trait]
pub trait Levers: Harness {
    /// Empties the store, and sets its clock to where [`crate::StoreClock::default`] begins.
    async fn clear(&self);

    /// Everything that the store keeps of its runs, read at once and past the ports: an array with an
    /// object for each run, in the order of their ids, as [`lease_core::RunRecord::to_value`] makes it,
    /// and in it `effects`, an array of the `note` and `fence` of each row that effects have left, by fence and note.
    async fn everything(&self) -> Value;

    /// The store as another process sees it, with nothing shared but what is kept. `place` tells it from
    /// others; for the same place it may be the same one.
    async fn store_of(&self, place: usize) -> Arc<dyn Store>;

    /// Holds up the requests that write to a run, as somebody's open transaction does that has its row,
    /// or whatever it is that this store locks.
    async fn hold_up(&self, run: RunId, grip: Grip) -> Box<dyn HeldUp>;
}

/// What somebody's transaction does to the run that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Grip {
    /// Whether it has the run's attempts, too.
    pub attempts: bool,
    /// What it writes to the run.
    pub writes: Writes,
}

/// What somebody's transaction writes to the run that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Writes {
    /// Nothing.
    #[default]
    Nothing,
    /// The row again, as it is: after the commit there is another version of it.
    TheSame,
    /// Something else, which is taken back.
    Undone,
}

/// A run that is held by somebody's transaction.
#[async_trait]
pub trait HeldUp: Send {
    /// Whether so many requests wait for it, as far as this store can tell. Looks once.
    async fn waited_for_by(&mut self, requests: usize) -> bool;

    /// Ends the transaction, once the store's clock has moved on by this much.
    async fn let_go(self: Box<Self>, elapse: Duration);
}
