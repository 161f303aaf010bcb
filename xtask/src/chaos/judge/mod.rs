//! Decides every invariant, and the truth of every verdict, from what was seen of a chaos run. It shares no
//! code with the product: whatever both had in common, both could have wrong.

mod ends;
mod steps;
mod takeover;
#[cfg(test)]
mod tests;
mod told;
mod trail;

use std::collections::BTreeMap;

use super::history::{History, Micros};

pub(super) use takeover::Takeovers;
use trail::Course;

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The invariant.
    pub(super) rule: &'static str,
    pub(super) what: String,
}

/// What came of judging.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) findings: Vec<Finding>,
    pub(super) figures: Figures,
}

/// How much there was to judge.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) completed: usize,
    pub(super) claims: usize,
    pub(super) renewals: usize,
    pub(super) saves: usize,
    /// Acknowledged receipts, each of which was looked for.
    pub(super) acknowledged: usize,
    /// Reasons of blocked attempts that were checked, by reason.
    pub(super) blocked: BTreeMap<String, usize>,
    pub(super) takeovers: Takeovers,
    /// Steps that were begun.
    pub(super) steps: usize,
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, rule: &'static str, what: impl Into<String>) {
        self.0.push(Finding { rule, what: what.into() });
    }

    /// Adds it where `holds` is not so.
    fn check(&mut self, holds: bool, rule: &'static str, what: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, what());
        }
    }
}

/// How far after a guard its trigger may note the time: both are one statement's.
pub(super) const SAME_STATEMENT: Micros = 100_000;

/// Judges.
pub(super) fn judge(history: &History) -> Judgement {
    let mut findings = Findings::default();
    let mut figures = Figures::default();
    let courses = trail::read(history, &mut findings);
    for course in courses.values() {
        trail::judge(history, course, &mut findings, &mut figures);
    }
    ends::judge(history, &courses, &mut findings, &mut figures);
    told::judge(history, &courses, &mut findings, &mut figures);
    steps::judge(history, &courses, &mut findings, &mut figures);
    figures.takeovers = takeover::judge(history, &courses, &mut findings);
    Judgement { findings: findings.0, figures }
}

/// What happened to each run, by its id.
type Courses = BTreeMap<String, Course>;
