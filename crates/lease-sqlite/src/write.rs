//! Reading a run under the write lock, and writing down what a decision changes.
//!
//! Keeps ALL-OR-NOTHING: whatever is not written as it was decided is an error, and an error undoes the
//! transaction.

use lease_core::stored::BadValue;
use lease_core::transition::{AttemptChange, Change};
use lease_core::{AttemptOutcome, FencingToken, Hold, Run, RunId, StoreError, Timestamp};
use sqlx::sqlite::SqliteRow;

use crate::request::Ask;
use crate::row;
use crate::sql;
use crate::transaction::Transaction;

/// The run, if it is there, and the clock.
pub(crate) async fn read(
    transaction: &mut Transaction,
    run: RunId,
) -> Result<(Option<Run>, Timestamp), StoreError> {
    let row = one(transaction, Ask::new(sql::RUN).bind(run.to_string())).await?;
    Ok((row::run(&row)?, row::now(&row)?))
}

/// Exactly one row.
pub(crate) async fn one(transaction: &mut Transaction, ask: Ask) -> Result<SqliteRow, StoreError> {
    let mut rows = transaction.read(ask).await?;
    match (rows.pop(), rows.is_empty()) {
        (Some(row), true) => Ok(row),
        (Some(_) | None, _) => Err(BadValue::Contradiction("one row and the rows that were read").into()),
    }
}

/// Writes a change of `before` that was decided at `now`.
pub(crate) fn change(transaction: &mut Transaction, before: &Run, change: Change, now: Timestamp) {
    let Change { run, receipt, attempts, action } = change;
    let id = run.id.to_string();
    write_run(transaction, before, &run);
    for attempt in attempts {
        write_attempt(transaction, &id, attempt, now);
    }
    if let Some(receipt) = receipt {
        let ask = Ask::new(sql::ADD_RECEIPT)
            .bind(id.as_str())
            .bind(receipt.phase.as_str())
            .bind(receipt.fence.to_column())
            .bind(receipt.body.to_json())
            .bind(receipt.saved_at.as_micros());
        transaction.write_one(ask);
    }
    if let Some(action) = action {
        let ask = Ask::new(sql::ADD_ACTION)
            .bind(id)
            .bind(action.at.as_micros())
            .bind(action.action)
            .bind(action.by)
            .bind(action.reason);
        transaction.write_one(ask);
    }
}

fn write_run(transaction: &mut Transaction, before: &Run, run: &Run) {
    let found = HoldColumns::of(&before.hold);
    let hold = HoldColumns::of(&run.hold);
    let mark = run.mark.as_ref();
    let ask = Ask::new(sql::WRITE_RUN)
        .bind(run.id.to_string())
        .bind(found.fence)
        .bind(found.owner)
        .bind(found.expires_us)
        .bind(before.phase.as_str())
        .bind(run.phase.as_str())
        .bind(mark.map(|mark| mark.fence.to_column()))
        .bind(mark.map(|mark| mark.owner.as_str()))
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
    transaction.write_one(ask);
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

fn write_attempt(transaction: &mut Transaction, run: &str, change: AttemptChange, now: Timestamp) {
    match change {
        AttemptChange::Open(attempt) => {
            let ask = Ask::new(sql::OPEN_ATTEMPT)
                .bind(run)
                .bind(attempt.fence.to_column())
                .bind(attempt.owner.as_str())
                .bind(attempt.claimed_at.as_micros())
                .bind(attempt.from_phase.as_str());
            transaction.write_one(ask);
            if let Some((outcome, _)) = attempt.end {
                let reason = attempt.reason.map(|reason| reason.to_json());
                end(transaction, run, attempt.fence, outcome, reason, now);
            }
        }
        AttemptChange::End { fence, outcome, reason } => {
            let reason = reason.map(|reason| reason.to_json());
            end(transaction, run, fence, outcome, reason, now);
        }
        AttemptChange::SupersedeUpTo(fence) => {
            let ask =
                Ask::new(sql::SUPERSEDE_ATTEMPTS).bind(run).bind(fence.to_column()).bind(now.as_micros());
            transaction.write(ask);
        }
    }
}

/// Ends an attempt. None may be left to end: an operator cancels under a holder that has given up.
fn end(
    transaction: &mut Transaction,
    run: &str,
    fence: FencingToken,
    outcome: AttemptOutcome,
    reason: Option<String>,
    now: Timestamp,
) {
    let ask = Ask::new(sql::END_ATTEMPT)
        .bind(run)
        .bind(fence.to_column())
        .bind(now.as_micros())
        .bind(outcome.as_str())
        .bind(reason);
    transaction.write(ask);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lease_core::stored::BadValue;
    use lease_core::{
        Claim, Document, LossLimit, Operator as _, OwnerId, PhaseList, Plan, PlanName, PlanVersion, Priority,
        RunKey, RunReader as _, Submit, Ttl, transition,
    };
    use sqlx::{AssertSqlSafe, Executor as _};
    use tokio::time::Instant;

    use super::*;
    use crate::connections::Use;
    use crate::transaction::Outcome;
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
        let begin = async |store: &SqliteStore| {
            let connection = store.connections.open(Use::Write).await.expect("a connection");
            Transaction::new(connection, Instant::now() + Duration::from_secs(5))
        };
        let mut transaction = begin(&store).await;
        let (found, now) = read(&mut transaction, submit.id).await.expect("read");
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
        write_run(&mut transaction, &before, &first.run);
        write_run(&mut transaction, &before, &second.run);
        let refused = transaction.end(Outcome::Commit(()), true).await.map(drop);
        let Err(StoreError::Corrupt(source)) = refused else { panic!("{refused:?}") };
        assert!(matches!(source.downcast_ref(), Some(BadValue::Contradiction(_))));
        drop(transaction);
        let kept = store.view(submit.id).await.expect("read").expect("it is there").run;
        assert_eq!(kept, before, "neither is there");

        // NO-LAZARUS, by itself: a renewal of what is not held, or not any more, changes no row.
        let mut transaction = begin(&store).await;
        write_run(&mut transaction, &before, &first.run);
        transaction.end(Outcome::Commit(()), true).await.expect("the first alone");
        let mut transaction = begin(&store).await;
        let mut renewed = async |owner: &str, fence: i64, now: Timestamp| {
            let clock = format!(
                "DROP VIEW IF EXISTS temp.store_clock;
                 CREATE TEMP VIEW store_clock AS SELECT {} AS now_us",
                now.as_micros()
            );
            let connection = transaction.connection().await.expect("the lock is free");
            connection.execute(AssertSqlSafe(clock)).await.expect("a clock of the test's own");
            let leases = serde_json::json!([[submit.id.to_string(), owner, fence]]).to_string();
            let ask = Ask::new(sql::RENEW).bind(leases).bind(1_000);
            transaction.read(ask).await.expect("an answer").len()
        };
        assert_eq!(renewed("b#1", 1, now).await, 0);
        assert_eq!(renewed("a#1", 2, now).await, 0);
        assert_eq!(renewed("a#1", 1, now.plus(Duration::from_secs(60))).await, 0);
        assert_eq!(renewed("a#1", 1, now.plus(Duration::from_secs(59))).await, 1);
    }
}
