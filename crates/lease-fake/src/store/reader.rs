//! Reading the fake store.

use std::collections::BTreeMap;

use async_trait::async_trait;
use lease_core::{
    Attempt, AttemptOutcome, Digest, OperatorAction, Receipt, Run, RunFilter, RunId, RunPage, RunReader,
    RunSelector, RunView, Status, StoreError, Stranded, Timestamp,
};

use super::FakeStore;
use super::tables::{Row, Tables};
use crate::journal::{Exchange, Operation};

#[async_trait]
impl RunReader for FakeStore {
    async fn find(&self, selector: &RunSelector) -> Result<Vec<RunId>, StoreError> {
        let selector = selector.clone();
        self.read(move |tables, _| {
            let exact =
                |run: &&Run| run.key.as_str() == selector.as_str() || selector.as_str().parse() == Ok(run.id);
            let runs = || tables.rows.values().map(|row| &row.run);
            if let Some(run) = runs().find(exact) {
                return vec![run.id];
            }
            let Some(prefix) = selector.id_prefix() else { return Vec::new() };
            runs().map(|run| run.id).filter(|id| id.to_string().starts_with(&prefix)).take(2).collect()
        })
        .await
    }

    async fn view(&self, run: RunId) -> Result<Option<RunView>, StoreError> {
        self.read(move |tables, now| tables.rows.get(&run).map(|row| view(row, now))).await
    }

    async fn list(&self, filter: &RunFilter) -> Result<RunPage, StoreError> {
        let filter = filter.clone();
        self.read(move |tables, now| {
            let limit = filter.limit.min(RunFilter::LIMIT);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let rows = tables.order.iter().filter_map(|id| tables.rows.get(id));
            let mut fitting = rows.filter(|row| fits(row, &filter));
            let runs = fitting.by_ref().take(limit).map(|row| view(row, now)).collect();
            RunPage { runs, more: fitting.next().is_some() }
        })
        .await
    }

    async fn receipts(&self, run: RunId) -> Result<Vec<Receipt>, StoreError> {
        self.read(move |tables, _| tables.rows.get(&run).map(|row| row.receipts.clone()).unwrap_or_default())
            .await
    }

    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>, StoreError> {
        self.read(move |tables, _| tables.rows.get(&run).map(|row| row.attempts.clone()).unwrap_or_default())
            .await
    }

    async fn actions(&self, run: RunId) -> Result<Vec<OperatorAction>, StoreError> {
        self.read(move |tables, _| tables.rows.get(&run).map(|row| row.actions.clone()).unwrap_or_default())
            .await
    }

    async fn runs_after(&self, after: Option<RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.read(move |tables, _| {
            let later = tables.rows.keys().copied().filter(|id| after.is_none_or(|after| *id > after));
            later.take(limit).collect()
        })
        .await
    }

    async fn stranded(&self, known: &[Digest]) -> Result<Vec<Stranded>, StoreError> {
        let known = known.to_vec();
        self.read(move |tables, _| {
            let mut found = BTreeMap::new();
            for run in tables.rows.values().map(|row| &row.run) {
                if run.status == Status::Open && !known.contains(&run.plan.id.digest) {
                    let plan = &run.plan.id;
                    let place = (plan.name.clone(), plan.version, plan.digest);
                    found.entry(place).or_insert(Stranded { plan: plan.clone(), runs: 0 }).runs += 1;
                }
            }
            found.into_values().collect()
        })
        .await
    }
}

impl FakeStore {
    async fn read<V, F>(&self, look: F) -> Result<V, StoreError>
    where
        V: Send + 'static,
        F: FnOnce(&Tables, Timestamp) -> V + Send + 'static,
    {
        self.request(Operation::Read, None, move |tables, now| Ok((look(tables, now), Exchange::Read))).await
    }
}

fn view(row: &Row, now: Timestamp) -> RunView {
    RunView { run: row.run.clone(), last_outcome: last_outcome(row), now }
}

fn last_outcome(row: &Row) -> Option<AttemptOutcome> {
    row.attempts.last().and_then(Attempt::outcome)
}

fn fits(row: &Row, filter: &RunFilter) -> bool {
    filter.status.is_none_or(|status| row.run.status == status)
        && filter.last_outcome.is_none_or(|outcome| last_outcome(row) == Some(outcome))
        && filter.key.as_ref().is_none_or(|key| row.run.key == *key)
}
