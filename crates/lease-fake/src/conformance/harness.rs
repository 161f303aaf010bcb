//! What a store has to bring along to be put through the clauses.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Effect, FencingToken, LeaseStore, Operator, RunId, RunReader};

/// All ports of a store.
pub trait Store: LeaseStore + Operator + RunReader {}

impl<S: LeaseStore + Operator + RunReader + ?Sized> Store for S {}

/// A store under test with the levers that tests need and no port has. Each clause gets a harness of
/// its own, with an empty store.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The store; always the same one.
    async fn store(&self) -> Arc<dyn Store>;

    /// Moves the store's clock on. Between two calls it stands still, so that clauses can name exact
    /// durations.
    async fn elapse(&self, by: Duration);

    /// Sets the store's clock back.
    async fn set_back(&self, by: Duration);

    /// An effect that this store writes; `note` tells it from others.
    fn effect(&self, note: &str) -> Effect;

    /// An effect that this store knows how to write, and refuses.
    fn refused_effect(&self) -> Effect;

    /// The rows that effects have left for a run, in any order.
    async fn effect_rows(&self, run: RunId) -> Vec<EffectTrace>;

    /// Sets a run's number, as in a store restored from a time when it stood there: attempts with
    /// larger numbers are gone, and nobody holds the run. `None`: never claimed.
    async fn set_fence(&self, run: RunId, fence: Option<FencingToken>);

    /// Sets the run's own row back to the start, with nothing saved; its receipts stand. A store
    /// that was restored in part looks so.
    async fn forget_saves(&self, run: RunId);

    /// Locks a run's row from outside, as somebody's open session does. `None` where the store has
    /// no locks of single rows; clauses about waiting for one then have nothing to check.
    async fn lock_row(&self, run: RunId) -> Option<Box<dyn LockedRow>>;
}

/// What an effect left behind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectTrace {
    /// The effect's note.
    pub note: String,
    /// The number of the claim that wrote it.
    pub fence: FencingToken,
}

/// A row that is locked from outside.
#[async_trait]
pub trait LockedRow: Send {
    /// Returns once this many requests wait for the row.
    async fn waited_for_by(&mut self, requests: usize);

    /// Lets go of the row, having changed nothing.
    async fn free(self: Box<Self>);
}
