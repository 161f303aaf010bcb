//! Bringing a file up to date. Safe when many start at once (case 20): all steps are taken in one
//! transaction that has the write lock, and whoever comes second finds nothing to do.

use lease_core::{History, SchemaState, StoreError};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor as _};

use crate::connections::Use;
use crate::error;
use crate::row::get;
use crate::store::SqliteStore;
use crate::transaction::Outcome;

/// A history that cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error(
        "the file is newer than this program: {table} stands at step {at}, and this program knows {known}"
    )]
    Ahead { table: &'static str, at: u32, known: u32 },
    #[error("step {version} of {table} was taken with another text than this program has")]
    Altered { table: &'static str, version: u32 },
    #[error("{0:?} is not the name of a table")]
    Table(&'static str),
}

impl SqliteStore {
    /// Brings the file up to date with these histories, all of it or nothing.
    ///
    /// # Errors
    /// `Schema` when the file is newer than this program or was changed behind its back; otherwise as
    /// for any request.
    ///
    /// # Cancel safety
    /// All steps are taken or none.
    pub async fn migrate(&self, histories: &[&'static History]) -> Result<(), StoreError> {
        let histories = histories.to_vec();
        // The clock may not be there yet, so this does not go through the common way's end.
        crate::transaction::run_without_clock(
            &self.connections,
            Use::Write,
            self.settings.busy_limit,
            move |transaction| {
                Box::pin(async move {
                    let connection = transaction.connection().await?;
                    for history in histories {
                        bring_up(connection, history).await?;
                    }
                    Ok(Outcome::Commit(()))
                })
            },
        )
        .await
    }

    /// Says how the file stands to these histories, and changes nothing. Where they differ, the answer
    /// is that of the one that is least fit.
    ///
    /// # Errors
    /// As for any request.
    pub async fn schema_state(&self, histories: &[&'static History]) -> Result<SchemaState, StoreError> {
        let mut connection = self.connections.reader().await?;
        let mut states = Vec::new();
        for &history in histories {
            states.push((history, state_of(&mut connection, history).await?));
        }
        self.connections.keep_reader(connection);
        Ok(SchemaState::worst(&states))
    }
}

async fn bring_up(connection: &mut SqliteConnection, history: &'static History) -> Result<(), StoreError> {
    let taken = match state_of(connection, history).await? {
        SchemaState::Current => return Ok(()),
        SchemaState::Missing => 0,
        SchemaState::Behind { at, .. } => at,
        SchemaState::Ahead { table, at, known } => return Err(unfit(Unfit::Ahead { table, at, known })),
        SchemaState::Altered { table, version } => return Err(unfit(Unfit::Altered { table, version })),
    };
    let table = history.table;
    run(
        connection,
        format!(
            "CREATE TABLE IF NOT EXISTS {table} (
                version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, taken_at TEXT NOT NULL
            ) STRICT"
        ),
    )
    .await?;
    for step in history.steps.iter().filter(|step| step.version > taken) {
        run(connection, step.sql.to_owned()).await?;
        let note = format!(
            "INSERT INTO {table} (version, name, digest, taken_at)
             VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
        );
        let note = sqlx::query(AssertSqlSafe(note))
            .bind(i64::from(step.version))
            .bind(step.name)
            .bind(step.digest());
        note.execute(&mut *connection).await.map_err(error::before_commit)?;
    }
    Ok(())
}

/// How the file stands to one history.
async fn state_of(connection: &mut SqliteConnection, history: &History) -> Result<SchemaState, StoreError> {
    let table = table_name(history)?;
    let ask = sqlx::query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1").bind(table);
    if ask.fetch_optional(&mut *connection).await.map_err(error::before_commit)?.is_none() {
        return Ok(SchemaState::Missing);
    }
    let ask = format!("SELECT version, digest FROM {table} ORDER BY version");
    let rows = sqlx::query(AssertSqlSafe(ask)).fetch_all(&mut *connection).await;
    let mut taken = Vec::new();
    for row in &rows.map_err(error::before_commit)? {
        taken.push((u32::try_from(get::<i64>(row, "version")?).unwrap_or(0), get::<String>(row, "digest")?));
    }
    Ok(history.state(&taken))
}

async fn run(connection: &mut SqliteConnection, statements: String) -> Result<(), StoreError> {
    connection.execute(AssertSqlSafe(statements)).await.map_err(error::before_commit)?;
    Ok(())
}

/// The name of a history's table. A plain word only: it becomes part of statements.
fn table_name(history: &History) -> Result<&'static str, StoreError> {
    let plain = history.table.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if plain && !history.table.is_empty() {
        Ok(history.table)
    } else {
        Err(StoreError::Unexpected(Box::new(Unfit::Table(history.table))))
    }
}

fn unfit(why: Unfit) -> StoreError {
    StoreError::Schema(Box::new(why))
}
