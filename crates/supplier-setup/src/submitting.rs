//! Submitting good records, several requests at a time, each sent again where nobody knows whether it
//! landed: a submit that is sent again is answered with the run that is there.

use std::sync::Arc;
use std::time::Duration;

use lease_core::{Document, Operator, Plan, Priority, RunId, RunKey, StoreError, Submit, SubmitVerdict};
use supplier_runner::supplier::{Invalid, Sourced, SupplierRecord};
use supplier_runner::worker::new_run_id;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::error::Error;
use crate::output::records::{SubmitOutcome, SubmittedRecord};

/// How many requests are under way at once.
const AT_ONCE: usize = 4;
/// How long a request is sent again for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long to wait before a request is sent again.
const PAUSE: Duration = Duration::from_millis(250);
/// The field that names a record's key.
const KEY_FIELD: &str = "key";
/// The field that stands for a whole record.
const WHOLE_RECORD: &str = "record";

/// A run, old or new, and the supplier's key.
#[derive(Debug, Clone)]
pub(crate) struct SubmittedRun {
    /// The run.
    pub(crate) run: RunId,
    /// Its key.
    pub(crate) key: RunKey,
    /// Whether it is new.
    pub(crate) outcome: SubmitOutcome,
}

/// What became of the records.
#[derive(Debug, Default)]
pub(crate) struct Submitted {
    /// The runs, in the records' order.
    pub(crate) runs: Vec<SubmittedRun>,
    /// The records whose key exists with other content, in the records' order.
    pub(crate) conflicts: Vec<Invalid>,
}

impl SubmittedRun {
    /// The row for the JSON document.
    pub(crate) fn to_row(&self) -> SubmittedRecord {
        SubmittedRecord { key: self.key.to_string(), run: self.run.to_string(), outcome: self.outcome }
    }
}

/// Opens a run for each record, unless it is there.
///
/// # Errors
/// When the store does not answer for long, or the plan is in use with other content. What was
/// submitted until then stays, and the same call can be made again.
pub(crate) async fn submit_all(
    store: Arc<dyn Operator>,
    plan: &Plan,
    records: Vec<Sourced<SupplierRecord>>,
) -> Result<Submitted, Error> {
    let total = records.len();
    let mut left = records.into_iter().enumerate();
    let mut tasks = JoinSet::new();
    let mut results: Vec<Option<Result<SubmittedRun, Invalid>>> = vec![None; total];
    loop {
        while tasks.len() < AT_ONCE
            && let Some((place, record)) = left.next()
        {
            let (store, plan) = (Arc::clone(&store), plan.clone());
            tasks.spawn(async move { (place, submit_one(&*store, plan, record).await) });
        }
        let Some(joined) = tasks.join_next().await else { break };
        let (place, result) = joined.expect("a submit neither panics nor is cancelled");
        results[place] = Some(result?);
    }
    let mut submitted = Submitted::default();
    for result in results.into_iter().flatten() {
        match result {
            Ok(run) => submitted.runs.push(run),
            Err(conflict) => submitted.conflicts.push(conflict),
        }
    }
    Ok(submitted)
}

async fn submit_one(
    store: &dyn Operator,
    plan: Plan,
    record: Sourced<SupplierRecord>,
) -> Result<Result<SubmittedRun, Invalid>, Error> {
    let Sourced { value: record, file, line } = record;
    let invalid = |field: &str, error: String| Invalid { file, line, field: field.to_owned(), error };
    let key = match RunKey::new(record.key().as_str()) {
        Ok(key) => key,
        Err(error) => return Ok(Err(invalid(KEY_FIELD, error.to_string()))),
    };
    let input = match Document::new(record.to_input()) {
        Ok(input) => input,
        Err(error) => return Ok(Err(invalid(WHOLE_RECORD, error.to_string()))),
    };
    let id = new_run_id();
    let submit = Submit { id, key: key.clone(), plan, priority: Priority::default(), input };
    let opened = |run| SubmittedRun { run, key: key.clone(), outcome: SubmitOutcome::Opened };
    match patiently(store, &submit).await.map_err(Error::store("submit the suppliers"))? {
        SubmitVerdict::Opened => Ok(Ok(opened(id))),
        // The first request had landed, and its answer got lost.
        SubmitVerdict::Existing { run } if run == id => Ok(Ok(opened(id))),
        SubmitVerdict::Existing { run } => {
            Ok(Ok(SubmittedRun { run, key, outcome: SubmitOutcome::Existing }))
        }
        SubmitVerdict::KeyConflict { run, plan, content_differs } => {
            let what = if content_differs { "other content".to_owned() } else { format!("plan {plan}") };
            Ok(Err(invalid(KEY_FIELD, format!("exists with {what}: run {run}"))))
        }
        SubmitVerdict::PlanConflict { registered } => {
            Err(Error::PlanConflict { plan: submit.plan.id, registered })
        }
    }
}

async fn patiently(store: &dyn Operator, submit: &Submit) -> Result<SubmitVerdict, StoreError> {
    let give_up = Instant::now() + PATIENCE;
    loop {
        match store.submit(submit).await {
            Err(error) if error.may_try_again() && Instant::now() < give_up => sleep(PAUSE).await,
            answer => return answer,
        }
    }
}
