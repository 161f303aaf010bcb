//! Bringing a database up to date.
//!
//! Safe when many start at once (case 20): one advisory lock is held for the whole of it, each step
//! and the note that it was taken are one transaction, and whoever comes second finds nothing to do.

use lease_core::{History, SchemaState, Step, StoreError};
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection, Row as _};

use crate::error;
use crate::store::PgStore;

/// The key of the advisory lock: "lease" in ASCII. The same in every program that migrates here.
const LOCK: i64 = 0x6c_6561_7365;

/// A history that cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error(
        "the database is newer than this program: {table} stands at step {at}, and this program knows {known}"
    )]
    Ahead { table: &'static str, at: u32, known: u32 },
    #[error("step {version} of {table} was taken with another text than this program has")]
    Altered { table: &'static str, version: u32 },
    #[error("{0:?} is not the name of a table with its schema")]
    Table(&'static str),
}

impl PgStore {
    /// Brings the database up to date with these histories, one after the other.
    ///
    /// Waits for other programs that migrate at the same time. Each step is taken as a whole.
    ///
    /// # Errors
    /// `Schema` when the database is newer than this program or was changed behind its back;
    /// otherwise as for any request.
    ///
    /// # Cancel safety
    /// The step under way is taken or not taken, as a whole.
    pub async fn migrate(&self, histories: &[&History]) -> Result<(), StoreError> {
        let mut connection = self.unlimited().await?;
        // Held by the session: it goes with the connection, whatever happens here.
        run(&mut connection, format!("SELECT pg_advisory_lock({LOCK})")).await?;
        for history in histories {
            let taken = match state_of(&mut connection, history).await? {
                SchemaState::Current => continue,
                SchemaState::Missing => 0,
                SchemaState::Behind { at, .. } => at,
                SchemaState::Ahead { table, at, known } => {
                    return Err(unfit(Unfit::Ahead { table, at, known }));
                }
                SchemaState::Altered { table, version } => {
                    return Err(unfit(Unfit::Altered { table, version }));
                }
            };
            create_table(&mut connection, history).await?;
            for step in history.steps.iter().filter(|step| step.version > taken) {
                take(&mut connection, history, step).await?;
            }
        }
        Ok(())
    }

    /// Says how the database stands to these histories, and changes nothing. Where they differ, the
    /// answer is that of the one that is least fit.
    ///
    /// # Errors
    /// As for any request.
    pub async fn schema_state(&self, histories: &[&History]) -> Result<SchemaState, StoreError> {
        let mut line = self.connections.take().await?;
        let mut states = Vec::new();
        for &history in histories {
            states.push((history, state_of(line.connection(), history).await?));
        }
        line.keep();
        Ok(SchemaState::worst(&states))
    }

    /// A connection without the limits of leases: a step, or the wait for another program's step,
    /// may take long.
    async fn unlimited(&self) -> Result<PgConnection, StoreError> {
        let options = self.connections.options().options([
            ("statement_timeout", "0"),
            ("lock_timeout", "0"),
            ("idle_in_transaction_session_timeout", "0"),
        ]);
        options.connect().await.map_err(error::of_connecting)
    }
}

/// How the database stands to one history.
async fn state_of(connection: &mut PgConnection, history: &History) -> Result<SchemaState, StoreError> {
    let (schema, name) = table_name(history)?;
    let found = sqlx::query("SELECT to_regclass($1)::oid IS NOT NULL AS found")
        .bind(format!("{schema}.{name}"))
        .fetch_one(&mut *connection)
        .await
        .map_err(error::of_statement)?;
    if !found.try_get::<bool, _>("found").map_err(error::of_statement)? {
        return Ok(SchemaState::Missing);
    }
    let rows =
        sqlx::query(AssertSqlSafe(format!("SELECT version, digest FROM {schema}.{name} ORDER BY version")))
            .fetch_all(&mut *connection)
            .await
            .map_err(error::of_statement)?;
    let mut taken = Vec::new();
    for row in &rows {
        let version: i32 = row.try_get("version").map_err(error::of_statement)?;
        let digest: String = row.try_get("digest").map_err(error::of_statement)?;
        taken.push((u32::try_from(version).unwrap_or(0), digest));
    }
    Ok(history.state(&taken))
}

/// Creates the history's table, and its schema, where they are missing.
async fn create_table(connection: &mut PgConnection, history: &History) -> Result<(), StoreError> {
    let (schema, name) = table_name(history)?;
    // Asked first: CREATE … IF NOT EXISTS needs the right to create even where there is nothing to do.
    let ask = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1";
    let found = sqlx::query(ask).bind(schema).fetch_optional(&mut *connection).await;
    if found.map_err(error::of_statement)?.is_none() {
        run(connection, format!("CREATE SCHEMA {schema}")).await?;
    }
    run(
        connection,
        format!(
            "CREATE TABLE IF NOT EXISTS {schema}.{name} (
                version  int         NOT NULL PRIMARY KEY,
                name     text        NOT NULL,
                digest   text        NOT NULL,
                taken_at timestamptz NOT NULL
            )"
        ),
    )
    .await
}

/// Takes one step and notes it, in one transaction.
async fn take(connection: &mut PgConnection, history: &History, step: &Step) -> Result<(), StoreError> {
    let (schema, name) = table_name(history)?;
    run(connection, "BEGIN".to_owned()).await?;
    run(connection, step.sql.to_owned()).await?;
    let version = i32::try_from(step.version).unwrap_or(i32::MAX);
    sqlx::query(AssertSqlSafe(format!(
        "INSERT INTO {schema}.{name} (version, name, digest, taken_at) VALUES ($1, $2, $3, clock_timestamp())"
    )))
    .bind(version)
    .bind(step.name)
    .bind(step.digest())
    .execute(&mut *connection)
    .await
    .map_err(error::of_statement)?;
    run(connection, "COMMIT".to_owned()).await
}

async fn run(connection: &mut PgConnection, statements: String) -> Result<(), StoreError> {
    let done = sqlx::raw_sql(AssertSqlSafe(statements)).execute(connection).await;
    done.map(|_| ()).map_err(error::of_statement)
}

/// The schema and the name of a history's table. Plain words only: they become part of statements.
fn table_name(history: &History) -> Result<(&'static str, &'static str), StoreError> {
    let plain =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match history.table.split_once('.') {
        Some((schema, name)) if plain(schema) && plain(name) => Ok((schema, name)),
        Some(_) | None => Err(StoreError::Unexpected(Box::new(Unfit::Table(history.table)))),
    }
}

fn unfit(why: Unfit) -> StoreError {
    StoreError::Schema(Box::new(why))
}
