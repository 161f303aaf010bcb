//! What steps wrote down outside the database: RESUME, SELF-STOP, and one idempotency key for each phase.

use std::collections::BTreeMap;

use super::super::history::{Fault, History, Micros, StepLine};
use super::trail::Course;
use super::{Courses, Figures, Findings};

/// A step, as far as it came.
struct Step<'h> {
    began: &'h StepLine,
    /// When it wrote for the last time, if it came to that.
    ended_us: Option<Micros>,
}

/// Judges them.
pub(super) fn judge(history: &History, courses: &Courses, findings: &mut Findings, figures: &mut Figures) {
    let mut runs: BTreeMap<&str, Vec<Step<'_>>> = BTreeMap::new();
    let mut keys: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for line in &history.steps {
        let steps = runs.entry(&line.run).or_default();
        if line.what == "began" {
            figures.steps += 1;
            steps.push(Step { began: line, ended_us: None });
        } else if let Some(step) = steps.iter_mut().rev().find(|step| {
            (step.began.fence, &step.began.phase, step.began.pid) == (line.fence, &line.phase, line.pid)
        }) {
            step.ended_us = Some(line.at_us);
        } else {
            findings.add("STEPS", format!("a step that never began: {line:?}"));
        }
        let key = keys.entry((&line.run, &line.phase)).or_insert(&line.key);
        findings.check(*key == line.key, "STEPS", || format!("another key than {key}: {line:?}"));
    }
    for (run, steps) in &runs {
        let Some(course) = courses.get(*run) else {
            findings.add("STEPS", format!("a step of a run that is not there: {run}"));
            continue;
        };
        for step in steps {
            resumes(step, course, findings);
            stopped_in_time(history, step, steps, course, findings);
        }
    }
}

/// No step is begun for a phase that an older claim has saved.
fn resumes(step: &Step<'_>, course: &Course, findings: &mut Findings) {
    let StepLine { run, phase, fence, .. } = step.began;
    let saved = course.save(phase).map(|turn| turn.new.fence);
    findings.check(saved.is_none_or(|saved| saved >= *fence), "RESUME", || {
        format!("{run}: number {fence} did {phase}, which number {saved:?} had saved")
    });
}

/// A step whose worker lost its lease has ended before the next claim's steps begin, unless its worker was
/// stopped or killed, or the server's clock or memory was tampered with.
fn stopped_in_time(
    history: &History,
    step: &Step<'_>,
    steps: &[Step<'_>],
    course: &Course,
    findings: &mut Findings,
) {
    let (began, Some(ended_us)) = (step.began, step.ended_us) else { return };
    let later = steps.iter().filter(|later| later.began.fence > began.fence);
    let Some(next) = later.min_by_key(|later| later.began.at_us) else { return };
    if ended_us <= next.began.at_us {
        return;
    }
    let since = course.claim(began.fence).map_or(began.at_us, |claim| claim.machine_us());
    let excuses = |fault: &Fault| {
        let of_worker = fault.pid == Some(began.pid) && ["stop", "kill"].contains(&fault.kind.as_str());
        let of_server = ["clock", "crash"].contains(&fault.kind.as_str());
        (of_worker || of_server) && fault.meets(since, ended_us)
    };
    findings.check(history.faults.iter().any(excuses), "SELF-STOP", || {
        format!(
            "{}: a step of number {} went on until {ended_us}, one of number {} began at {}",
            began.run, began.fence, next.began.fence, next.began.at_us
        )
    });
}
