//! The read port.

use async_trait::async_trait;
use lease_core::{
    Attempt, Digest, OperatorAction, PhaseName, Receipt, RunFilter, RunId, RunPage, RunReader, RunSelector,
    RunView, StoreError, Stranded, Timestamp,
};
use uuid::Uuid;

use crate::leases::digests;
use crate::row::row;
use crate::run_row::RunRow;
use crate::sql;
use crate::store::PgStore;
use lease_core::stored::{self, BadValue, invalid};

row! {
    /// Columns of `find`.
    IdRow {
        id: Uuid,
    }
}

row! {
    /// Columns of `receipts`.
    ReceiptRow {
        phase: String,
        fence: i64,
        body: String,
        saved_us: i64,
    }
}

row! {
    /// Columns of `attempts`.
    AttemptRow {
        fence: i64,
        owner: String,
        from_phase: String,
        outcome: Option<String>,
        reason: Option<String>,
        claimed_us: i64,
        ended_us: Option<i64>,
    }
}

row! {
    /// Columns of `actions`.
    ActionRow {
        action: String,
        acted_by: String,
        reason: Option<String>,
        acted_us: i64,
    }
}

row! {
    /// Columns of `stranded`.
    StrandedRow {
        name: String,
        version: i32,
        digest: String,
        runs: i64,
    }
}

#[async_trait]
impl RunReader for PgStore {
    async fn find(&self, selector: &RunSelector) -> Result<Vec<RunId>, StoreError> {
        // A NUL cannot be in any key, and PostgreSQL would refuse the text.
        if selector.as_str().contains('\0') {
            return Ok(Vec::new());
        }
        let id = selector.as_str().parse::<RunId>().ok().map(RunId::as_uuid);
        let prefix = selector.id_prefix();
        let range = prefix.as_deref().and_then(id_range);
        let ask = sqlx::query(sql::FIND)
            .bind(id)
            .bind(selector.as_str())
            .bind(prefix)
            .bind(range.map(|(lowest, _)| lowest))
            .bind(range.map(|(_, highest)| highest));
        let rows: Vec<IdRow> = self.connections.all(ask).await?;
        Ok(rows.into_iter().map(|IdRow { id }| RunId::new(id)).collect())
    }

    async fn view(&self, run: RunId) -> Result<Option<RunView>, StoreError> {
        let rows: Vec<RunRow> = self.connections.all(sqlx::query(sql::VIEW).bind(run.as_uuid())).await?;
        Ok(rows.into_iter().next().map(RunView::try_from).transpose()?)
    }

    async fn list(&self, filter: &RunFilter) -> Result<RunPage, StoreError> {
        let limit = filter.limit.min(RunFilter::LIMIT);
        let ask = sqlx::query(sql::LIST)
            .bind(filter.status.map(|status| status.as_str()))
            .bind(filter.last_outcome.map(|outcome| outcome.as_str()))
            .bind(filter.key.as_ref().map(|key| key.as_str()))
            .bind(i64::from(limit) + 1);
        let rows: Vec<RunRow> = self.connections.all(ask).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        let runs: Result<_, BadValue> = rows.into_iter().take(limit).map(RunView::try_from).collect();
        Ok(RunPage { runs: runs?, more })
    }

    async fn receipts(&self, run: RunId) -> Result<Vec<Receipt>, StoreError> {
        let rows: Vec<ReceiptRow> =
            self.connections.all(sqlx::query(sql::RECEIPTS).bind(run.as_uuid())).await?;
        let receipts: Result<_, BadValue> = rows.into_iter().map(Receipt::try_from).collect();
        Ok(receipts?)
    }

    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>, StoreError> {
        let rows: Vec<AttemptRow> =
            self.connections.all(sqlx::query(sql::ATTEMPTS).bind(run.as_uuid())).await?;
        let attempts: Result<_, BadValue> = rows.into_iter().map(Attempt::try_from).collect();
        Ok(attempts?)
    }

    async fn runs_after(&self, after: Option<RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        let ask = sqlx::query(sql::RUNS_AFTER).bind(after.map(RunId::as_uuid)).bind(i64::from(limit));
        let rows: Vec<IdRow> = self.connections.all(ask).await?;
        Ok(rows.into_iter().map(|IdRow { id }| RunId::new(id)).collect())
    }

    async fn actions(&self, run: RunId) -> Result<Vec<OperatorAction>, StoreError> {
        let rows: Vec<ActionRow> =
            self.connections.all(sqlx::query(sql::ACTIONS).bind(run.as_uuid())).await?;
        Ok(rows.into_iter().map(OperatorAction::from).collect())
    }

    async fn stranded(&self, known: &[Digest]) -> Result<Vec<Stranded>, StoreError> {
        let rows: Vec<StrandedRow> =
            self.connections.all(sqlx::query(sql::STRANDED).bind(digests(known))).await?;
        let stranded: Result<_, BadValue> = rows.into_iter().map(Stranded::try_from).collect();
        Ok(stranded?)
    }
}

/// The lowest and the highest id whose text begins with `prefix`.
fn id_range(prefix: &str) -> Option<(Uuid, Uuid)> {
    let filled = |digit: char| {
        let digits = prefix.chars().filter(|letter| *letter != '-').chain(std::iter::repeat(digit)).take(32);
        Uuid::try_parse(&digits.collect::<String>()).ok()
    };
    Some((filled('0')?, filled('f')?))
}

impl TryFrom<ReceiptRow> for Receipt {
    type Error = BadValue;

    fn try_from(row: ReceiptRow) -> Result<Self, BadValue> {
        let ReceiptRow { phase, fence, body, saved_us } = row;
        Ok(Self {
            phase: PhaseName::new(phase).map_err(invalid("phase"))?,
            fence: stored::fence(fence)?,
            body: stored::document("body", &body)?,
            saved_at: Timestamp::from_micros(saved_us),
        })
    }
}

impl TryFrom<AttemptRow> for Attempt {
    type Error = BadValue;

    fn try_from(row: AttemptRow) -> Result<Self, BadValue> {
        let AttemptRow { fence, owner, from_phase, outcome, reason, claimed_us, ended_us } = row;
        let end = match (outcome, ended_us) {
            (None, None) => None,
            (Some(word), Some(at)) => {
                Some((word.parse().map_err(invalid("outcome"))?, Timestamp::from_micros(at)))
            }
            (None | Some(_), _) => return Err(BadValue::Contradiction("outcome and ended_at")),
        };
        Ok(Self {
            fence: stored::fence(fence)?,
            owner: stored::owner(owner)?,
            claimed_at: Timestamp::from_micros(claimed_us),
            from_phase: stored::phase(&from_phase)?,
            end,
            reason: reason.map(|text| stored::document("reason", &text)).transpose()?,
        })
    }
}

impl From<ActionRow> for OperatorAction {
    fn from(row: ActionRow) -> Self {
        let ActionRow { action, acted_by, reason, acted_us } = row;
        Self { at: Timestamp::from_micros(acted_us), action, by: acted_by, reason }
    }
}

impl TryFrom<StrandedRow> for Stranded {
    type Error = BadValue;

    fn try_from(row: StrandedRow) -> Result<Self, BadValue> {
        let StrandedRow { name, version, digest, runs } = row;
        Ok(Self {
            plan: stored::plan_id(name, version, &digest)?,
            runs: u64::try_from(runs).map_err(invalid("runs"))?,
        })
    }
}
