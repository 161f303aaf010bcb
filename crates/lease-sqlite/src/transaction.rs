//! One operation, one transaction: the write lock first, then everything else.
//!
//! Keeps ALL-OR-NOTHING: it runs in a task of its own, so no cancelled request can stop it half-way,
//! and its connection is closed on any doubt. Keeps ONE-HOLDER and NO-LATE-SAVE: nothing is read before
//! the file's write lock is held.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lease_core::{StoreError, Timestamp};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor as _, Row as _};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::connections::{Connections, Lane, Use};
use crate::error::{self, Class, Failed};
use crate::sql;

/// What a transaction's body came to.
pub(crate) enum Outcome<V> {
    /// Written: to be committed.
    Commit(V),
    /// Nothing was written, or what was is to be undone.
    RollBack(V),
}

type Body<'c, V> = Pin<Box<dyn Future<Output = Result<Outcome<V>, StoreError>> + Send + 'c>>;

/// Runs `body` under the write lock, on the lane for `usage`; its value, and the clock after the end.
pub(crate) async fn run<V, F>(
    connections: &Arc<Connections>,
    usage: Use,
    busy_limit: Duration,
    body: F,
) -> Result<(V, Timestamp), StoreError>
where
    V: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Body<'c, V> + Send + 'static,
{
    let connections = Arc::clone(connections);
    let task = tokio::spawn(async move {
        let (value, end) = on_lane(&connections, usage, busy_limit, true, body).await?;
        Ok((value, end.expect("the clock was asked for")))
    });
    task.await.unwrap_or_else(|_| Err(StoreError::Unknown(Box::new(Failed::BrokeOff))))
}

/// The same, where the store's clock may not be there yet.
pub(crate) async fn run_without_clock<V, F>(
    connections: &Arc<Connections>,
    usage: Use,
    busy_limit: Duration,
    body: F,
) -> Result<V, StoreError>
where
    V: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Body<'c, V> + Send + 'static,
{
    let connections = Arc::clone(connections);
    let task =
        tokio::spawn(async move { Ok(on_lane(&connections, usage, busy_limit, false, body).await?.0) });
    task.await.unwrap_or_else(|_| Err(StoreError::Unknown(Box::new(Failed::BrokeOff))))
}

async fn on_lane<V, F>(
    connections: &Connections,
    usage: Use,
    busy_limit: Duration,
    with_clock: bool,
    body: F,
) -> Result<(V, Option<Timestamp>), StoreError>
where
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Body<'c, V>,
{
    let give_up = Instant::now() + busy_limit;
    let lane: &Lane = if usage == Use::Beat { &connections.beat } else { &connections.write };
    // The queue is fair, and it is part of the wait.
    let Ok(mut lane) = tokio::time::timeout_at(give_up, lane.lock()).await else {
        return Err(busy());
    };
    // Taken out, so that a failure closes it.
    let mut connection = match lane.take() {
        Some(connection) => connection,
        None => connections.open(usage).await?,
    };
    if !begin(&mut connection, give_up).await? {
        *lane = Some(connection);
        return Err(busy());
    }
    let value = match body(&mut connection).await? {
        Outcome::Commit(value) => {
            connection.execute("COMMIT").await.map_err(error::at_commit)?;
            value
        }
        Outcome::RollBack(value) => {
            connection.execute("ROLLBACK").await.map_err(error::before_commit)?;
            value
        }
    };
    let end = if with_clock {
        let end = connection.fetch_one(sql::CLOCK).await.and_then(|row| row.try_get("now_us"));
        Some(Timestamp::from_micros(end.map_err(|lost| StoreError::Unknown(Box::new(lost)))?))
    } else {
        None
    };
    *lane = Some(connection);
    Ok((value, end))
}

/// Takes the write lock; whether it was to be had before `give_up`. Processes that wait ask again in
/// short steps of differing length, so that none is always too late.
async fn begin(connection: &mut SqliteConnection, give_up: Instant) -> Result<bool, StoreError> {
    loop {
        match connection.execute("BEGIN IMMEDIATE").await {
            Ok(_) => return Ok(true),
            Err(failed) if error::class(&failed) == Class::Busy => {}
            Err(failed) => return Err(error::before_commit(failed)),
        }
        if Instant::now() >= give_up {
            return Ok(false);
        }
        let jitter = u64::from(Uuid::new_v4().as_bytes()[0] % 4);
        sleep(Duration::from_millis(1 + jitter)).await;
    }
}

fn busy() -> StoreError {
    StoreError::NotApplied(Box::new(Failed::Busy))
}
