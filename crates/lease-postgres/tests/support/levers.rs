//! What random histories need: the store emptied, read at once, and held up by somebody's transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use lease_core::RunId;
use lease_fake::conformance::{Harness as _, Store};
use lease_fake::differential::{Grip, HeldUp, Levers, Writes};
use serde_json::Value;
use sqlx::PgConnection;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::harness::PostgresHarness;
use super::{execute, value};

/// Sessions of the test's own, kept from one history to the next.
pub(crate) struct Sessions {
    /// Looks, empties and moves the clock.
    side: Arc<Mutex<PgConnection>>,
    /// Has the transaction that requests wait behind.
    holder: Arc<Mutex<PgConnection>>,
    /// How often all was emptied.
    cleared: AtomicU32,
}

impl Sessions {
    pub(crate) async fn open(database: &super::Database) -> Self {
        let session = async || Arc::new(Mutex::new(database.session().await));
        Self { side: session().await, holder: session().await, cleared: AtomicU32::new(0) }
    }
}

struct Held {
    holder: OwnedMutexGuard<PgConnection>,
    side: OwnedMutexGuard<PgConnection>,
    writes: Writes,
}

/// Plans that sessions have made outlive this.
const EMPTY: &str = "
    DELETE FROM lease.receipts;
    DELETE FROM lease.attempts;
    DELETE FROM lease.actions;
    DELETE FROM lease.runs;
    DELETE FROM lease.plans;
    DELETE FROM public.notes;
    UPDATE fake.clock SET now = '2026-01-01 00:00:00+00'";

/// Takes away what the deleted rows leave behind, and every session plans anew.
const AFRESH: &str =
    "TRUNCATE lease.runs, lease.receipts, lease.attempts, lease.actions, lease.plans, public.notes";

const AFRESH_EVERY: u32 = 200;

/// Columns and names are those of `RunRecord::to_value`.
const EVERYTHING: &str = "
SELECT coalesce(json_agg(x ORDER BY x.id), '[]')::text FROM (
    SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.priority, r.phase, r.phase_fence,
        r.phase_owner, r.phase_digest, r.status, r.paused, r.fence, r.owner,
        (extract(epoch FROM r.lease_expires_at) * 1000000)::bigint AS expires_us, r.lease_ended, r.losses,
        r.failures, (extract(epoch FROM r.due_at) * 1000000)::bigint AS due_us, r.key_epoch, r.input,
        r.input_digest, r.error, (extract(epoch FROM r.submitted_at) * 1000000)::bigint AS submitted_us,
        (SELECT coalesce(json_agg(json_build_object('phase', t.phase, 'fence', t.fence, 'body', t.body,
                'saved_us', (extract(epoch FROM t.saved_at) * 1000000)::bigint)
                ORDER BY array_position(r.phases, t.phase)), '[]')
            FROM lease.receipts t WHERE t.run_id = r.id) AS receipts,
        (SELECT coalesce(json_agg(json_build_object('fence', a.fence, 'owner', a.owner,
                'claimed_us', (extract(epoch FROM a.claimed_at) * 1000000)::bigint,
                'from_phase', a.from_phase, 'outcome', a.outcome,
                'ended_us', (extract(epoch FROM a.ended_at) * 1000000)::bigint, 'reason', a.reason)
                ORDER BY a.fence), '[]')
            FROM lease.attempts a WHERE a.run_id = r.id) AS attempts,
        (SELECT coalesce(json_agg(json_build_object('acted_us', (extract(epoch FROM c.acted_at) * 1000000)::bigint,
                'action', c.action, 'acted_by', c.acted_by, 'reason', c.reason) ORDER BY c.id), '[]')
            FROM lease.actions c WHERE c.run_id = r.id) AS actions,
        (SELECT coalesce(json_agg(json_build_object('note', n.note, 'fence', n.fence)
                ORDER BY n.fence, n.note), '[]')
            FROM public.notes n WHERE n.run = r.id) AS effects
    FROM lease.runs r) x";

const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'";

#[async_trait]
impl Levers for PostgresHarness {
    async fn clear(&self) {
        let sessions = self.sessions().await;
        let mut side = sessions.side.lock().await;
        execute(&mut side, EMPTY).await;
        if sessions.cleared.fetch_add(1, Ordering::Relaxed) % AFRESH_EVERY == AFRESH_EVERY - 1 {
            execute(&mut side, AFRESH).await;
        }
    }

    async fn everything(&self) -> Value {
        let text: String = value(&mut *self.sessions().await.side.lock().await, EVERYTHING).await;
        serde_json::from_str(&text).expect("PostgreSQL writes JSON")
    }

    /// Sessions are the pool's; what a process keeps for itself is of each one's own.
    async fn store_of(&self, _place: usize) -> Arc<dyn Store> {
        Arc::new(self.another_store())
    }

    async fn hold_up(&self, run: RunId, grip: Grip) -> Box<dyn HeldUp> {
        let sessions = self.sessions().await;
        let mut holder = Arc::clone(&sessions.holder).lock_owned().await;
        let mut taken = format!("BEGIN; SELECT FROM lease.runs WHERE id = '{run}' FOR UPDATE");
        if grip.attempts {
            taken += &format!("; SELECT FROM lease.attempts WHERE run_id = '{run}' FOR UPDATE");
        }
        match grip.writes {
            Writes::Nothing => {}
            Writes::TheSame => {
                taken += &format!("; UPDATE lease.runs SET priority = priority WHERE id = '{run}'");
            }
            Writes::Undone => {
                taken += &format!(
                    "; UPDATE lease.runs SET losses = losses + 100, paused = false WHERE id = '{run}'"
                );
            }
        }
        execute(&mut holder, taken).await;
        let side = Arc::clone(&sessions.side).lock_owned().await;
        Box::new(Held { holder, side, writes: grip.writes })
    }
}

#[async_trait]
impl HeldUp for Held {
    async fn waited_for_by(&mut self, requests: usize) -> bool {
        let requests = i64::try_from(requests).expect("a few requests");
        let enough = value::<i64>(&mut self.side, WAITING).await >= requests;
        if !enough {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        enough
    }

    async fn let_go(mut self: Box<Self>, elapse: Duration) {
        if !elapse.is_zero() {
            let micros = elapse.as_micros();
            let moved = format!("UPDATE fake.clock SET now = now + {micros} * interval '1 microsecond'");
            execute(&mut self.side, moved).await;
        }
        let end = match self.writes {
            Writes::Nothing | Writes::Undone => "ROLLBACK",
            Writes::TheSame => "COMMIT",
        };
        execute(&mut self.holder, end).await;
    }
}
