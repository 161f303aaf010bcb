//! The harness of the conformance suite: the store's own statements on a clock moved by hand.
//!
//! The clock is a function of the test's own that stands before PostgreSQL's in the `search_path` of
//! the test's own pool. The connections that the store makes for itself pin their `search_path` and
//! cannot be reached this way.

use std::sync::Arc;
use std::time::Duration;

use super::levers::Sessions;
use super::{Database, execute, waiting_sessions};
use async_trait::async_trait;
use lease_core::{Document, Effect, EffectKind, FencingToken, RunId};
use lease_fake::conformance::{EffectTrace, Harness, LockedRow, Store};
use lease_postgres::{PgStore, SqlEffects};
use sqlx::postgres::PgPool;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::OnceCell;

/// A store on a clock moved by hand, and the levers on its tables.
pub(crate) struct PostgresHarness {
    pub(crate) store: PgStore,
    pub(crate) pool: PgPool,
    database: Database,
    sessions: OnceCell<Sessions>,
}

struct Locked {
    session: PgConnection,
    watcher: PgConnection,
}

const TABLES: &str = "
    CREATE SCHEMA fake;
    CREATE TABLE fake.clock (now timestamptz NOT NULL);
    INSERT INTO fake.clock VALUES ('2026-01-01 00:00:00+00');
    CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT now FROM fake.clock';
    CREATE TABLE public.notes (run uuid NOT NULL, fence bigint NOT NULL, note text NOT NULL);
    CREATE TABLE public.refused (body jsonb NOT NULL CONSTRAINT nothing_fits CHECK (false));";

const NOTE: &str = "INSERT INTO public.notes (run, fence, note) VALUES ($1, $2, $4 ->> 'note')";
const REFUSED: &str = "INSERT INTO public.refused (body) VALUES ($4)";

fn kind(text: &str) -> EffectKind {
    EffectKind::new(text).expect("a plain word")
}

fn effects() -> Arc<SqlEffects> {
    Arc::new(SqlEffects::new([(kind("note"), NOTE), (kind("refused"), REFUSED)]))
}

impl PostgresHarness {
    pub(crate) async fn open() -> Self {
        let database = Database::migrated().await;
        execute(&mut database.session().await, TABLES).await;
        let pool = database.pool_with_fake_clock().await;
        let store = PgStore::from_pool(pool.clone()).with_effects(effects());
        Self { store, pool, database, sessions: OnceCell::new() }
    }

    /// A store with nothing of this one's but its pool.
    pub(crate) fn another_store(&self) -> PgStore {
        PgStore::from_pool(self.pool.clone()).with_effects(effects())
    }

    pub(crate) async fn sessions(&self) -> &Sessions {
        self.sessions.get_or_init(|| Sessions::open(&self.database)).await
    }

    async fn move_clock(&self, sign: i64, by: Duration) {
        let micros = sign * i64::try_from(by.as_micros()).expect("clauses move the clock by little");
        let moved = sqlx::query("UPDATE fake.clock SET now = now + $1 * interval '1 microsecond'");
        moved.bind(micros).execute(&self.pool).await.expect("the clock can be moved");
    }
}

#[async_trait]
impl Harness for PostgresHarness {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn elapse(&self, by: Duration) {
        self.move_clock(1, by).await;
    }

    async fn set_back(&self, by: Duration) {
        self.move_clock(-1, by).await;
    }

    fn effect(&self, note: &str) -> Effect {
        let body = serde_json::json!({ "note": note });
        Effect { kind: kind("note"), body: Document::from_value(body).expect("a small object") }
    }

    fn refused_effect(&self) -> Effect {
        Effect { kind: kind("refused"), body: Document::default() }
    }

    async fn effect_rows(&self, run: RunId) -> Vec<EffectTrace> {
        let rows: Vec<(String, i64)> = sqlx::query_as("SELECT note, fence FROM public.notes WHERE run = $1")
            .bind(run.as_uuid())
            .fetch_all(&self.pool)
            .await
            .expect("the notes can be read");
        let traces = rows.into_iter().map(|(note, fence)| {
            let fence = FencingToken::from_column(fence).expect("a fence").expect("above zero");
            EffectTrace { note, fence }
        });
        traces.collect()
    }

    async fn set_fence(&self, run: RunId, fence: Option<FencingToken>) {
        let fence = fence.map_or(0, FencingToken::to_column);
        let statements = [
            "DELETE FROM lease.attempts WHERE run_id = $1 AND fence > $2",
            "UPDATE lease.runs
             SET fence = $2, lease_expires_at = NULL,
                 owner = CASE WHEN $2 > 0 THEN 'restored' END,
                 lease_ended = CASE WHEN $2 > 0 THEN 'yielded' END
             WHERE id = $1",
        ];
        for statement in statements {
            let done = sqlx::query(statement).bind(run.as_uuid()).bind(fence).execute(&self.pool).await;
            done.expect("a number can be set");
        }
    }

    async fn forget_saves(&self, run: RunId) {
        let forgotten = sqlx::query(
            "UPDATE lease.runs
             SET phase = 'submitted', phase_fence = NULL, phase_owner = NULL, phase_digest = NULL
             WHERE id = $1",
        );
        forgotten.bind(run.as_uuid()).execute(&self.pool).await.expect("saves can be forgotten");
    }

    async fn lock_row(&self, run: RunId) -> Option<Box<dyn LockedRow>> {
        let mut session = self.database.session().await;
        let lock = format!("BEGIN; SELECT FROM lease.runs WHERE id = '{run}' FOR UPDATE");
        execute(&mut session, lock).await;
        Some(Box::new(Locked { session, watcher: self.database.session().await }))
    }
}

#[async_trait]
impl LockedRow for Locked {
    async fn waited_for_by(&mut self, requests: usize) {
        let requests = i64::try_from(requests).expect("clauses send few requests");
        waiting_sessions(&mut self.watcher, requests).await;
    }

    async fn free(mut self: Box<Self>) {
        execute(&mut self.session, "ROLLBACK").await;
        self.session.close().await.ok();
    }
}
