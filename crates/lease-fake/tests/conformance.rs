//! The fake store, put through every clause of the store ports.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Document, Effect, EffectKind, FencingToken, RunId};
use lease_fake::conformance::{EffectTrace, Harness, LockedRow, Store};
use lease_fake::{FakeStore, RowLock, StoreClock};
use serde_json::Value;

/// A fake store of its own for each clause.
struct FakeHarness {
    store: FakeStore,
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
    fn new() -> Self {
        let store = FakeStore::new(StoreClock::default());
        store.refuse_effect(&kind("refused"));
        Self { store }
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

lease_fake::conformance_tests!(FakeHarness::new());

/// A clause that is not in the macro's list would never run.
#[test]
fn every_clause_stands_in_the_list_of_the_macro() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/conformance");
    let suite = std::fs::read_to_string(format!("{folder}/suite.rs")).unwrap();
    let listed: BTreeSet<&str> = suite.lines().map(str::trim).collect();
    let mut clauses = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
            let clause = line.split('(').next().unwrap();
            assert!(listed.contains(clause), "{clause} is not in suite.rs");
            clauses += 1;
        }
    }
    assert!(clauses > 90, "only {clauses} clauses were found");
}
