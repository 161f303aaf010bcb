//! What workers told: every receipt that was acknowledged is there, and every reason that was given is true.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::history::{AttemptRow, Fault, History, Told};
use super::trail::Course;
use super::{Courses, Figures, Findings, SAME_STATEMENT};

/// The word for why a lease was lost.
pub(super) fn why(reason: &Value) -> Option<&str> {
    reason["why"].as_str()
}

/// Judges them.
pub(super) fn judge(history: &History, courses: &Courses, findings: &mut Findings, figures: &mut Figures) {
    let attempts: BTreeMap<(&str, i64), &AttemptRow> =
        history.attempts.iter().map(|attempt| ((attempt.run_id.as_str(), attempt.fence), attempt)).collect();
    let receipts: BTreeSet<(&str, &str, i64)> = history
        .receipts
        .iter()
        .map(|receipt| (receipt.run_id.as_str(), receipt.phase.as_str(), receipt.fence))
        .collect();
    for told in &history.told {
        let Some(course) = courses.get(&told.run) else {
            findings.add("TRUTH", format!("told of a run that is not there: {told:?}"));
            continue;
        };
        match told.event.as_str() {
            "claimed" => {
                let known = told.fence.is_some_and(|fence| course.claim(fence).is_some());
                findings.check(known, "TRUTH", || format!("a claim that is not there: {told:?}"));
            }
            "phase_saved" => saved(&receipts, told, findings, figures),
            "attempt_ended" => {
                let attempt = told.fence.and_then(|fence| attempts.get(&(told.run.as_str(), fence)));
                ended(history, told, course, attempt.copied(), findings, figures);
            }
            "run_ended" => {
                let last = course.turns.last().map(|turn| turn.new.status.as_str());
                findings.check(last == told.outcome.as_deref(), "TRUTH", || {
                    format!("told as {:?}, is {last:?}: {told:?}", told.outcome)
                });
            }
            _ => findings.add("TRUTH", format!("an event of a kind that nobody knows: {told:?}")),
        }
    }
}

fn saved(
    receipts: &BTreeSet<(&str, &str, i64)>,
    told: &Told,
    findings: &mut Findings,
    figures: &mut Figures,
) {
    figures.acknowledged += 1;
    let phase = told.phase.as_deref().unwrap_or_default();
    let there = told.fence.is_some_and(|fence| receipts.contains(&(told.run.as_str(), phase, fence)));
    findings.check(there, "TRUTH", || format!("an acknowledged receipt is missing: {told:?}"));
}

fn ended(
    history: &History,
    told: &Told,
    course: &Course,
    attempt: Option<&AttemptRow>,
    findings: &mut Findings,
    figures: &mut Figures,
) {
    let Some(attempt) = attempt else {
        findings.add("TRUTH", format!("an attempt that is not there: {told:?}"));
        return;
    };
    let (outcome, kept) = (told.outcome.as_deref(), attempt.outcome.as_deref());
    // Writing "blocked" down needs the store, which may be why the lease was lost; and a last request that
    // landed after all is what the attempt then tells.
    let unwritten = outcome == Some("blocked") && attempt.reason.is_none();
    findings.check(outcome == kept || unwritten, "TRUTH", || {
        format!("{}: number {} ended {kept:?} and was told as {outcome:?}", told.run, attempt.fence)
    });
    if outcome == Some("blocked") {
        let reason = told.reason.clone().unwrap_or(Value::Null);
        let word = why(&reason).unwrap_or("no reason").to_owned();
        *figures.blocked.entry(word).or_default() += 1;
        if let Err(untrue) = reason_is_true(history, told, attempt.fence, &reason, course) {
            findings.add("TRUTH", format!("{}: number {}: {untrue}: {reason}", told.run, attempt.fence));
        }
    }
}

/// Whether the reason for a loss was so, at the latest when it was told.
fn reason_is_true(
    history: &History,
    told: &Told,
    fence: i64,
    reason: &Value,
    course: &Course,
) -> Result<(), &'static str> {
    let now = course.turns.iter().filter(|turn| turn.machine_us() <= told.at_us);
    match why(reason) {
        Some("superseded") => {
            let (by_fence, by_owner) = (reason["by_fence"].as_i64(), reason["by_owner"].as_str());
            let claim = by_fence.and_then(|by| course.claim(by)).ok_or("nobody claimed with that number")?;
            let is_true = by_fence > Some(fence)
                && claim.new.owner.as_deref() == by_owner
                && claim.machine_us() <= told.at_us;
            is_true.then_some(()).ok_or("not superseded by that owner at that time")
        }
        Some("expired") => {
            let last = course.last_extended(fence).ok_or("it never had a lease")?;
            let (expires, offset) = (last.new.lease_expires_us.unwrap_or_default(), last.offset_us);
            let moved = |fault: &Fault| fault.kind == "clock" && fault.meets(last.machine_us(), told.at_us);
            if history.faults.iter().any(moved) {
                return Ok(());
            }
            if expires - offset > told.at_us {
                return Err("its lease had not run out");
            }
            let late_by = reason["late_by_ms"].as_i64().ok_or("it does not say how late")? * 1_000;
            if expires - offset + late_by > told.at_us + SAME_STATEMENT {
                return Err("it cannot have been so late yet");
            }
            let next = course.claim(fence + 1).map(|claim| claim.at_us);
            let taken_before = next.is_some_and(|next| next + SAME_STATEMENT < expires + late_by);
            if taken_before { Err("somebody else had claimed it by then") } else { Ok(()) }
        }
        Some("finished") => {
            let how = reason["finished"].as_str().or(reason["status"].as_str());
            let ended = now
                .clone()
                .any(|turn| ["completed", "failed", "cancelled"].contains(&turn.new.status.as_str()));
            let as_told = how.is_none_or(|how| now.clone().any(|turn| turn.new.status == how));
            (ended && as_told).then_some(()).ok_or("the run had not ended so")
        }
        Some("unconfirmed") => {
            let since = told.at_us - 3 * history.setup.ttl_us;
            let explains = |fault: &Fault| {
                fault.meets(since, told.at_us)
                    && (fault.worker.is_none() || fault.worker == Some(told.worker))
            };
            history.faults.iter().any(explains).then_some(()).ok_or("nothing stood between it and the store")
        }
        // The claim was forgotten with the crash of a database, or an operator took the lease: neither is
        // ever done here.
        Some(_) => Err("a reason that nothing here gives"),
        None => Err("it gives no reason"),
    }
}
