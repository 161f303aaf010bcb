//! What a decision writes, in words: every field of the run that changes, and nothing else.
//!
//! `Run` is taken apart field by field, so that a new column has to be named here too.

use std::fmt::Debug;

use lease_core::transition::{AttemptChange, Decision};
use lease_core::{Hold, Run, Timestamp};

use crate::world::{START, at};

/// The writes of a decision, one in each line; none for a decision that changes nothing.
pub(crate) fn writes<V>(before: &Run, decision: &Decision<V>) -> Vec<String> {
    let Some(change) = &decision.change else { return Vec::new() };
    let mut lines = changed_fields(before, &change.run);
    if let Some(receipt) = &change.receipt {
        let saved_at = shown_time(receipt.saved_at);
        lines.push(format!("receipt {} by {} at {saved_at}: {}", receipt.phase, receipt.fence, receipt.body));
    }
    lines.extend(change.attempts.iter().map(shown_attempt));
    if let Some(action) = &change.action {
        let reason = action.reason.as_deref().unwrap_or("-");
        lines.push(format!("log {} by {}: {reason}, at {}", action.action, action.by, shown_time(action.at)));
    }
    lines
}

fn changed_fields(before: &Run, after: &Run) -> Vec<String> {
    let Run {
        id,
        key,
        plan,
        priority,
        phase,
        mark,
        status,
        paused,
        hold,
        losses,
        failures,
        due_at,
        key_epoch,
        input,
        input_digest,
        error,
        submitted_at,
    } = after;
    assert_eq!(
        (id, key, plan, priority, input, input_digest, submitted_at),
        (
            &before.id,
            &before.key,
            &before.plan,
            &before.priority,
            &before.input,
            &before.input_digest,
            &before.submitted_at
        ),
        "what was submitted never changes"
    );
    let mut lines = Vec::new();
    note(&mut lines, "phase", phase.as_str(), before.phase.as_str());
    if *mark != before.mark {
        let shown = mark.as_ref().map(|mark| format!("{} {}", mark.fence, mark.owner));
        lines.push(format!("mark = {}", shown.unwrap_or_default()));
    }
    note(&mut lines, "status", status.as_str(), before.status.as_str());
    note(&mut lines, "paused", *paused, before.paused);
    note(&mut lines, "hold", shown_hold(hold), shown_hold(&before.hold));
    note(&mut lines, "losses", *losses, before.losses);
    note(&mut lines, "failures", *failures, before.failures);
    note(&mut lines, "due", shown_time(*due_at), shown_time(before.due_at));
    note(&mut lines, "key epoch", *key_epoch, before.key_epoch);
    if *error != before.error {
        lines.push(match error {
            Some(error) => format!("error = {error} (try {})", error.attempts),
            None => "error = none".to_owned(),
        });
    }
    lines
}

fn note<T: PartialEq + ToString>(lines: &mut Vec<String>, field: &str, after: T, before: T) {
    if after != before {
        lines.push(format!("{field} = {}", after.to_string()));
    }
}

fn shown_hold(hold: &Hold) -> String {
    match hold {
        Hold::Never => "never".to_owned(),
        Hold::Held { fence, owner, expires_at } => {
            format!("{fence} {owner} until {}", shown_time(*expires_at))
        }
        Hold::Ended { fence, owner, how } => format!("{fence} {owner} ended: {how}"),
    }
}

fn shown_attempt(change: &AttemptChange) -> String {
    match change {
        AttemptChange::Open(attempt) => {
            assert_eq!((attempt.end, &attempt.reason), (None, &None), "a new attempt has not ended");
            let claimed_at = shown_time(attempt.claimed_at);
            format!("attempt {} of {} at {}, {claimed_at}", attempt.fence, attempt.owner, attempt.from_phase)
        }
        AttemptChange::End { fence, outcome, reason } => {
            let reason = reason.as_ref().map_or("-".to_owned(), ToString::to_string);
            format!("attempt {fence} ends {outcome}: {reason}")
        }
        AttemptChange::SupersedeUpTo(fence) => format!("attempts to {fence} superseded"),
    }
}

/// Seconds since the run was submitted.
fn shown_time(instant: Timestamp) -> String {
    let since = instant.as_micros() - at(START).as_micros();
    assert_eq!(since % 1_000_000, 0, "these tests count whole seconds");
    format!("+{}s", since / 1_000_000)
}

/// Asserts the verdict and the writes of a decision.
pub(crate) fn check<V: Debug + PartialEq>(before: &Run, decision: &Decision<V>, verdict: &V, lines: &[&str]) {
    assert_eq!(&decision.verdict, verdict);
    assert_eq!(writes(before, decision), lines);
}
