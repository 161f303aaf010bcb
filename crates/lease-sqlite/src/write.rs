//! Reading a run under the write lock, and writing down what a decision changes.
//!
//! Keeps ALL-OR-NOTHING: whatever is not written as it was decided is an error, and an error undoes the
//! transaction.

use lease_core::stored::BadValue;
use lease_core::transition::{AttemptChange, Change};
use lease_core::{AttemptOutcome, FencingToken, Hold, Run, RunId, StoreError, Timestamp};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection, SqliteRow};

use crate::error;
use crate::row;
use crate::sql;

/// A query of this crate.
pub(crate) type Ask<'q> = Query<'q, Sqlite, SqliteArguments>;

/// The run, if it is there, and the clock.
pub(crate) async fn read(
    connection: &mut SqliteConnection,
    run: RunId,
) -> Result<(Option<Run>, Timestamp), StoreError> {
    let row = one(connection, sqlx::query(sql::RUN).bind(run.to_string())).await?;
    Ok((row::run(&row)?, row::now(&row)?))
}

/// Exactly one row.
pub(crate) async fn one(connection: &mut SqliteConnection, ask: Ask<'_>) -> Result<SqliteRow, StoreError> {
    ask.fetch_one(connection).await.map_err(error::before_commit)
}

/// Writes, and says how many rows that changed.
pub(crate) async fn execute(connection: &mut SqliteConnection, ask: Ask<'_>) -> Result<u64, StoreError> {
    match ask.execute(&mut *connection).await {
        Ok(done) => Ok(done.rows_affected()),
        Err(failed) if error::is_seal(&failed) => Err(crate::seal::sealed(connection).await),
        Err(failed) => Err(error::before_commit(failed)),
    }
}

/// Writes, and insists on one row.
pub(crate) async fn execute_one(connection: &mut SqliteConnection, ask: Ask<'_>) -> Result<(), StoreError> {
    match execute(connection, ask).await? {
        1 => Ok(()),
        _ => Err(BadValue::Contradiction("one row and the rows that were written").into()),
    }
}

/// Writes a change of `before` that was decided at `now`.
pub(crate) async fn change(
    connection: &mut SqliteConnection,
    before: &Run,
    change: Change,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Change { run, receipt, attempts, action } = change;
    let id = run.id.to_string();
    write_run(connection, before, &run).await?;
    for attempt in attempts {
        write_attempt(connection, &id, attempt, now).await?;
    }
    if let Some(receipt) = receipt {
        let ask = sqlx::query(sql::ADD_RECEIPT)
            .bind(&id)
            .bind(receipt.phase.as_str().to_owned())
            .bind(receipt.fence.to_column())
            .bind(receipt.body.to_json())
            .bind(receipt.saved_at.as_micros());
        execute_one(connection, ask).await?;
    }
    if let Some(action) = action {
        let ask = sqlx::query(sql::ADD_ACTION)
            .bind(&id)
            .bind(action.at.as_micros())
            .bind(action.action)
            .bind(action.by)
            .bind(action.reason);
        execute_one(connection, ask).await?;
    }
    Ok(())
}

async fn write_run(connection: &mut SqliteConnection, before: &Run, run: &Run) -> Result<(), StoreError> {
    let found = HoldColumns::of(&before.hold);
    let hold = HoldColumns::of(&run.hold);
    let mark = run.mark.as_ref();
    let ask = sqlx::query(sql::WRITE_RUN)
        .bind(run.id.to_string())
        .bind(found.fence)
        .bind(found.owner)
        .bind(found.expires_us)
        .bind(before.phase.as_str().to_owned())
        .bind(run.phase.as_str().to_owned())
        .bind(mark.map(|mark| mark.fence.to_column()))
        .bind(mark.map(|mark| mark.owner.as_str().to_owned()))
        .bind(mark.map(|mark| mark.digest.to_string()))
        .bind(run.status.as_str())
        .bind(run.paused)
        .bind(hold.fence)
        .bind(hold.owner)
        .bind(hold.expires_us)
        .bind(hold.ended)
        .bind(i64::from(run.losses))
        .bind(i64::from(run.failures))
        .bind(run.due_at.as_micros())
        .bind(i64::from(run.key_epoch))
        .bind(run.error.as_ref().map(|error| error.to_document().to_json()));
    execute_one(connection, ask).await
}

/// A hold as its columns.
struct HoldColumns {
    fence: i64,
    owner: Option<String>,
    expires_us: Option<i64>,
    ended: Option<&'static str>,
}

impl HoldColumns {
    fn of(hold: &Hold) -> Self {
        let (expires_us, ended) = match hold {
            Hold::Never => (None, None),
            Hold::Held { expires_at, .. } => (Some(expires_at.as_micros()), None),
            Hold::Ended { how, .. } => (None, Some(how.as_str())),
        };
        let fence = hold.fence().map_or(0, FencingToken::to_column);
        Self { fence, owner: hold.owner().map(|owner| owner.as_str().to_owned()), expires_us, ended }
    }
}

async fn write_attempt(
    connection: &mut SqliteConnection,
    run: &str,
    change: AttemptChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    match change {
        AttemptChange::Open(attempt) => {
            let ask = sqlx::query(sql::OPEN_ATTEMPT)
                .bind(run.to_owned())
                .bind(attempt.fence.to_column())
                .bind(attempt.owner.as_str().to_owned())
                .bind(attempt.claimed_at.as_micros())
                .bind(attempt.from_phase.as_str().to_owned());
            execute_one(connection, ask).await?;
            match attempt.end {
                None => Ok(()),
                Some((outcome, _)) => {
                    let reason = attempt.reason.map(|reason| reason.to_json());
                    end(connection, run, attempt.fence, outcome, reason, now).await.map(drop)
                }
            }
        }
        // None may be left to end: it was marked as blocked before.
        AttemptChange::End { fence, outcome, reason } => {
            let reason = reason.map(|reason| reason.to_json());
            end(connection, run, fence, outcome, reason, now).await.map(drop)
        }
        AttemptChange::SupersedeUpTo(fence) => {
            let ask = sqlx::query(sql::SUPERSEDE_ATTEMPTS)
                .bind(run.to_owned())
                .bind(fence.to_column())
                .bind(now.as_micros());
            execute(connection, ask).await.map(drop)
        }
    }
}

async fn end(
    connection: &mut SqliteConnection,
    run: &str,
    fence: FencingToken,
    outcome: AttemptOutcome,
    reason: Option<String>,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let ask = sqlx::query(sql::END_ATTEMPT)
        .bind(run.to_owned())
        .bind(fence.to_column())
        .bind(now.as_micros())
        .bind(outcome.as_str())
        .bind(reason);
    execute(connection, ask).await
}
