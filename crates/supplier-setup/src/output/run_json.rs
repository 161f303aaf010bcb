//! Runs as JSON: the documents of `list` and `show`, whose names and shapes scripts rely on.

use lease_core::{Attempt, Document, FencingToken, Hold, OperatorAction, Receipt, RunView, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};

/// The result of `list`.
#[derive(Debug, Serialize)]
pub(crate) struct ListDocument {
    /// The runs, in the order of their submission.
    pub(crate) runs: Vec<RunRow>,
}

/// One run in a list.
#[derive(Debug, Serialize)]
pub(crate) struct RunRow {
    run: String,
    key: String,
    plan: String,
    plan_version: u32,
    status: &'static str,
    paused: bool,
    phase: String,
    next_phase: Option<String>,
    fence: u64,
    due_at: String,
    last_outcome: Option<&'static str>,
}

/// The result of `show`.
#[derive(Debug, Serialize)]
pub(crate) struct ShowDocument {
    run: ShownRun,
    receipts: Vec<ReceiptRow>,
    attempts: Vec<AttemptRow>,
    actions: Vec<ActionRow>,
}

#[derive(Debug, Serialize)]
struct ShownRun {
    #[serde(flatten)]
    row: RunRow,
    error: Option<Map<String, Value>>,
    input: Map<String, Value>,
    lease: Option<LeaseRow>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct LeaseRow {
    owner: String,
    expires_in_ms: i64,
    live: bool,
}

#[derive(Debug, Serialize)]
struct ReceiptRow {
    phase: String,
    fence: u64,
    saved_at: String,
    body: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct AttemptRow {
    fence: u64,
    owner: String,
    claimed_at: String,
    from_phase: String,
    ended_at: Option<String>,
    outcome: Option<&'static str>,
    reason: Option<Map<String, Value>>,
}

#[derive(Debug, Serialize)]
struct ActionRow {
    at: String,
    action: String,
    by: String,
    reason: Option<String>,
}

/// Everything there is about a run.
#[derive(Debug)]
pub(crate) struct WholeRun {
    /// The run.
    pub(crate) view: RunView,
    /// Its receipts.
    pub(crate) receipts: Vec<Receipt>,
    /// Its attempts.
    pub(crate) attempts: Vec<Attempt>,
    /// What operators did.
    pub(crate) actions: Vec<OperatorAction>,
}

/// The number of a fence; 0 for a run never claimed.
pub(crate) fn fence_number(fence: Option<FencingToken>) -> u64 {
    fence.map_or(0, FencingToken::get)
}

impl From<&RunView> for RunRow {
    fn from(view: &RunView) -> Self {
        let run = &view.run;
        Self {
            run: run.id.to_string(),
            key: run.key.to_string(),
            plan: run.plan.id.name.to_string(),
            plan_version: run.plan.id.version.get(),
            status: run.status.as_str(),
            paused: run.paused,
            phase: run.phase.as_str().to_owned(),
            next_phase: run.next_phase().map(|phase| phase.as_str().to_owned()),
            fence: fence_number(run.hold.fence()),
            due_at: run.due_at.to_string(),
            last_outcome: view.last_outcome.map(|outcome| outcome.as_str()),
        }
    }
}

impl From<WholeRun> for ShowDocument {
    fn from(whole: WholeRun) -> Self {
        let WholeRun { view, receipts, attempts, actions } = whole;
        let run = ShownRun {
            row: RunRow::from(&view),
            error: view.run.error.as_ref().map(|failure| failure.to_document().into_fields()),
            lease: lease_row(&view.run.hold, view.now),
            input: view.run.input.into_fields(),
        };
        Self {
            run,
            receipts: receipts.into_iter().map(ReceiptRow::from).collect(),
            attempts: attempts.into_iter().map(AttemptRow::from).collect(),
            actions: actions.into_iter().map(ActionRow::from).collect(),
        }
    }
}

/// The lease that the run's newest claim holds or let lapse; none once it was ended.
fn lease_row(hold: &Hold, now: Timestamp) -> Option<LeaseRow> {
    match hold {
        Hold::Never | Hold::Ended { .. } => None,
        Hold::Held { owner, expires_at, .. } => Some(LeaseRow {
            owner: owner.as_str().to_owned(),
            // Rounded down: a lease is never shown to last longer than it does.
            expires_in_ms: expires_at.as_micros().saturating_sub(now.as_micros()).div_euclid(1_000),
            live: now < *expires_at,
        }),
    }
}

impl From<Receipt> for ReceiptRow {
    fn from(receipt: Receipt) -> Self {
        let Receipt { phase, fence, body, saved_at } = receipt;
        Self {
            phase: phase.as_str().to_owned(),
            fence: fence.get(),
            saved_at: saved_at.to_string(),
            body: body.into_fields(),
        }
    }
}

impl From<Attempt> for AttemptRow {
    fn from(attempt: Attempt) -> Self {
        let Attempt { fence, owner, claimed_at, from_phase, end, reason } = attempt;
        Self {
            fence: fence.get(),
            owner: owner.as_str().to_owned(),
            claimed_at: claimed_at.to_string(),
            from_phase: from_phase.as_str().to_owned(),
            ended_at: end.map(|(_, at)| at.to_string()),
            outcome: end.map(|(outcome, _)| outcome.as_str()),
            reason: reason.map(Document::into_fields),
        }
    }
}

impl From<OperatorAction> for ActionRow {
    fn from(done: OperatorAction) -> Self {
        let OperatorAction { at, action, by, reason } = done;
        Self { at: at.to_string(), action, by, reason }
    }
}

#[cfg(test)]
mod tests {
    use lease_core::OwnerId;

    use super::*;

    #[test]
    fn a_lapsed_lease_has_negative_time_left() {
        let hold = |expires: i64| Hold::Held {
            fence: FencingToken::FIRST,
            owner: OwnerId::from_stored("a#1").unwrap(),
            expires_at: Timestamp::from_micros(expires),
        };
        let shown = |expires| lease_row(&hold(expires), Timestamp::from_micros(10_000)).unwrap();
        assert_eq!((shown(12_500).expires_in_ms, shown(12_500).live), (2, true));
        assert_eq!((shown(9_999).expires_in_ms, shown(9_999).live), (-1, false));
        assert_eq!((shown(10_000).expires_in_ms, shown(10_000).live), (0, false));
        assert_eq!(lease_row(&Hold::Never, Timestamp::from_micros(0)), None);
    }
}
