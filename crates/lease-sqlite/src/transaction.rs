//! One operation, one transaction: the write lock first, then everything else.
//!
//! Keeps ALL-OR-NOTHING: it runs in a task of its own, so no cancelled request can stop it half-way,
//! and its connection is closed on any doubt. Keeps ONE-HOLDER and NO-LATE-SAVE: nothing is read before
//! the file's write lock is held.
//!
//! A statement whose answer nothing depends on yet waits for the next request: the beginning goes with
//! the first read, and the writes go with the commit.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lease_core::{StoreError, Timestamp};
use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::connections::{Connections, Lane, Use};
use crate::error::{self, Class, Failed};
use crate::request::{Answer, Ask, Request, Stopped};
use crate::{seal, sql};

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// What a transaction's body came to.
pub(crate) enum Outcome<V> {
    /// Written: to be committed.
    Commit(V),
    /// Nothing was written, or what was is to be undone.
    RollBack(V),
}

/// A transaction on a connection of its own.
pub(crate) struct Transaction {
    connection: SqliteConnection,
    /// What goes with the next request.
    waiting: Request,
    /// Whether it may have begun.
    begun: bool,
    give_up: Instant,
}

type Body<'t, V> = Pin<Box<dyn Future<Output = Result<Outcome<V>, StoreError>> + Send + 't>>;

/// What a transaction that was ended has to say.
pub(crate) struct Ended<V> {
    value: V,
    /// What came of the statements that went with the commit.
    answers: Vec<Answer>,
    /// The clock after the end.
    clock: Option<Timestamp>,
}

/// Runs `body` under the write lock, on the lane for `usage`; its value, and the clock after the end.
pub(crate) async fn run<V, F>(
    connections: &Arc<Connections>,
    usage: Use,
    busy_limit: Duration,
    body: F,
) -> Result<(V, Timestamp), StoreError>
where
    V: Send + 'static,
    F: for<'t> FnOnce(&'t mut Transaction) -> Body<'t, V> + Send + 'static,
{
    let ended = in_task(connections, usage, busy_limit, true, body).await?;
    Ok((ended.value, ended.clock.expect("the clock was asked for")))
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
    F: for<'t> FnOnce(&'t mut Transaction) -> Body<'t, V> + Send + 'static,
{
    Ok(in_task(connections, usage, busy_limit, false, body).await?.value)
}

/// Runs statements that need no decision between them; their rows, and the clock after the end.
pub(crate) async fn run_at_once(
    connections: &Arc<Connections>,
    usage: Use,
    busy_limit: Duration,
    asks: Vec<Ask>,
) -> Result<(Vec<Answer>, Timestamp), StoreError> {
    let ended = in_task(connections, usage, busy_limit, true, move |transaction| {
        asks.into_iter().for_each(|ask| transaction.write(ask));
        Box::pin(std::future::ready(Ok(Outcome::Commit(()))))
    });
    let ended = ended.await?;
    Ok((ended.answers, ended.clock.expect("the clock was asked for")))
}

async fn in_task<V, F>(
    connections: &Arc<Connections>,
    usage: Use,
    busy_limit: Duration,
    with_clock: bool,
    body: F,
) -> Result<Ended<V>, StoreError>
where
    V: Send + 'static,
    F: for<'t> FnOnce(&'t mut Transaction) -> Body<'t, V> + Send + 'static,
{
    let connections = Arc::clone(connections);
    let task = tokio::spawn(async move { on_lane(&connections, usage, busy_limit, with_clock, body).await });
    task.await.unwrap_or_else(|_| Err(StoreError::Unknown(Box::new(Failed::BrokeOff))))
}

