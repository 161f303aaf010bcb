//! Saves: one statement, or with effects one transaction.
//!
//! Keeps ALL-OR-NOTHING and NO-LATE-SAVE. The transaction is begun, the fenced statement sent, and
//! only if it changed its row the effects are written and all is committed. From its begin on it runs in
//! a task of its own, so that no cancelled request can stop it half-way, and its connection is closed on
//! any doubt. A request that is given up before that sends nothing any more.
//! Where the whole process stops, the server ends the transaction within half of the TTL.

use std::sync::Arc;
use std::time::Duration;

use lease_core::{AfterSave, LostReason, RunKey, Save, SaveVerdict, StoreError, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, FromRow as _, PgConnection};

use crate::connections::{Ask, Connections, Line, bounded};
use crate::effect::{EffectError, EffectWriter, SavedPhase};
use crate::error::{self, Class};
use crate::holder_row::{HolderAnswer, HolderRow, Judged, Word, out_of_place};
use crate::row::row;
use crate::sql;
use crate::turns::Turns;
use lease_core::stored::{BadValue, invalid, present};

row! {
    /// What effects need of the run that was saved.
    KeyRow {
        key: Option<String>,
    }
}

row! {
    /// The clock right before the commit.
    EndRow {
        end_us: i64,
    }
}

/// The clock, and then the commit, in one message. In a transaction that has failed unseen the first
/// statement is an error, where a bare COMMIT would quietly roll back.
const COMMIT: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us; COMMIT";

/// A save without effects.
pub(crate) async fn save_alone(connections: &Connections, save: &Save) -> Result<SaveVerdict, StoreError> {
    let row: HolderRow = connections.one(ask(save)).await?;
    Ok(verdict(&row.try_into()?, save)?)
}

/// A save with effects, in a task that goes on even when nobody waits for it any more. Until the task
/// has its turn and its connection, giving up leaves nothing behind.
pub(crate) async fn save_with_effects(
    connections: &Connections,
    turns: &Turns,
    writer: &Arc<dyn EffectWriter>,
    save: &Save,
) -> Result<SaveVerdict, StoreError> {
    // On another connection nothing is stale. Who is told the same there is told the truth.
    match one_save(connections, turns, writer, save).await? {
        Tried::Verdict(verdict) => Ok(verdict),
        Tried::Stale { .. } => match one_save(connections, turns, writer, save).await? {
            Tried::Verdict(verdict) => Ok(verdict),
            Tried::Stale { message } => Ok(SaveVerdict::EffectRefused { message }),
        },
    }
}

async fn one_save(
    connections: &Connections,
    turns: &Turns,
    writer: &Arc<dyn EffectWriter>,
    save: &Save,
) -> Result<Tried, StoreError> {
    let turn = turns.of(save.lease()).await;
    let line = connections.take().await?;
    let (connections, writer, save) = (connections.clone(), Arc::clone(writer), save.clone());
    let task = tokio::spawn(async move {
        let tried = in_transaction(&connections, line, writer.as_ref(), &save).await;
        drop(turn);
        tried
    });
    task.await.unwrap_or_else(|broken| Err(StoreError::Unknown(Box::new(broken))))
}

/// What came of one transaction.
enum Tried {
    /// An answer.
    Verdict(SaveVerdict),
    /// The connection may know an effect's statement from before a table changed. Nothing landed.
    Stale {
        /// What the store said.
        message: String,
    },
}

async fn in_transaction(
    connections: &Connections,
    mut line: Line,
    writer: &dyn EffectWriter,
    save: &Save,
) -> Result<Tried, StoreError> {
    let limit = connections.answer_limit();
    let connection = line.connection();
    let row = match bounded(limit, begin_and_save(connection, connections.idle_limit(), save)).await {
        Ok(Ok(row)) => row,
        Ok(Err(failed)) => {
            if !error::leaves_connection_sound(&failed) {
                connections.forget_idle();
            }
            return Err(error::before_commit(failed));
        }
        Err(late) => return Err(error::undone(late)),
    };
    let answer = HolderRow::from_row(&row).map_err(error::of_statement)?.try_into()?;
    let HolderAnswer::Judged(mut judged) = answer else {
        roll_back(line, limit).await;
        return Ok(Tried::Verdict(verdict(&answer, save)?));
    };
    if judged.word != Word::Done {
        roll_back(line, limit).await;
        return Ok(Tried::Verdict(judged_save(&judged, save)?));
    }
    let saved = saved_phase(&row, save)?;
    match bounded(save.ttl().as_duration(), writer.write(connection, &saved, save.effects().as_slice())).await
    {
        Ok(Ok(())) => {}
        Ok(Err(failed)) => {
            return match Answer::to(failed) {
                Answer::Refused(message) => {
                    roll_back(line, limit).await;
                    Ok(Tried::Verdict(SaveVerdict::EffectRefused { message }))
                }
                // The connection is closed, and so the transaction is undone.
                Answer::Stale(message) => Ok(Tried::Stale { message }),
                Answer::Passes(failed) => Err(error::before_commit(failed)),
            };
        }
        Err(late) => return Err(error::undone(late)),
    }
    match bounded(limit, sqlx::raw_sql(COMMIT).fetch_one(&mut *connection)).await? {
        Ok(row) => {
            line.keep();
            let EndRow { end_us } = EndRow::from_row(&row).map_err(error::of_statement)?;
            judged.end = Timestamp::from_micros(end_us);
            Ok(Tried::Verdict(judged_save(&judged, save)?))
        }
        // A constraint or trigger that is only looked at now. The transaction is rolled back.
        Err(failed) if failed.as_database_error().is_some() => match Answer::to(failed.into()) {
            Answer::Refused(message) | Answer::Stale(message) => {
                Ok(Tried::Verdict(SaveVerdict::EffectRefused { message }))
            }
            Answer::Passes(failed) => Err(error::of_statement(failed)),
        },
        Err(failed) => Err(error::of_statement(failed)),
    }
}

