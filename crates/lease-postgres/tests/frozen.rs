//! A worker that is frozen as a whole inside a save's transaction. ALL-OR-NOTHING, LIVENESS.

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use lease_core::{ClaimVerdict, Effect, LeaseStore as _, Phase, RunReader as _};
use lease_postgres::{EffectError, EffectWriter, PgStore, SavedPhase};
use serde_json::json;
use sqlx::PgConnection;
use support::words::{claim, effect, granted, minute, opened, save_with, ttl};
use support::{Database, Deadline, settings};

/// Writes nothing, and keeps its thread, and with it all of its worker, from going on.
struct Frozen {
    reached: std::sync::mpsc::Sender<()>,
    go_on: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
}

#[async_trait]
impl EffectWriter for Frozen {
    async fn write(
        &self,
        _connection: &mut PgConnection,
        _saved: &SavedPhase,
        _effects: &[Effect],
    ) -> Result<(), EffectError> {
        self.reached.send(()).expect("the test waits for this");
        self.go_on.lock().expect("one at a time").recv().expect("the test lets it go on");
        Ok(())
    }
}

/// Case 33, where the worker cannot even give up by itself, and its sessions' own limit is far longer than
/// the lease: the limit of this very transaction stands alone.
#[tokio::test]
async fn case_33_only_the_transactions_own_limit_stands_where_a_whole_worker_is_frozen() {
    let database = Database::migrated().await;
    let other = database.store().await;
    let lease = granted(&other, opened(&other, 1, "one").await, "w#1", ttl(400)).await;
    let asked = save_with(&lease, "submitted", "a", ttl(400), vec![effect("nothing", json!({}))]);
    let (reached, is_reached) = std::sync::mpsc::channel();
    let (let_go, go_on) = std::sync::mpsc::channel();
    let url = database.url.clone();
    let worker = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let writer = Frozen { reached, go_on: std::sync::Mutex::new(go_on) };
            let frozen = PgStore::connect(&url, &settings()).await.expect("reached");
            frozen.with_effects(Arc::new(writer)).save(&asked).await
        })
    });
    let deadline = Deadline::new();
    while is_reached.try_recv().is_err() {
        deadline.pause().await;
    }
    loop {
        // It waits for the row until the server has ended that transaction.
        let verdict = other.claim(&claim(lease.run, "b#1", minute())).await.expect("the row is free in time");
        if matches!(verdict, ClaimVerdict::Granted(_)) {
            break;
        }
        assert!(matches!(verdict, ClaimVerdict::Busy { .. }), "{verdict:?}");
        deadline.pause().await;
    }
    let_go.send(()).expect("it waits for this");
    let late = worker.join().expect("no panic");
    assert!(late.is_err(), "{late:?}");
    let view = other.view(lease.run).await.expect("an answer").expect("the run");
    assert_eq!(view.run.phase, Phase::Submitted);
    assert_eq!(other.receipts(lease.run).await.expect("an answer"), []);
}
