//! What random histories need: the store emptied, read at once, and held up by somebody's transaction.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::RunId;
use lease_fake::conformance::Store;
use lease_fake::differential::{Grip, HeldUp, Levers, Writes};
use lease_sqlite::SqliteStore;
use serde_json::Value;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor as _};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{SqliteHarness, session};

/// Connections of the test's own, kept from one history to the next.
pub(crate) struct Sessions {
    /// Looks, empties and moves the clock.
    side: Mutex<SqliteConnection>,
    /// Has the transaction that requests wait behind.
    holder: Arc<Mutex<SqliteConnection>>,
    /// Other processes' stores.
    others: Vec<SqliteStore>,
}

impl Sessions {
    pub(crate) async fn open(path: &Path, others: Vec<SqliteStore>) -> Self {
        let (side, holder) = (session(path).await, session(path).await);
        Self { side: Mutex::new(side), holder: Arc::new(Mutex::new(holder)), others }
    }

    /// Runs statements of the test's own.
    pub(crate) async fn execute(&self, statements: &str) {
        execute(&mut *self.side.lock().await, statements).await;
    }
}

struct Held {
    holder: OwnedMutexGuard<SqliteConnection>,
    writes: Writes,
}

const EMPTY: &str = "
    BEGIN IMMEDIATE;
    DELETE FROM lease_receipts;
    DELETE FROM lease_attempts;
    DELETE FROM lease_actions;
    DELETE FROM lease_runs;
    DELETE FROM lease_plans;
    DELETE FROM notes;
    UPDATE moved_clock SET now_us = 1767225600000000;
    COMMIT";

/// Columns and names are those of `RunRecord::to_value`.
const EVERYTHING: &str = "
SELECT json_group_array(json(x.run)) AS everything FROM (
    SELECT json_object('id', r.id, 'key', r.key, 'plan', r.plan, 'plan_version', r.plan_version,
        'plan_digest', r.plan_digest, 'phases', json(r.phases), 'priority', r.priority, 'phase', r.phase,
        'phase_fence', r.phase_fence, 'phase_owner', r.phase_owner, 'phase_digest', r.phase_digest,
        'status', r.status, 'paused', json(iif(r.paused, 'true', 'false')), 'fence', r.fence, 'owner', r.owner,
        'expires_us', r.lease_expires_us, 'lease_ended', r.lease_ended, 'losses', r.losses,
        'failures', r.failures, 'due_us', r.due_us, 'key_epoch', r.key_epoch, 'input', json(r.input),
        'input_digest', r.input_digest, 'error', json(r.error), 'submitted_us', r.submitted_us,
        'receipts', (SELECT json_group_array(json_object('phase', t.phase, 'fence', t.fence,
                'body', json(t.body), 'saved_us', t.saved_us) ORDER BY p.key)
            FROM json_each(r.phases) p JOIN lease_receipts t ON t.run_id = r.id AND t.phase = p.value),
        'attempts', (SELECT json_group_array(json_object('fence', a.fence, 'owner', a.owner,
                'claimed_us', a.claimed_us, 'from_phase', a.from_phase, 'outcome', a.outcome,
                'ended_us', a.ended_us, 'reason', json(a.reason)) ORDER BY a.fence)
            FROM lease_attempts a WHERE a.run_id = r.id),
        'actions', (SELECT json_group_array(json_object('acted_us', c.acted_us, 'action', c.action,
                'acted_by', c.acted_by, 'reason', c.reason) ORDER BY c.id)
            FROM lease_actions c WHERE c.run_id = r.id),
        'effects', (SELECT json_group_array(json_object('note', n.note, 'fence', n.fence) ORDER BY n.fence, n.note)
            FROM notes n WHERE n.run = r.id)) AS run
    FROM lease_runs r ORDER BY r.id) x";

async fn execute(connection: &mut SqliteConnection, statements: &str) {
    let ran = connection.execute(AssertSqlSafe(statements.to_owned())).await;
    ran.expect("the test's own statements are sound");
}

#[async_trait]
impl Levers for SqliteHarness {
    async fn clear(&self) {
        self.sessions().await.execute(EMPTY).await;
    }

    async fn everything(&self) -> Value {
        let mut side = self.sessions().await.side.lock().await;
        let text: Result<String, _> = sqlx::query_scalar(EVERYTHING).fetch_one(&mut *side).await;
        serde_json::from_str(&text.expect("the tables can be read")).expect("SQLite writes JSON")
    }

    async fn store_of(&self, place: usize) -> Arc<dyn Store> {
        let others = &self.sessions().await.others;
        Arc::new(others[place % others.len()].clone())
    }

    /// SQLite locks the whole file, whatever is held of it.
    async fn hold_up(&self, run: RunId, grip: Grip) -> Box<dyn HeldUp> {
        let mut holder = Arc::clone(&self.sessions().await.holder).lock_owned().await;
        let written = match grip.writes {
            Writes::Nothing => String::new(),
            Writes::TheSame => format!("UPDATE lease_runs SET priority = priority WHERE id = '{run}'"),
            Writes::Undone => format!(
                "SAVEPOINT undone; UPDATE lease_runs SET losses = losses + 100, paused = 0 WHERE id = '{run}'"
            ),
        };
        execute(&mut holder, &format!("BEGIN IMMEDIATE; {written}")).await;
        Box::new(Held { holder, writes: grip.writes })
    }
}

#[async_trait]
impl HeldUp for Held {
    /// Nobody can see who waits for a file: those who do ask again every few milliseconds.
    async fn waited_for_by(&mut self, _requests: usize) -> bool {
        tokio::time::sleep(Duration::from_millis(1)).await;
        true
    }

    /// The clock stands in the same file, so that moving it is part of the transaction.
    async fn let_go(mut self: Box<Self>, elapse: Duration) {
        if self.writes == Writes::Undone {
            execute(&mut self.holder, "ROLLBACK TO undone").await;
        }
        if !elapse.is_zero() {
            let moved = format!("UPDATE moved_clock SET now_us = now_us + {}", elapse.as_micros());
            execute(&mut self.holder, &moved).await;
        }
        let end = if elapse.is_zero() && self.writes != Writes::TheSame { "ROLLBACK" } else { "COMMIT" };
        execute(&mut self.holder, end).await;
    }
}