/// Opens the transaction, bounds how long it may stand idle, and sends the fenced statement.
async fn begin_and_save(
    connection: &mut PgConnection,
    idle_limit: Option<Duration>,
    save: &Save,
) -> Result<PgRow, sqlx::Error> {
    let half = save.ttl().as_duration() / 2;
    let idle = idle_limit.map_or(half, |limit| limit.min(half)).as_millis().max(1);
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = {idle}"
    );
    sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *connection).await?;
    ask(save).fetch_one(&mut *connection).await
}

/// Rolls back. Where that fails, the connection is closed, which does the same.
async fn roll_back(mut line: Line, limit: Duration) {
    if let Ok(Ok(_)) = bounded(limit, sqlx::raw_sql("ROLLBACK").execute(line.connection())).await {
        line.keep();
    }
}

/// What an effect that was not written comes to. Before the commit nothing has landed, so whatever
/// does not pass by itself is the step's failure, whatever its code: a missing privilege or column as
/// much as a constraint.
enum Answer {
    /// It will be refused again.
    Refused(String),
    /// It may be due to a statement prepared before a table changed.
    Stale(String),
    /// It passes: a lock, a limit, a server that is away.
    Passes(sqlx::Error),
}

impl Answer {
    fn to(error: EffectError) -> Self {
        let failed = match error {
            EffectError::Refused { message } => return Self::Refused(message),
            EffectError::Database(failed) => failed,
        };
        let message = match failed.as_database_error() {
            Some(database) => database.message().to_owned(),
            None => failed.to_string(),
        };
        match error::class(&failed) {
            Class::Stale => Self::Stale(message),
            Class::NotApplied | Class::Unknown | Class::Unreachable => Self::Passes(failed),
            Class::Schema | Class::Corrupt | Class::Constraint | Class::Data | Class::Unexpected => {
                Self::Refused(message)
            }
        }
    }
}

fn ask(save: &Save) -> Ask<'_> {
    let lease = save.lease();
    sqlx::query(sql::SAVE)
        .bind(lease.run.as_uuid())
        .bind(lease.owner.as_str())
        .bind(lease.fence.to_column())
        .bind(save.from().as_str())
        .bind(save.to().as_str())
        .bind(save.digest().to_string())
        .bind(save.receipt().to_json())
        .bind(save.ttl().as_millis())
}

fn saved_phase(row: &PgRow, save: &Save) -> Result<SavedPhase, StoreError> {
    let KeyRow { key } = KeyRow::from_row(row).map_err(error::of_statement)?;
    Ok(SavedPhase {
        run: save.lease().run,
        key: RunKey::new(present("key", key)?).map_err(invalid("key"))?,
        phase: save.to().clone(),
        fence: save.lease().fence,
    })
}

fn verdict(answer: &HolderAnswer, save: &Save) -> Result<SaveVerdict, BadValue> {
    match answer {
        HolderAnswer::Gone => Ok(SaveVerdict::Refused(LostReason::Gone)),
        HolderAnswer::NotJudged => Err(BadValue::Answer(Some("not_judged".to_owned()))),
        HolderAnswer::Judged(judged) => judged_save(judged, save),
    }
}

fn judged_save(judged: &Judged, save: &Save) -> Result<SaveVerdict, BadValue> {
    match judged.word {
        Word::Done => Ok(SaveVerdict::Saved(after_save(judged, save))),
        Word::Already => Ok(SaveVerdict::AlreadySaved(after_save(judged, save))),
        Word::ReceiptConflict => Ok(SaveVerdict::Refused(LostReason::ReceiptConflict)),
        Word::PhaseConflict => Ok(SaveVerdict::Refused(judged.conflict(save.from()))),
        Word::Lost => Ok(SaveVerdict::Refused(judged.why(save.lease())?)),
        Word::Seen => Err(out_of_place(Word::Seen)),
    }
}

fn after_save(judged: &Judged, save: &Save) -> AfterSave {
    judged.after_save(save.lease())
}