async fn on_lane<V, F>(
    connections: &Connections,
    usage: Use,
    busy_limit: Duration,
    with_clock: bool,
    body: F,
) -> Result<Ended<V>, StoreError>
where
    F: for<'t> FnOnce(&'t mut Transaction) -> Body<'t, V>,
{
    let give_up = Instant::now() + busy_limit;
    let lane: &Lane = if usage == Use::Beat { &connections.beat } else { &connections.write };
    // The queue is fair, and it is part of the wait.
    let Ok(mut lane) = tokio::time::timeout_at(give_up, lane.lock()).await else {
        return Err(StoreError::NotApplied(Box::new(Failed::Busy)));
    };
    // Taken out, so that a failure closes it.
    let connection = match lane.take() {
        Some(connection) => connection,
        None => connections.open(usage).await?,
    };
    let mut transaction = Transaction::new(connection, give_up);
    let ended = match body(&mut transaction).await {
        Ok(outcome) => transaction.end(outcome, with_clock).await,
        Err(failed) => Err(failed),
    };
    if ended.is_ok() || !transaction.begun {
        *lane = Some(transaction.connection);
    }
    ended
}

impl Transaction {
    pub(crate) fn new(connection: SqliteConnection, give_up: Instant) -> Self {
        let mut waiting = Request::default();
        waiting.add(Ask::new(BEGIN));
        Self { connection, waiting, begun: false, give_up }
    }

    /// Reads, after whatever was written before.
    pub(crate) async fn read(&mut self, ask: Ask) -> Result<Vec<SqliteRow>, StoreError> {
        self.waiting.add(ask);
        let answers = self.send_before_commit().await?;
        Ok(answers.into_iter().next_back().map(|answer| answer.rows).unwrap_or_default())
    }

    /// Writes any number of rows.
    pub(crate) fn write(&mut self, ask: Ask) {
        self.waiting.add(ask);
    }

    /// Writes, and insists on one row: any other number stops the request, so that nothing is committed.
    pub(crate) fn write_one(&mut self, ask: Ask) {
        self.waiting.add(ask);
        self.waiting.add(Ask::new(sql::ONE_ROW));
    }

