//! What the tests stand on: a store on a file of the test's own whose clock the test moves, and the
//! levers on its tables.
//!
//! The clock is a temporary view that each of the test's own connections puts before the store's. No
//! connection that the store opens for itself has one.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Document, Effect, EffectKind, FencingToken, RunId, Ttl};
use lease_fake::conformance::{EffectTrace, Harness, LockedRow, Store};
use lease_sqlite::{HISTORY, SqlEffects, SqliteSettings, SqliteStore};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, Row as _};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use levers::Sessions;

pub(crate) mod levers;

pub(crate) struct SqliteHarness {
    pub(crate) store: SqliteStore,
    pub(crate) path: PathBuf,
    _folder: TempDir,
    sessions: OnceCell<Sessions>,
}

const TABLES: &str = "
    CREATE TABLE moved_clock (now_us INTEGER NOT NULL);
    INSERT INTO moved_clock VALUES (1767225600000000);
    CREATE TABLE notes (run TEXT NOT NULL, fence INTEGER NOT NULL, note TEXT NOT NULL);
    CREATE TABLE refused (body TEXT NOT NULL CONSTRAINT nothing_fits CHECK (false));";

const CLOCK: &str = "CREATE TEMP VIEW store_clock AS SELECT now_us FROM main.moved_clock";
const NOTE: &str = "INSERT INTO notes (run, fence, note) VALUES (?1, ?2, ?4 ->> 'note')";
const REFUSED: &str = "INSERT INTO refused (body) VALUES (?4)";

pub(crate) fn kind(text: &str) -> EffectKind {
    EffectKind::new(text).expect("a plain word")
}

pub(crate) fn settings() -> SqliteSettings {
    SqliteSettings::for_ttl(Ttl::new(Duration::from_secs(60)).expect("a minute is in range"))
}

/// A store on this file that lives by the moved clock.
async fn store_on(path: &Path) -> SqliteStore {
    let effects = SqlEffects::new([(kind("note"), NOTE), (kind("refused"), REFUSED)]);
    let session = vec![CLOCK.to_owned()];
    let store = SqliteStore::open_with_session(path, &settings(), false, session).await.expect("opened");
    store.with_effects(Arc::new(effects))
}

impl SqliteHarness {
    pub(crate) async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("runs.db");
        let first = SqliteStore::open_or_create(&path, &settings()).await.expect("a new file");
        first.migrate(&[&HISTORY]).await.expect("a new file can be migrated");
        execute(&path, TABLES).await;
        Self { store: store_on(&path).await, path, _folder: folder, sessions: OnceCell::new() }
    }

    /// With three stores as other processes have them.
    pub(crate) async fn sessions(&self) -> &Sessions {
        let open = async || {
            let path = &self.path;
            let others = vec![store_on(path).await, store_on(path).await, store_on(path).await];
            Sessions::open(path, others).await
        };
        self.sessions.get_or_init(open).await
    }

    async fn move_clock(&self, micros: i64) {
        let moved = format!("UPDATE moved_clock SET now_us = now_us + {micros}");
        self.sessions().await.execute(&moved).await;
    }
}

/// A connection as a person opens it with the sqlite3 shell.
pub(crate) async fn session(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::from_secs(10));
    options.disable_statement_logging().connect().await.expect("the file can be opened")
}

pub(crate) async fn execute(path: &Path, statements: &str) {
    let ran = session(path).await.execute(AssertSqlSafe(statements.to_owned())).await;
    ran.expect("the test's own statements are sound");
}

fn micros(by: Duration) -> i64 {
    i64::try_from(by.as_micros()).expect("clauses move the clock by little")
}

#[async_trait]
impl Harness for SqliteHarness {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn elapse(&self, by: Duration) {
        self.move_clock(micros(by)).await;
    }

    async fn set_back(&self, by: Duration) {
        self.move_clock(-micros(by)).await;
    }

    fn effect(&self, note: &str) -> Effect {
        let body = serde_json::json!({ "note": note });
        Effect { kind: kind("note"), body: Document::from_value(body).expect("a small object") }
    }

    fn refused_effect(&self) -> Effect {
        Effect { kind: kind("refused"), body: Document::default() }
    }

    async fn effect_rows(&self, run: RunId) -> Vec<EffectTrace> {
        let ask = sqlx::query("SELECT note, fence FROM notes WHERE run = ?1").bind(run.to_string());
        let rows = ask.fetch_all(&mut session(&self.path).await).await.expect("the notes can be read");
        let traces = rows.iter().map(|row| {
            let fence = FencingToken::from_column(row.get("fence")).expect("a fence").expect("above zero");
            EffectTrace { note: row.get("note"), fence }
        });
        traces.collect()
    }

    async fn set_fence(&self, run: RunId, fence: Option<FencingToken>) {
        let fence = fence.map_or(0, FencingToken::to_column);
        let statements = format!(
            "DELETE FROM lease_attempts WHERE run_id = '{run}' AND fence > {fence};
             UPDATE lease_runs SET fence = {fence}, lease_expires_us = NULL,
                 owner = CASE WHEN {fence} > 0 THEN 'restored' END,
                 lease_ended = CASE WHEN {fence} > 0 THEN 'yielded' END
             WHERE id = '{run}'"
        );
        execute(&self.path, &statements).await;
    }

    async fn forget_saves(&self, run: RunId) {
        let statement = format!(
            "UPDATE lease_runs SET phase = 'submitted', phase_fence = NULL, phase_owner = NULL, phase_digest = NULL
             WHERE id = '{run}'"
        );
        execute(&self.path, &statement).await;
    }

    /// SQLite locks the file, not rows.
    async fn lock_row(&self, _run: RunId) -> Option<Box<dyn LockedRow>> {
        None
    }
}
