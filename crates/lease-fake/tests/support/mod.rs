//! The fake store with the levers that clauses and histories need.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Document, Effect, EffectKind, FencingToken, RunId};
use lease_fake::conformance::{EffectTrace, Harness, LockedRow, Store};
use lease_fake::{Backup, FakeStore, RowLock, StoreClock};
use serde_json::Value;

pub(crate) mod levers;

use levers::Flaw;

/// A fake store of its own for each clause.
pub(crate) struct FakeHarness {
    store: FakeStore,
    /// All tables as they stood at first.
    empty: Backup,
    /// For histories.
    flaw: Flaw,
}

/// A locked row, and the store to see who waits for it.
struct Locked {
    store: FakeStore,
    lock: RowLock,
}

fn kind(text: &str) -> EffectKind {
    EffectKind::new(text).expect("a plain word")
}

impl FakeHarness {
    pub(crate) fn new() -> Self {
        Self::with(Flaw::None)
    }

    pub(crate) fn with(flaw: Flaw) -> Self {
        let store = FakeStore::new(StoreClock::default());
        if flaw != Flaw::EffectsOfEveryKind {
            store.refuse_effect(&kind("refused"));
        }
        let empty = store.back_up();
        Self { store, empty, flaw }
    }
}

#[async_trait]
impl Harness for FakeHarness {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn elapse(&self, by: Duration) {
        self.store.clock().advance(by);
    }

    async fn set_back(&self, by: Duration) {
        self.store.clock().set_back(by);
    }

    fn effect(&self, note: &str) -> Effect {
        let body = serde_json::json!({ "note": note });
        Effect { kind: kind("note"), body: Document::from_value(body).expect("a small object") }
    }

    fn refused_effect(&self) -> Effect {
        Effect { kind: kind("refused"), body: Document::default() }
    }

    async fn effect_rows(&self, run: RunId) -> Vec<EffectTrace> {
        let effects = self.store.stored(run).map(|stored| stored.effects).unwrap_or_default();
        let traces = effects.into_iter().map(|row| {
            let note = row.body.fields().get("note").and_then(Value::as_str).unwrap_or_default();
            EffectTrace { note: note.to_owned(), fence: row.fence }
        });
        traces.collect()
    }

    async fn set_fence(&self, run: RunId, fence: Option<FencingToken>) {
        self.store.set_fence(run, fence);
    }

    async fn forget_saves(&self, run: RunId) {
        self.store.forget_saves(run);
    }

    async fn lock_row(&self, run: RunId) -> Option<Box<dyn LockedRow>> {
        let lock = self.store.lock_row(run);
        Some(Box::new(Locked { store: self.store.clone(), lock }))
    }
}

#[async_trait]
impl LockedRow for Locked {
    async fn waited_for_by(&mut self, requests: usize) {
        while self.store.in_flight() < requests {
            tokio::task::yield_now().await;
        }
    }

    async fn free(self: Box<Self>) {
        drop(self.lock);
    }
}
