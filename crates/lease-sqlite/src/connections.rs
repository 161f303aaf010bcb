//! The store's connections: one to write with, one for heartbeats, and some to read with.
//!
//! A connection goes back only after its request was answered; on any doubt it is closed, and the next
//! request opens another one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lease_core::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tokio::sync::Mutex as FairMutex;
use tokio::time::{Instant, sleep};

use crate::error::{self, Class};

/// Connections kept for reading.
const READERS: usize = 4;

/// Opening and reading only wait while the file is being recovered, put away or its tables change.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connects. While another program makes the file, recovers it or puts it away, SQLite answers some
/// statements of a new connection "busy" at once, whatever its limit; so this asks again for a while.
pub(crate) async fn connect(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let give_up = Instant::now() + PATIENCE;
    loop {
        match options.connect().await {
            Err(failed) if error::class(&failed) == Class::Busy && Instant::now() < give_up => {
                sleep(BETWEEN_TRIES).await;
            }
            connected => return connected,
        }
    }
}

/// Writers queue by themselves, in short steps: SQLite's own wait grows with every try, and those who
/// came first come last.
const WRITERS_DO_NOT_WAIT: &str = "PRAGMA busy_timeout = 0";

/// How long to wait before a connection is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Everything that must survive a power cut.
    Write,
    /// Renewals. A power cut may take them back, and then a lease only runs out sooner.
    Beat,
    /// Reading.
    Read,
}

/// A connection that is lent to one writer at a time, in the order in which they ask.
pub(crate) type Lane = Arc<FairMutex<Option<SqliteConnection>>>;

/// Where connections come from.
pub(crate) struct Connections {
    path: PathBuf,
    /// Statements that a caller of its own runs on each new connection.
    session: Vec<String>,
    pub(crate) write: Lane,
    pub(crate) beat: Lane,
    readers: Mutex<Vec<SqliteConnection>>,
}

impl Connections {
    pub(crate) fn new(path: PathBuf, session: Vec<String>) -> Self {
        Self { path, session, write: Lane::default(), beat: Lane::default(), readers: Mutex::default() }
    }

    /// Opens a connection; the file is there.
    pub(crate) async fn open(&self, usage: Use) -> Result<SqliteConnection, StoreError> {
        let synchronous = match usage {
            Use::Write => SqliteSynchronous::Full,
            Use::Beat | Use::Read => SqliteSynchronous::Normal,
        };
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(synchronous)
            .foreign_keys(true)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        let mut connection = connect(&options).await.map_err(error::before_commit)?;
        if usage != Use::Read {
            connection.execute(WRITERS_DO_NOT_WAIT).await.map_err(error::before_commit)?;
        }
        for statement in &self.session {
            let ran = connection.execute(AssertSqlSafe(statement.clone())).await;
            ran.map_err(error::before_commit)?;
        }
        Ok(connection)
    }

    /// A connection to read with.
    pub(crate) async fn reader(&self) -> Result<SqliteConnection, StoreError> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => self.open(Use::Read).await,
        }
    }

    /// Takes back a connection that answered.
    pub(crate) fn keep_reader(&self, connection: SqliteConnection) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(connection);
        }
    }
}