    /// The connection itself, once everything is written that was to be written before.
    pub(crate) async fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.send_before_commit().await?;
        Ok(&mut self.connection)
    }

    async fn send_before_commit(&mut self) -> Result<Vec<Answer>, StoreError> {
        match self.send().await {
            Ok(answers) => Ok(answers),
            Err(stopped) => Err(self.not_committed(stopped.why).await),
        }
    }

    /// Commits or undoes; what waited goes with it.
    pub(crate) async fn end<V>(
        &mut self,
        outcome: Outcome<V>,
        with_clock: bool,
    ) -> Result<Ended<V>, StoreError> {
        let before = self.waiting.len();
        let (value, committed) = match outcome {
            Outcome::Commit(value) => (value, true),
            Outcome::RollBack(value) => (value, false),
        };
        self.waiting.add(Ask::new(if committed { COMMIT } else { ROLLBACK }));
        if with_clock {
            self.waiting.add(Ask::new(sql::CLOCK));
        }
        let mut answers = match self.send().await {
            Ok(answers) => answers,
            Err(Stopped { at, why }) if at < before => return Err(self.not_committed(why).await),
            Err(Stopped { at, why }) if at == before && committed => return Err(error::at_commit(why)),
            Err(Stopped { at, why }) if at == before => return Err(error::before_commit(why)),
            Err(Stopped { why, .. }) => return Err(StoreError::Unknown(Box::new(why))),
        };
        let clock = if with_clock {
            let row = answers.pop().and_then(|answer| answer.rows.into_iter().next());
            let end = row.ok_or(sqlx::Error::RowNotFound).and_then(|row| row.try_get("now_us"));
            Some(Timestamp::from_micros(end.map_err(|lost| StoreError::Unknown(Box::new(lost)))?))
        } else {
            None
        };
        let _of_the_end = answers.pop();
        Ok(Ended { value, answers, clock })
    }

    /// Sends what waits. As long as the write lock is not to be had, it asks again in short steps of
    /// differing length, so that no process is always too late.
    async fn send(&mut self) -> Result<Vec<Answer>, Stopped> {
        while !self.begun {
            match self.waiting.clone().send(&mut self.connection).await {
                Err(Stopped { at: 0, why }) if error::class(&why) == Class::Busy => {
                    if Instant::now() >= self.give_up {
                        return Err(Stopped { at: 0, why });
                    }
                }
                sent => {
                    self.begun = true;
                    self.waiting = Request::default();
                    // What came of the beginning itself says nothing more.
                    return sent.map(|mut answers| answers.split_off(1));
                }
            }
            let jitter = u64::from(Uuid::new_v4().as_bytes()[0] % 4);
            sleep(Duration::from_millis(1 + jitter)).await;
        }
        std::mem::take(&mut self.waiting).send(&mut self.connection).await
    }

    async fn not_committed(&mut self, why: sqlx::Error) -> StoreError {
        if error::is_seal(&why) {
            seal::sealed(&mut self.connection).await
        } else {
            error::before_commit(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SqliteSettings, SqliteStore};

    const TABLES: [&str; 3] = [
        "CREATE TABLE parents (id INTEGER PRIMARY KEY)",
        "CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)",
        "CREATE TABLE names (name TEXT NOT NULL)",
    ];

    async fn store(folder: &tempfile::TempDir) -> SqliteStore {
        let settings = SqliteSettings { busy_limit: Duration::from_secs(5) };
        let path = folder.path().join("any.db");
        SqliteStore::open_or_create(&path, &settings).await.expect("opened")
    }

    async fn begin(store: &SqliteStore, patience: Duration) -> Transaction {
        let connection = store.connections.open(Use::Write).await.expect("a connection");
        Transaction::new(connection, Instant::now() + patience)
    }

    /// TRUTH: what failed before the commit did not happen; of what failed at the commit or after it
    /// nobody knows, unless SQLite says so.
    #[tokio::test]
    async fn truth_the_statement_that_failed_tells_whether_anything_may_have_been_committed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(&folder).await;
        let ended = async |sql: &'static str| {
            let mut transaction = begin(&store, store.settings.busy_limit).await;
            transaction.write(Ask::new(sql));
            transaction.end(Outcome::Commit(()), true).await.map(|ended| ended.clock)
        };
        for table in TABLES {
            ended(table).await.expect_err("there is no clock yet");
        }
        let clock = ended("CREATE VIEW store_clock AS SELECT 7 AS now_us").await;
        assert_eq!(clock.expect("committed"), Some(Timestamp::from_micros(7)));
        let empty = ended("INSERT INTO names VALUES (NULL)").await;
        assert!(matches!(empty, Err(StoreError::Corrupt(_))), "{empty:?}");
        let unfit = ended("INSERT INTO nothing VALUES (1)").await;
        assert!(matches!(unfit, Err(StoreError::Schema(_))), "{unfit:?}");
        let at_commit = ended("INSERT INTO children VALUES (1)").await;
        assert!(matches!(at_commit, Err(StoreError::Unknown(_))), "{at_commit:?}");
        let after = ended("DROP VIEW store_clock").await;
        assert!(matches!(after, Err(StoreError::Unknown(_))), "{after:?}");
        let views = store.rows(Ask::new("SELECT 1 FROM sqlite_schema WHERE type = 'view'")).await;
        assert_eq!(views.expect("read").len(), 0, "that was committed");
    }

    /// Who did not get the write lock has done nothing, and can go on once it is free.
    #[tokio::test]
    async fn what_waits_is_sent_again_once_the_write_lock_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(&folder).await;
        let mut holder = begin(&store, Duration::ZERO).await;
        TABLES.iter().for_each(|table| holder.write(Ask::new(table)));
        holder.connection().await.expect("the lock is free");
        let mut late = begin(&store, Duration::ZERO).await;
        late.write_one(Ask::new("INSERT INTO names VALUES ('late')"));
        let refused = late.connection().await.map(drop);
        assert!(matches!(refused, Err(StoreError::NotApplied(_))), "{refused:?}");
        assert!(!late.begun);
        holder.end(Outcome::Commit(()), false).await.expect("committed");
        late.end(Outcome::Commit(()), false).await.expect("it had only to wait");
        let names = store.rows(Ask::new("SELECT name FROM names")).await;
        assert_eq!(names.expect("read").len(), 1);
    }
}
