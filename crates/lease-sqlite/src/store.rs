//! The store: a file, its connections, and who writes effects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lease_core::{StoreError, Timestamp};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow};
use sqlx::{ConnectOptions as _, Executor as _};

use crate::connections::{self, Connections, Use};
use crate::effect::{EffectWriter, SqlEffects};
use crate::error::{self, Class};
use crate::location::{self, OpenError};
use crate::request::{self, Answer, Ask};
use crate::settings::SqliteSettings;
use crate::transaction::{self, Outcome, Transaction};

/// A store in one file. Cheap to clone; clones share their connections.
///
/// A store of its own for heartbeats keeps them from waiting for this one's connections.
#[derive(Clone)]
pub struct SqliteStore {
    pub(crate) connections: Arc<Connections>,
    pub(crate) settings: SqliteSettings,
    pub(crate) effects: Arc<dyn EffectWriter>,
}

impl SqliteStore {
    /// Opens a file, which has to be there.
    ///
    /// # Errors
    /// `Unexpected` with an [`OpenError`] when the file cannot be used.
    pub async fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, StoreError> {
        Self::open_with_session(path, settings, false, Vec::new()).await
    }

    /// Opens a file, and makes it where it is missing. Its folder has to be there.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`].
    pub async fn open_or_create(path: &Path, settings: &SqliteSettings) -> Result<Self, StoreError> {
        Self::open_with_session(path, settings, true, Vec::new()).await
    }

    /// The same, with statements of the caller's own that are run on each new connection: for
    /// temporary tables and views. The caller sees to it that the store's names keep their meaning.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`].
    pub async fn open_with_session(
        path: &Path,
        settings: &SqliteSettings,
        create: bool,
        session: Vec<String>,
    ) -> Result<Self, StoreError> {
        location::check(path, create)?;
        prepare(path, create).await?;
        let connections = Arc::new(Connections::new(path.to_path_buf(), session));
        Ok(Self { connections, settings: settings.clone(), effects: Arc::new(SqlEffects::default()) })
    }

    /// The same store, with effects written by `writer`. Without it, a save that carries effects is
    /// refused.
    #[must_use]
    pub fn with_effects(self, writer: Arc<dyn EffectWriter>) -> Self {
        Self { effects: writer, ..self }
    }

    /// Runs one operation under the write lock.
    pub(crate) async fn transaction<V, F>(&self, usage: Use, body: F) -> Result<(V, Timestamp), StoreError>
    where
        V: Send + 'static,
        F: for<'t> FnOnce(
                &'t mut Transaction,
            ) -> std::pin::Pin<
                Box<dyn Future<Output = Result<Outcome<V>, StoreError>> + Send + 't>,
            > + Send
            + 'static,
    {
        transaction::run(&self.connections, usage, self.settings.busy_limit, body).await
    }

    /// Runs statements that need no decision between them under the write lock.
    pub(crate) async fn at_once(
        &self,
        usage: Use,
        asks: Vec<Ask>,
    ) -> Result<(Vec<Answer>, Timestamp), StoreError> {
        transaction::run_at_once(&self.connections, usage, self.settings.busy_limit, asks).await
    }

    /// Reads any number of rows.
    pub(crate) async fn rows(&self, ask: Ask) -> Result<Vec<SqliteRow>, StoreError> {
        let mut connection = self.connections.reader().await?;
        let rows = request::rows(&mut connection, ask).await.map_err(error::before_commit)?;
        self.connections.keep_reader(connection);
        Ok(rows)
    }
}

/// Sees to it that the file is a database in WAL mode that may be written.
async fn prepare(path: &Path, create: bool) -> Result<(), StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(create)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(std::time::Duration::from_secs(10))
        .disable_statement_logging();
    let path = || -> PathBuf { path.to_path_buf() };
    let told = |failed: sqlx::Error| match error::class(&failed) {
        Class::Damaged => OpenError::NotADatabase(path()).into(),
        Class::ReadOnly | Class::InputOutput => OpenError::ReadOnly(path()).into(),
        Class::Busy
        | Class::Full
        | Class::Constraint
        | Class::Mismatch
        | Class::Statement
        | Class::Unreadable
        | Class::Gone
        | Class::Unexpected => error::before_commit(failed),
    };
    let mut connection = connections::connect(&options).await.map_err(told)?;
    connection.execute("BEGIN IMMEDIATE; ROLLBACK").await.map_err(told)?;
    Ok(())
}
