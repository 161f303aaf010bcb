//! The tables at the end: ONE-RECEIPT, ALL-OR-NOTHING, RESUME, and the truth of every attempt's outcome.

use std::collections::BTreeMap;

use super::super::history::{AttemptRow, EffectRow, History, ReceiptRow, RunRow};
use super::told::why;
use super::trail::Course;
use super::{Courses, Figures, Findings};

/// Judges them.
pub(super) fn judge(history: &History, courses: &Courses, findings: &mut Findings, figures: &mut Figures) {
    let mut receipts: BTreeMap<&str, Vec<&ReceiptRow>> = BTreeMap::new();
    for receipt in &history.receipts {
        receipts.entry(&receipt.run_id).or_default().push(receipt);
    }
    let mut effects: BTreeMap<(&str, &str), Vec<&EffectRow>> = BTreeMap::new();
    for (table, rows) in &history.effects {
        for row in rows {
            effects.entry((table, &row.run_id)).or_default().push(row);
        }
    }
    for run in &history.runs {
        figures.completed += usize::from(run.status == "completed");
        let last = courses.get(&run.id).and_then(|course| course.turns.last());
        findings.check(last.is_some_and(|turn| turn.new == *run), "TRAIL", || {
            format!("{}: the trail ends with {last:?} and the table has {run:?}", run.id)
        });
        let receipts = receipts.get(run.id.as_str()).map_or(&[][..], Vec::as_slice);
        one_receipt_each(run, receipts, findings);
        for (phase, table) in &history.setup.effects {
            let rows = effects.get(&(table.as_str(), run.id.as_str())).map_or(&[][..], Vec::as_slice);
            effect_fits(run, phase, receipts, rows, findings);
        }
    }
    for attempt in &history.attempts {
        let Some(course) = courses.get(&attempt.run_id) else {
            findings.add("TRAIL", format!("an attempt of a run that is not there: {attempt:?}"));
            continue;
        };
        outcome_is_true(attempt, course, findings);
    }
    let claims: usize =
        courses.values().flat_map(|course| &course.turns).filter(|turn| turn.is_claim()).count();
    findings.check(claims == history.attempts.len(), "FENCE-UP", || {
        format!("{claims} claims and {} attempts", history.attempts.len())
    });
}

/// One receipt for each phase up to the run's own, and numbers that do not fall.
fn one_receipt_each(run: &RunRow, receipts: &[&ReceiptRow], findings: &mut Findings) {
    let saved = run.phases.iter().position(|phase| *phase == run.phase).map_or(0, |at| at + 1);
    let mut highest = 0;
    for (at, phase) in run.phases.iter().enumerate() {
        let of_phase: Vec<_> = receipts.iter().filter(|receipt| receipt.phase == *phase).collect();
        let wanted = usize::from(at < saved);
        findings.check(of_phase.len() == wanted, "ONE-RECEIPT", || {
            format!("{}: at {}, {phase} has {} receipts", run.id, run.phase, of_phase.len())
        });
        for receipt in of_phase {
            findings.check(receipt.fence >= highest && receipt.fence <= run.fence, "ONE-RECEIPT", || {
                format!("{}: {phase} was saved with number {} after {highest}", run.id, receipt.fence)
            });
            highest = receipt.fence;
        }
    }
}

/// A row of the supplier's tables exactly where its phase is saved.
fn effect_fits(
    run: &RunRow,
    phase: &str,
    receipts: &[&ReceiptRow],
    rows: &[&EffectRow],
    findings: &mut Findings,
) {
    let receipt = receipts.iter().find(|receipt| receipt.phase == phase);
    let fits = match (rows, receipt) {
        ([], None) => true,
        ([row], Some(receipt)) => row.fence == receipt.fence,
        _ => false,
    };
    findings.check(fits, "ALL-OR-NOTHING", || {
        format!("{}: {rows:?} for the receipt {receipt:?} of {phase}", run.id)
    });
}

/// What an attempt says of its end is what happened.
fn outcome_is_true(attempt: &AttemptRow, course: &Course, findings: &mut Findings) {
    let (id, fence) = (&attempt.run_id, attempt.fence);
    let Some(claim) = course.claim(fence) else {
        findings.add("FENCE-UP", format!("{id}: an attempt {fence} without a claim"));
        return;
    };
    findings.check(claim.new.owner.as_deref() == Some(attempt.owner.as_str()), "TRUTH", || {
        format!("{id}: attempt {fence} is not of its claim's owner")
    });
    findings.check(claim.new.phase == attempt.from_phase, "RESUME", || {
        format!("{id}: attempt {fence} began after {} at {}", attempt.from_phase, claim.new.phase)
    });
    let ended = course.turns.iter().find(|turn| turn.new.fence == fence && turn.new.lease_ended.is_some());
    let ended = ended.and_then(|turn| turn.new.lease_ended.as_deref());
    let superseded = course.claim(fence + 1).is_some();
    let is_true = match attempt.outcome.as_deref() {
        None => ended.is_none() && !superseded,
        Some("superseded") => superseded && ended.is_none(),
        Some("blocked") => {
            ended.is_none() && attempt.reason.as_ref().is_some_and(|reason| why(reason).is_some())
        }
        Some(outcome) => ended == Some(outcome),
    };
    // A set-aside ends a lapsed lease; its attempt never came back.
    findings.check(is_true || ended == Some("lapsed"), "TRUTH", || {
        format!("{id}: attempt {fence} says {:?}, its lease ended {ended:?}", attempt.outcome)
    });
}
