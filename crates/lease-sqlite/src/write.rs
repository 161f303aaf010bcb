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
        // None may be left to end: an operator cancels under a holder that has given up.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lease_core::stored::BadValue;
    use lease_core::{
        Claim, Document, LossLimit, Operator as _, OwnerId, PhaseList, Plan, PlanName, PlanVersion, Priority,
        RunKey, Submit, Ttl, transition,
    };

    use super::*;
    use crate::connections::Use;
    use crate::{HISTORY, SqliteSettings, SqliteStore};

    /// FENCE-UP, ONE-HOLDER: the write lock is what keeps a run as it was judged, and hides these
    /// conditions. They stand alone where something was judged on a run that is not there any more.
    #[tokio::test]
    async fn one_holder_what_was_judged_on_another_state_of_the_run_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let ttl = Ttl::new(Duration::from_secs(60)).expect("a minute");
        let path = folder.path().join("runs.db");
        let store = SqliteStore::open_or_create(&path, &SqliteSettings::for_ttl(ttl)).await.expect("opened");
        store.migrate(&[&HISTORY]).await.expect("migrated");
        let phases = PhaseList::from_names(["a"]).expect("a phase");
        let name = PlanName::new("plan").expect("a name");
        let submit = Submit {
            id: RunId::new(uuid::Uuid::from_u128(1)),
            key: RunKey::new("key").expect("a key"),
            plan: Plan::new(name, PlanVersion::new(1).expect("one"), phases, ""),
            priority: Priority::default(),
            input: Document::default(),
        };
        let _ = store.submit(&submit).await.expect("submitted");
        let mut connection = store.connections.open(Use::Write).await.expect("a connection");
        let (found, now) = read(&mut connection, submit.id).await.expect("read");
        let before = found.expect("it is there");
        let claim = |owner: &str| Claim {
            run: submit.id,
            owner: OwnerId::from_stored(owner).expect("an owner"),
            ttl,
            plans: vec![submit.plan.id.digest],
            loss_limit: LossLimit::new(3).expect("three"),
        };
        // Both are judged on the run as it was at first; only one of them may be written.
        let claims = ["a#1", "b#1"].map(|owner| transition::claim(&before, &claim(owner), now).change);
        let [Some(first), Some(second)] = claims else { panic!("both are granted by the rules") };
        write_run(&mut connection, &before, &first.run).await.expect("the first");
        let refused = write_run(&mut connection, &before, &second.run).await;
        let Err(StoreError::Corrupt(source)) = refused else { panic!("{refused:?}") };
        assert!(matches!(source.downcast_ref(), Some(BadValue::Contradiction(_))));

        // NO-LAZARUS, by itself: a renewal judged at an instant past the expiry changes no row.
        let late = now.plus(Duration::from_secs(61));
        let renew = |owner: &str, fence: i64, at: Timestamp| {
            sqlx::query(sql::RENEW)
                .bind(submit.id.to_string())
                .bind(owner.to_owned())
                .bind(fence)
                .bind(at.as_micros())
                .bind(at.as_micros() + 1)
        };
        for (owner, fence, at) in [("a#1", 1, late), ("b#1", 1, now), ("a#1", 2, now)] {
            assert_eq!(execute(&mut connection, renew(owner, fence, at)).await.expect("an answer"), 0);
        }
        assert_eq!(execute(&mut connection, renew("a#1", 1, now)).await.expect("an answer"), 1);
    }
}
