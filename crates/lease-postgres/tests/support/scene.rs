//! One held run, a second session that does what others do to its row, and a third that watches.

use lease_core::LeaseId;
use lease_postgres::PgStore;
use sqlx::PgConnection;

use super::words::{granted, opened, ttl};
use super::{Database, Deadline, execute, value};

pub(crate) struct Scene {
    pub(crate) store: PgStore,
    /// Locks rows, as a psql session does.
    pub(crate) session: PgConnection,
    /// Watches who waits.
    pub(crate) watcher: PgConnection,
    pub(crate) lease: LeaseId,
    // Last, so that it is dropped when nobody uses it any more.
    _database: Database,
}

impl Scene {
    /// A run held for so many milliseconds.
    pub(crate) async fn held_for(millis: u64) -> Self {
        let database = Database::migrated().await;
        let store = database.store().await;
        let (session, watcher) = (database.session().await, database.session().await);
        let run = opened(&store, 1, "acme").await;
        let lease = granted(&store, run, "a#1", ttl(millis)).await;
        Self { store, session, watcher, lease, _database: database }
    }

    pub(crate) async fn begin(&mut self, statement: &str) {
        let statement = statement.replace("$run", &format!("'{}'", self.lease.run));
        execute(&mut self.session, format!("BEGIN; {statement}")).await;
    }

    pub(crate) async fn lock(&mut self) {
        self.begin("SELECT FROM lease.runs WHERE id = $run FOR UPDATE").await;
    }

    /// Waits until the lease as committed has run out by the server's clock.
    pub(crate) async fn past_expiry(&mut self) {
        let query = format!(
            "SELECT lease_expires_at < clock_timestamp() FROM lease.runs WHERE id = '{}'",
            self.lease.run
        );
        let deadline = Deadline::new();
        while !value::<bool>(&mut self.watcher, query.clone()).await {
            deadline.pause().await;
        }
    }
}

/// Sends a request, waits until it waits for the row, does something meanwhile, and returns the answer.
macro_rules! while_waiting {
    ($scene:ident, $request:expr, $meanwhile:block) => {{
        let store = $scene.store.clone();
        let lease = $scene.lease.clone();
        let request = $request;
        let task = tokio::spawn(async move { request(store, lease).await });
        $crate::support::waiting_sessions(&mut $scene.watcher, 1).await;
        $meanwhile
        task.await.expect("the request does not panic").expect("a verdict")
    }};
}

pub(crate) use while_waiting;
