//! Runs as text: the tables of `list` and `show`.

use std::fmt::Write as _;

use lease_core::{Attempt, AttemptOutcome, Document, Failure, Hold, LeaseEnd, Run, RunView, Status};

use super::plain::{duration, plain, short};
use super::run_json::{WholeRun, fence_number};
use super::table::Table;
use crate::reason;

/// How much of a receipt is shown, in characters.
const BODY_CHARS: usize = 120;

/// The table of `list`.
pub(crate) fn list(runs: &[RunView]) -> String {
    let mut table =
        Table::new(0, &["RUN", "KEY", "PLAN", "STATUS", "PHASE", "NEXT", "FENCE", "DUE", "LAST OUTCOME"]);
    for view in runs {
        let run = &view.run;
        let due = if run.status == Status::Open { due_in_words(view) } else { "-".to_owned() };
        table.row(vec![
            run.id.to_string(),
            plain(run.key.as_str()),
            run.plan.id.to_string(),
            status_in_words(run),
            run.phase.as_str().to_owned(),
            run.next_phase().map_or("-", |phase| phase.as_str()).to_owned(),
            fence_number(run.hold.fence()).to_string(),
            due,
            view.last_outcome.map_or("-", AttemptOutcome::as_str).to_owned(),
        ]);
    }
    table.into_text()
}

/// Everything about one run.
pub(crate) fn show(whole: &WholeRun) -> String {
    let mut text = String::new();
    for (name, value) in facts(&whole.view) {
        let _always_fits = writeln!(text, "{name:<10}{value}");
    }
    if !whole.receipts.is_empty() {
        let mut table = Table::new(2, &["PHASE", "FENCE", "SAVED AT", "RECEIPT"]);
        for receipt in &whole.receipts {
            table.row(vec![
                receipt.phase.as_str().to_owned(),
                receipt.fence.to_string(),
                receipt.saved_at.to_string(),
                short(&plain(&receipt.body.to_json()), BODY_CHARS),
            ]);
        }
        section(&mut text, "receipts", table);
    }
    if !whole.attempts.is_empty() {
        let mut table =
            Table::new(2, &["FENCE", "OWNER", "CLAIMED AT", "FROM", "ENDED AT", "OUTCOME", "REASON"]);
        for attempt in &whole.attempts {
            table.row(attempt_row(attempt, &whole.view));
        }
        section(&mut text, "attempts", table);
    }
    if !whole.actions.is_empty() {
        let mut table = Table::new(2, &["AT", "ACTION", "BY", "REASON"]);
        for action in &whole.actions {
            let reason = action.reason.as_deref().map_or("-".to_owned(), plain);
            table.row(vec![action.at.to_string(), plain(&action.action), plain(&action.by), reason]);
        }
        section(&mut text, "actions", table);
    }
    text.push_str("\ninput\n  ");
    text.push_str(&plain(&whole.view.run.input.to_json()));
    text.push('\n');
    text
}

fn section(text: &mut String, name: &str, table: Table) {
    let _always_fits = write!(text, "\n{name}\n{}", table.into_text());
}

fn facts(view: &RunView) -> Vec<(&'static str, String)> {
    let run = &view.run;
    let plan = &run.plan;
    let saved = plan.phases.saved_count(&run.phase).unwrap_or(0);
    let next = run.next_phase().map_or(String::new(), |phase| format!(", next {}", phase.as_str()));
    let mut facts = vec![
        ("run", run.id.to_string()),
        ("key", plain(run.key.as_str())),
        ("plan", format!("{} (digest {})", plan.id, plan.id.digest)),
        ("status", status_in_words(run)),
        ("phase", format!("{}, {saved} of {} saved{next}", run.phase.as_str(), plan.phases.as_slice().len())),
        ("fence", fence_number(run.hold.fence()).to_string()),
        ("lease", lease_in_words(view)),
    ];
    if run.status == Status::Open {
        facts.push(("due", format!("{} ({})", run.due_at, due_in_words(view))));
    }
    if run.losses > 0 || run.failures > 0 {
        let counts = format!("{} failed tries, {} lost leases", run.failures, run.losses);
        facts.push(("so far", format!("{counts} at this phase")));
    }
    if let Some(error) = &run.error {
        facts.push(("error", failure_in_words(error)));
    }
    facts.push(("submitted", run.submitted_at.to_string()));
    facts
}

fn failure_in_words(error: &Failure) -> String {
    plain(&format!("{error} (tries: {})", error.attempts))
}

fn status_in_words(run: &Run) -> String {
    if run.paused { format!("{}, paused", run.status) } else { run.status.to_string() }
}

fn due_in_words(view: &RunView) -> String {
    let wait = view.run.due_at.since(view.now);
    if wait.is_zero() { "now".to_owned() } else { format!("in {}", duration(wait)) }
}

fn lease_in_words(view: &RunView) -> String {
    let ended = |how: LeaseEnd| match how {
        LeaseEnd::Completed => "ended: the phase was saved and the lease was over",
        LeaseEnd::Yielded => "released, to be claimed again",
        LeaseEnd::Retrying => "released, to be tried again later",
        LeaseEnd::Waiting => "released, to wait for an approval",
        LeaseEnd::Failed => "ended: the holder failed the run",
        LeaseEnd::Cancelled => "ended: an operator cancelled the run",
        LeaseEnd::Revoked => "taken away by an operator",
        LeaseEnd::Lapsed => "ran out, and the run was set aside",
    };
    match &view.run.hold {
        Hold::Never => "never claimed".to_owned(),
        Hold::Held { owner, expires_at, .. } if view.now < *expires_at => {
            format!("held by {} for another {}", plain(owner.as_str()), duration(expires_at.since(view.now)))
        }
        Hold::Held { owner, expires_at, .. } => {
            let ago = duration(view.now.since(*expires_at));
            let next = match (view.run.status, view.run.paused) {
                (Status::Open, false) => {
                    "; the next claim takes the run, or sets it aside if it lost too many"
                }
                (Status::Open, true) => "; no claim takes the run before it is resumed",
                (Status::Waiting | Status::Completed | Status::Failed | Status::Cancelled, _) => "",
            };
            format!("of {}, ran out {ago} ago{next}", plain(owner.as_str()))
        }
        Hold::Ended { owner, how, .. } => format!("of {}, {}", plain(owner.as_str()), ended(*how)),
    }
}

fn attempt_row(attempt: &Attempt, view: &RunView) -> Vec<String> {
    let live = matches!(&view.run.hold, Hold::Held { expires_at, .. } if view.now < *expires_at);
    let without_end = if live { "under way" } else { "not heard of" };
    let reason = attempt.reason.as_ref().map_or("-".to_owned(), reason_in_words);
    vec![
        attempt.fence.to_string(),
        plain(attempt.owner.as_str()),
        attempt.claimed_at.to_string(),
        attempt.from_phase.as_str().to_owned(),
        attempt.end.map_or("-".to_owned(), |(_, at)| at.to_string()),
        attempt.outcome().map_or(without_end, AttemptOutcome::as_str).to_owned(),
        reason,
    ]
}

fn reason_in_words(document: &Document) -> String {
    plain(&reason::in_words(document))
}
