//! Taking in runs from another store: all of them with everything that belongs to them, or none.
//!
//! Keeps FENCE-UP and ALL-OR-NOTHING: numbers come as they stood, and one transaction holds the whole
//! of it, the note that it arrived included. A value that is dropped closes its connection, which
//! undoes everything.

use lease_core::{Digest, RunId, RunRecord, StoreError, written_out};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{Executor as _, FromRow as _, PgConnection};
use uuid::Uuid;

use crate::connections::{Line, bounded};
use crate::error;
use crate::row::row;
use crate::sql;
use crate::store::PgStore;
use lease_core::stored::{BadValue, invalid};

row! {
    /// What `import_run` wrote.
    WrittenRow {
        runs: i64,
        receipts: i64,
        attempts: i64,
        actions: i64,
    }
}

row! {
    /// Columns of `record`, and of a caller's own reading statement.
    DocumentRow {
        document: String,
    }
}

row! {
    /// Columns of `find_transfer`.
    TransferRow {
        runs: i64,
        digest: String,
    }
}

/// A transfer as the store that it went to notes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// How many runs it brought.
    pub runs: u64,
    /// The digest over their records.
    pub digest: Digest,
}

/// Runs on their way in.
pub struct Import {
    line: Line,
    store: PgStore,
}

impl PgStore {
    /// Begins to take in runs. Nothing stays until [`Import::commit`].
    ///
    /// # Errors
    /// Where the store cannot be reached.
    pub async fn begin_import(&self) -> Result<Import, StoreError> {
        let mut line = self.connections.take().await?;
        execute(line.connection(), "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").await?;
        Ok(Import { line, store: self.clone() })
    }

    /// What is noted of a transfer that arrived here; `None` if it did not.
    ///
    /// # Errors
    /// Where the store does not answer.
    pub async fn find_transfer(&self, transfer: Uuid) -> Result<Option<Arrived>, StoreError> {
        let rows: Vec<TransferRow> =
            self.connections.all(sqlx::query(sql::FIND_TRANSFER).bind(transfer)).await?;
        let read = |TransferRow { runs, digest }: TransferRow| -> Result<Arrived, BadValue> {
            let runs = u64::try_from(runs).map_err(|_| BadValue::Contradiction("runs and zero"))?;
            Ok(Arrived { runs, digest: digest.parse().map_err(invalid("digest"))? })
        };
        Ok(rows.into_iter().next().map(read).transpose()?)
    }
}

impl Import {
    /// Takes in one run.
    ///
    /// # Errors
    /// `Corrupt` when its id or key is taken, or its plan has other content here; then nothing may be
    /// committed any more.
    pub async fn run(&mut self, record: &RunRecord) -> Result<(), StoreError> {
        let limit = self.store.connections.answer_limit();
        let ask = sqlx::query(sql::IMPORT_RUN).bind(Json(record.to_value()));
        let row =
            bounded(limit, ask.fetch_one(self.line.connection())).await?.map_err(error::before_commit)?;
        let WrittenRow { runs, receipts, attempts, actions } =
            WrittenRow::from_row(&row).map_err(error::before_commit)?;
        let rows = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let all = runs == 1
            && receipts == rows(record.receipts.len())
            && attempts == rows(record.attempts.len())
            && actions == rows(record.actions.len());
        if all { Ok(()) } else { Err(BadValue::Contradiction("rows written and rows sent").into()) }
    }

    /// Writes a row of a table of the caller's own: `statement` takes it as `$1` (jsonb).
    ///
    /// # Errors
    /// When the row is refused; then nothing may be committed any more.
    pub async fn row(&mut self, statement: &'static str, row: &Value) -> Result<(), StoreError> {
        let limit = self.store.connections.answer_limit();
        let ask = sqlx::query(statement).bind(Json(row));
        let done =
            bounded(limit, ask.execute(self.line.connection())).await?.map_err(error::before_commit)?;
        let written = done.rows_affected();
        if written == 1 {
            Ok(())
        } else {
            Err(BadValue::Contradiction("one row and what was written").into())
        }
    }

    /// A run as it stands here now, in the form of [`RunRecord::to_value`]; `None` if it is not here.
    ///
    /// # Errors
    /// Where the store does not answer.
    pub async fn read_back(&mut self, run: RunId) -> Result<Option<Value>, StoreError> {
        let limit = self.store.connections.answer_limit();
        let ask = sqlx::query(sql::RECORD).bind(run.as_uuid());
        let row = bounded(limit, ask.fetch_optional(self.line.connection())).await?;
        let Some(row) = row.map_err(error::before_commit)? else { return Ok(None) };
        let DocumentRow { document } = DocumentRow::from_row(&row).map_err(error::before_commit)?;
        let value = serde_json::from_str(&document).map_err(invalid("document"))?;
        Ok(Some(written_out(value)))
    }

    /// The rows of a table of the caller's own: `query` returns each as a JSON object in one text
    /// column `document`.
    ///
    /// # Errors
    /// Where the store does not answer.
    pub async fn rows(&mut self, query: &'static str) -> Result<Vec<Value>, StoreError> {
        let limit = self.store.connections.answer_limit();
        let rows = bounded(limit, sqlx::query(query).fetch_all(self.line.connection())).await?;
        let read = |row| {
            let DocumentRow { document } = DocumentRow::from_row(row).map_err(error::before_commit)?;
            let value: Result<Value, BadValue> = serde_json::from_str(&document).map_err(invalid("document"));
            Ok(written_out(value?))
        };
        rows.map_err(error::before_commit)?.iter().map(read).collect()
    }

    /// Notes that the transfer arrived, and commits all of it.
    ///
    /// # Errors
    /// `Unknown` when the answer to the commit got lost: [`PgStore::find_transfer`] tells.
    ///
    /// # Cancel safety
    /// All of it is committed or nothing.
    pub async fn commit(mut self, transfer: Uuid, source: &str, arrived: &Arrived) -> Result<(), StoreError> {
        let limit = self.store.connections.answer_limit();
        let runs = i64::try_from(arrived.runs).unwrap_or(i64::MAX);
        let note = sqlx::query(sql::NOTE_TRANSFER)
            .bind(transfer)
            .bind(source)
            .bind(runs)
            .bind(arrived.digest.to_string());
        bounded(limit, note.execute(self.line.connection())).await?.map_err(error::before_commit)?;
        bounded(limit, execute(self.line.connection(), "COMMIT")).await??;
        self.line.keep();
        Ok(())
    }
}

async fn execute(connection: &mut PgConnection, statement: &'static str) -> Result<(), StoreError> {
    connection.execute(statement).await.map_err(error::of_statement)?;
    Ok(())
}
