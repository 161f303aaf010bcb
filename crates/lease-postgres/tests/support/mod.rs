//! A database of its own for each test, made from the server that `DATABASE_URL` names and dropped
//! after.
//!
//! Without `DATABASE_URL` every test here fails and says so: a test that passes because its database
//! was missing proves nothing.

#![allow(dead_code, unused_imports, unused_macros, reason = "each test binary uses a part of this")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lease_core::Ttl;
use lease_postgres::{HISTORY, PgSettings, PgStore};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection};

pub(crate) mod harness;
pub(crate) mod levers;
pub(crate) mod proxy;
pub(crate) mod scene;
pub(crate) mod words;

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// A database that goes with this value.
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) url: String,
}

fn maintenance_url() -> String {
    std::env::var("DATABASE_URL").expect(
        "DATABASE_URL must name a database of a PostgreSQL server: run this under `cargo xtask with-pg`",
    )
}

impl Database {
    /// An empty database.
    pub(crate) async fn empty() -> Self {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lease_test_{}_{number}", std::process::id());
        let maintenance = maintenance_url();
        let mut connection = PgConnection::connect(&maintenance).await.expect("DATABASE_URL can be reached");
        execute(&mut connection, format!("DROP DATABASE IF EXISTS {name}")).await;
        execute(&mut connection, format!("CREATE DATABASE {name}")).await;
        let url = on_database(&maintenance, &name);
        Self { name, url }
    }

    /// A database with the store's tables.
    pub(crate) async fn migrated() -> Self {
        let database = Self::empty().await;
        database.store().await.migrate(&[&HISTORY]).await.expect("a new database can be migrated");
        database
    }

    /// A store as the product connects, with limits for leases of a minute.
    pub(crate) async fn store(&self) -> PgStore {
        self.store_with(&settings()).await
    }

    pub(crate) async fn store_with(&self, settings: &PgSettings) -> PgStore {
        PgStore::connect(&self.url, settings).await.expect("the test's own database can be reached")
    }

    /// A session as a person opens it with psql.
    pub(crate) async fn session(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the test's own database can be reached")
    }

    /// A pool whose sessions resolve `clock_timestamp()` to the test's own clock first.
    pub(crate) async fn pool_with_fake_clock(&self) -> PgPool {
        let options: PgConnectOptions = self.url.parse().expect("the test's own URL is valid");
        let options = options.options([
            ("search_path", "fake,pg_catalog"),
            ("jit", "off"),
            ("plan_cache_mode", "force_generic_plan"),
            ("statement_timeout", "30s"),
        ]);
        PgPoolOptions::new()
            .max_connections(40)
            .test_before_acquire(false)
            .connect_with(options.disable_statement_logging())
            .await
            .expect("the test's own database can be reached")
    }
}

impl Drop for Database {
    /// On a thread and runtime of its own: a test may end in the middle of anything.
    fn drop(&mut self) {
        let (maintenance, name) = (maintenance_url(), self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                if let Ok(mut connection) = PgConnection::connect(&maintenance).await {
                    let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                    connection.execute(AssertSqlSafe(statement)).await.ok();
                }
            });
        });
        dropping.join().ok();
    }
}

/// Limits for leases of a minute.
pub(crate) fn settings() -> PgSettings {
    let ttl = Ttl::new(Duration::from_secs(60)).expect("a minute is in range");
    PgSettings { max_connections: 40, ..PgSettings::for_ttl(ttl) }
}

/// Runs statements, and fails the test where they fail.
pub(crate) async fn execute(connection: &mut PgConnection, statements: impl Into<String>) {
    let statements: String = statements.into();
    let done = sqlx::raw_sql(AssertSqlSafe(statements.clone())).execute(connection).await;
    if let Err(error) = done {
        panic!("{statements}: {error}");
    }
}

/// The one value that a query returns.
pub(crate) async fn value<T>(connection: &mut PgConnection, query: impl Into<String>) -> T
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
{
    let query = query.into();
    let row: Result<(T,), _> = sqlx::query_as(AssertSqlSafe(query.clone())).fetch_one(connection).await;
    row.unwrap_or_else(|error| panic!("{query}: {error}")).0
}

/// Returns once so many sessions of this database wait for a lock.
pub(crate) async fn waiting_sessions(connection: &mut PgConnection, sessions: i64) {
    let deadline = Deadline::new();
    loop {
        let query = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        if value::<i64>(connection, query.to_owned()).await >= sessions {
            return;
        }
        deadline.pause().await;
    }
}

/// For tests that wait for something outside: ten seconds, then the test fails.
pub(crate) struct Deadline(tokio::time::Instant);

impl Deadline {
    pub(crate) fn new() -> Self {
        Self(tokio::time::Instant::now() + Duration::from_secs(10))
    }

    /// A short pause before the next look.
    pub(crate) async fn pause(&self) {
        assert!(tokio::time::Instant::now() < self.0, "what was waited for did not come within ten seconds");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The same server, another database.
fn on_database(url: &str, name: &str) -> String {
    let (address, query) = match url.split_once('?') {
        Some((address, query)) => (address, format!("?{query}")),
        None => (url, String::new()),
    };
    let authority_at = address.find("://").map_or(0, |at| at + 3);
    let path_at = address[authority_at..].find('/').map_or(address.len(), |at| authority_at + at);
    format!("{}/{name}{query}", &address[..path_at])
}
