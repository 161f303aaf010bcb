//! What random histories need, and ways in which a store may break the rules.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{RunId, RunReader as _, RunRecord};
use lease_fake::conformance::{Harness as _, Store};
use lease_fake::differential::{Grip, HeldUp, Levers};
use lease_fake::{FakeStore, RowLock, StoreClock};
use serde_json::{Value, json};

use super::FakeHarness;

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// An effect that has to be refused is written.
    EffectsOfEveryKind,
    /// Requests that waited are judged by the clock from before their wait.
    ClockBeforeTheLock,
    /// Nobody waits for a row that is locked.
    NoLock,
}

struct Held {
    store: FakeStore,
    lock: Option<RowLock>,
    flaw: Flaw,
}

#[async_trait]
impl Levers for FakeHarness {
    async fn clear(&self) {
        self.store.restore(&self.empty);
        self.store.clock().set(StoreClock::default().now());
    }

    async fn everything(&self) -> Value {
        let runs = self.store.runs_after(None, 100).await.expect("no fault is ordered");
        let mut all = Vec::new();
        for run in runs {
            let record = RunRecord::read(&self.store, run).await.expect("no fault is ordered");
            let mut value = record.expect("the run is there").to_value();
            let mut effects = self.effect_rows(run).await;
            effects.sort_by(|a, b| (a.fence, &a.note).cmp(&(b.fence, &b.note)));
            let effects = effects.iter().map(|row| json!({ "note": row.note, "fence": row.fence.get() }));
            value["effects"] = Value::Array(effects.collect());
            all.push(value);
        }
        Value::Array(all)
    }

    async fn store_of(&self, _place: usize) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn hold_up(&self, run: RunId, _grip: Grip) -> Box<dyn HeldUp> {
        let there = self.store.stored(run).is_some() && self.flaw != Flaw::NoLock;
        let lock = there.then(|| self.store.lock_row(run));
        Box::new(Held { store: self.store.clone(), lock, flaw: self.flaw })
    }
}

#[async_trait]
impl HeldUp for Held {
    async fn waited_for_by(&mut self, requests: usize) -> bool {
        self.store.in_flight() >= requests
    }

    async fn let_go(mut self: Box<Self>, elapse: Duration) {
        if self.flaw == Flaw::ClockBeforeTheLock {
            drop(self.lock.take());
        }
        self.store.clock().advance(elapse);
    }
}
