//! The read port.

use async_trait::async_trait;
use lease_core::stored::{self, BadValue, invalid, present};
use lease_core::{
    Attempt, Digest, OperatorAction, PhaseName, Receipt, RunFilter, RunId, RunPage, RunReader, RunSelector,
    RunView, StoreError, Stranded, Timestamp,
};
use sqlx::sqlite::SqliteRow;

use crate::lease::json_array;
use crate::request::Ask;
use crate::row::{self, get};
use crate::sql;
use crate::store::SqliteStore;

#[async_trait]
impl RunReader for SqliteStore {
    async fn find(&self, selector: &RunSelector) -> Result<Vec<RunId>, StoreError> {
        let prefix = selector.id_prefix();
        // Ids are hexadecimal digits and dashes, and 'g' comes after all of them.
        let after = prefix.as_ref().map(|prefix| format!("{prefix}g"));
        let ask = Ask::new(sql::FIND)
            .bind(selector.as_str().parse::<RunId>().ok().map(|id| id.to_string()))
            .bind(selector.as_str())
            .bind(prefix)
            .bind(after);
        Ok(self.rows(ask).await?.iter().map(id).collect::<Result<_, BadValue>>()?)
    }

    async fn view(&self, run: RunId) -> Result<Option<RunView>, StoreError> {
        let rows = self.rows(Ask::new(sql::VIEW).bind(run.to_string())).await?;
        Ok(rows.first().map(view).transpose()?)
    }

    async fn list(&self, filter: &RunFilter) -> Result<RunPage, StoreError> {
        let limit = filter.limit.min(RunFilter::LIMIT);
        let ask = Ask::new(sql::LIST)
            .bind(filter.status.map(|status| status.as_str()))
            .bind(filter.last_outcome.map(|outcome| outcome.as_str()))
            .bind(filter.key.as_ref().map(|key| key.as_str()))
            .bind(i64::from(limit) + 1);
        let rows = self.rows(ask).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let runs: Result<_, BadValue> = rows.iter().take(limit).map(view).collect();
        Ok(RunPage { runs: runs?, more: rows.len() > limit })
    }

    async fn receipts(&self, run: RunId) -> Result<Vec<Receipt>, StoreError> {
        let rows = self.rows(Ask::new(sql::RECEIPTS).bind(run.to_string())).await?;
        Ok(rows.iter().map(receipt).collect::<Result<_, BadValue>>()?)
    }

    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>, StoreError> {
        let rows = self.rows(Ask::new(sql::ATTEMPTS).bind(run.to_string())).await?;
        let attempt = |row| present("fence", row::attempt(row)?);
        Ok(rows.iter().map(attempt).collect::<Result<_, BadValue>>()?)
    }

    async fn runs_after(&self, after: Option<RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        let ask = Ask::new(sql::RUNS_AFTER).bind(after.map(|after| after.to_string())).bind(i64::from(limit));
        Ok(self.rows(ask).await?.iter().map(id).collect::<Result<_, BadValue>>()?)
    }

    async fn actions(&self, run: RunId) -> Result<Vec<OperatorAction>, StoreError> {
        let rows = self.rows(Ask::new(sql::ACTIONS).bind(run.to_string())).await?;
        Ok(rows.iter().map(action).collect::<Result<_, BadValue>>()?)
    }

    async fn stranded(&self, known: &[Digest]) -> Result<Vec<Stranded>, StoreError> {
        let ask = Ask::new(sql::STRANDED).bind(json_array(known.iter().map(Digest::to_string)));
        Ok(self.rows(ask).await?.iter().map(stranded).collect::<Result<_, BadValue>>()?)
    }
}

fn id(row: &SqliteRow) -> Result<RunId, BadValue> {
    get::<String>(row, "id")?.parse().map_err(invalid("id"))
}

fn view(row: &SqliteRow) -> Result<RunView, BadValue> {
    let last_outcome: Option<String> = get(row, "last_outcome")?;
    Ok(RunView {
        run: present("id", row::run(row)?)?,
        last_outcome: last_outcome.map(|word| word.parse()).transpose().map_err(invalid("outcome"))?,
        now: row::now(row)?,
    })
}

fn receipt(row: &SqliteRow) -> Result<Receipt, BadValue> {
    Ok(Receipt {
        phase: PhaseName::new(get::<String>(row, "phase")?).map_err(invalid("phase"))?,
        fence: stored::fence(get(row, "fence")?)?,
        body: stored::document("body", &get::<String>(row, "body")?)?,
        saved_at: Timestamp::from_micros(get(row, "saved_us")?),
    })
}

fn action(row: &SqliteRow) -> Result<OperatorAction, BadValue> {
    Ok(OperatorAction {
        at: Timestamp::from_micros(get(row, "acted_us")?),
        action: get(row, "action")?,
        by: get(row, "acted_by")?,
        reason: get(row, "reason")?,
    })
}

fn stranded(row: &SqliteRow) -> Result<Stranded, BadValue> {
    let digest: String = get(row, "plan_digest")?;
    Ok(Stranded {
        plan: stored::plan_id(get(row, "plan")?, get(row, "plan_version")?, &digest)?,
        runs: u64::try_from(get::<i64>(row, "runs")?).map_err(invalid("runs"))?,
    })
}
