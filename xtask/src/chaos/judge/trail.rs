//! The trail of the runs' own rows: FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, and of each
//! save ALL-OR-NOTHING.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::history::{Change, EffectRow, Fault, History, Micros, ReceiptRow, RunRow};
use super::{Courses, Figures, Findings, SAME_STATEMENT};

/// One change of a run's row.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// By the server's clock.
    pub(super) at_us: Micros,
    /// How far the server's clock was ahead of the machine's.
    pub(super) offset_us: Micros,
    xid: Option<String>,
    pub(super) old: Option<RunRow>,
    pub(super) new: RunRow,
}

impl Turn {
    /// By the machine's clock.
    pub(super) fn machine_us(&self) -> Micros {
        self.at_us - self.offset_us
    }

    /// Whether this is a claim.
    pub(super) fn is_claim(&self) -> bool {
        self.old.as_ref().is_some_and(|old| self.new.fence > old.fence)
    }
}

/// All changes of one run, in their order, and what was written with them.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) turns: Vec<Turn>,
    receipts: Vec<(Option<String>, ReceiptRow)>,
    effects: Vec<(Option<String>, String, EffectRow)>,
}

impl Course {
    /// The claim with this number.
    pub(super) fn claim(&self, fence: i64) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.is_claim() && turn.new.fence == fence)
    }

    /// The last change that said when the lease of this number runs out.
    pub(super) fn last_extended(&self, fence: i64) -> Option<&Turn> {
        let of_lease = |turn: &&Turn| turn.new.fence == fence && turn.new.lease_expires_us.is_some();
        self.turns.iter().rev().find(of_lease)
    }

    /// The save of this phase.
    pub(super) fn save(&self, phase: &str) -> Option<&Turn> {
        let saves =
            |turn: &&Turn| turn.new.phase == phase && turn.old.as_ref().is_some_and(|old| old.phase != phase);
        self.turns.iter().find(saves)
    }
}

/// Sorts the trail by runs.
pub(super) fn read(history: &History, findings: &mut Findings) -> Courses {
    let mut courses: Courses = BTreeMap::new();
    let mut offset_us = 0;
    for change in &history.trail {
        let Change { tbl, old, new, xid, at_us } = change;
        let added = old.is_none();
        match tbl.as_str() {
            "mark" => {
                offset_us = new.as_ref().and_then(|mark| mark["offset_us"].as_i64()).unwrap_or(offset_us)
            }
            "attempts" => {}
            "runs" => {
                let Some(new) = row::<RunRow>(new.as_ref()) else {
                    findings.add("ONE-RECEIPT", format!("a run was deleted: {old:?}"));
                    continue;
                };
                let old = row::<RunRow>(old.as_ref());
                let turn = Turn { at_us: *at_us, offset_us, xid: xid.clone(), old, new };
                courses.entry(turn.new.id.clone()).or_default().turns.push(turn);
            }
            "receipts" => match row::<ReceiptRow>(new.as_ref()).filter(|_| added) {
                Some(receipt) => {
                    let course = courses.entry(receipt.run_id.clone()).or_default();
                    course.receipts.push((xid.clone(), receipt));
                }
                None => findings.add("ONE-RECEIPT", format!("a receipt was changed: {old:?} became {new:?}")),
            },
            table => match row::<EffectRow>(new.as_ref()).filter(|_| added) {
                Some(effect) => {
                    let course = courses.entry(effect.run_id.clone()).or_default();
                    course.effects.push((xid.clone(), table.to_owned(), effect));
                }
                None => findings.add("ALL-OR-NOTHING", format!("{table}: {old:?} became {new:?}")),
            },
        }
    }
    courses
}

fn row<T: serde::de::DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    serde_json::from_value(value?.clone()).ok()
}

/// Judges one run's changes.
pub(super) fn judge(history: &History, course: &Course, findings: &mut Findings, figures: &mut Figures) {
    let mut before: Option<&Turn> = None;
    for turn in &course.turns {
        let id = &turn.new.id;
        findings.check(turn.old.as_ref() == before.map(|before| &before.new), "TRAIL", || {
            format!("{id}: the trail has a gap before {turn:?}")
        });
        if let (Some(old), Some(before)) = (&turn.old, before) {
            // Under a clock that was moved since, an expiry says nothing.
            let timely = before.offset_us == turn.offset_us;
            change(history, course, turn, old, timely, findings, figures);
        }
        before = Some(turn);
    }
}

fn change(
    history: &History,
    course: &Course,
    turn: &Turn,
    old: &RunRow,
    timely: bool,
    findings: &mut Findings,
    figures: &mut Figures,
) {
    let (new, at) = (&turn.new, turn.at_us);
    let id = &new.id;
    let claims = new.fence != old.fence;
    if claims {
        figures.claims += 1;
        findings.check(new.fence == old.fence + 1, "FENCE-UP", || {
            format!("{id}: the number went from {} to {}", old.fence, new.fence)
        });
        let live = old.lease_expires_us.is_some_and(|expires| at < expires);
        findings.check(!live || !timely, "ONE-HOLDER", || {
            format!("{id}: number {} was claimed at {at} while {old:?} was live", new.fence)
        });
        findings.check(new.phase == old.phase, "IN-ORDER", || format!("{id}: a claim changed the phase"));
        findings.check(old.status == "open", "ONE-HOLDER", || format!("{id}: claimed while {}", old.status));
    } else {
        findings.check(new.owner == old.owner, "ONE-HOLDER", || {
            format!("{id}: number {} went from {:?} to {:?}", new.fence, old.owner, new.owner)
        });
    }
    let late =
        |expires: Micros| timely && at > expires + SAME_STATEMENT && !stood_still(history, expires, at);
    if new.phase != old.phase {
        figures.saves += 1;
        save(history, course, turn, old, timely, findings);
    } else if !claims && new.lease_expires_us.is_some() && new.lease_expires_us != old.lease_expires_us {
        figures.renewals += 1;
        let lazarus = old.lease_expires_us.is_none_or(late);
        findings.check(!lazarus, "NO-LAZARUS", || format!("{id}: at {at} {old:?} was renewed: {new:?}"));
    }
    if new.status != old.status && new.status == "failed" {
        let set_aside = old.losses + 1 > history.setup.loss_limit;
        let known = set_aside && new.fence == old.fence;
        findings.check(known, "BLOCKED-NOT-FAILED", || format!("{id}: failed at {at}, was {old:?}"));
    }
}

/// Whether a worker may have been stopped between its look at the clock and its write, with the write lock
/// of its file in hand: what counts then is when it looked, which its receipt tells.
fn stood_still(history: &History, expires: Micros, at: Micros) -> bool {
    let stops = |fault: &Fault| fault.kind == "stop" && fault.meets(expires, at);
    !history.setup.names_transactions && history.faults.iter().any(stops)
}

fn save(
    history: &History,
    course: &Course,
    turn: &Turn,
    old: &RunRow,
    timely: bool,
    findings: &mut Findings,
) {
    let (new, at) = (&turn.new, turn.at_us);
    let id = &new.id;
    let late = match old.lease_expires_us {
        None => true,
        Some(expires) => timely && at > expires + SAME_STATEMENT && !stood_still(history, expires, at),
    };
    findings.check(!late, "NO-LATE-SAVE", || format!("{id}: {} was saved at {at} under {old:?}", new.phase));
    let place = |phase: &str| new.phases.iter().position(|listed| listed == phase);
    let next = place(&old.phase).map_or(0, |at| at + 1);
    findings.check(place(&new.phase) == Some(next), "IN-ORDER", || {
        format!("{id}: {} was saved after {}", new.phase, old.phase)
    });
    let last = next + 1 == new.phases.len();
    findings.check(last == (new.status == "completed"), "ALL-OR-NOTHING", || {
        format!("{id}: {} with {} saved", new.status, new.phase)
    });
    let receipts: Vec<_> = course.receipts.iter().filter(|(_, receipt)| receipt.phase == new.phase).collect();
    let [(xid, receipt)] = receipts[..] else {
        findings.add("ONE-RECEIPT", format!("{id}: {} has {} receipts", new.phase, receipts.len()));
        return;
    };
    findings.check(receipt.fence == new.fence, "ONE-RECEIPT", || {
        format!(
            "{id}: {} was saved with number {} and its receipt with {}",
            new.phase, new.fence, receipt.fence
        )
    });
    if let Some(expires) = old.lease_expires_us {
        findings.check(!timely || receipt.saved_us < expires, "NO-LATE-SAVE", || {
            format!(
                "{id}: the receipt of {} is of {}, its lease ran out at {expires}",
                new.phase, receipt.saved_us
            )
        });
    }
    let together = |other: &Option<String>| !history.setup.names_transactions || *other == turn.xid;
    findings
        .check(together(xid), "ALL-OR-NOTHING", || format!("{id}: the receipt of {} is apart", new.phase));
    if let Some(table) = history.setup.effects.get(&new.phase) {
        let rows = course
            .effects
            .iter()
            .filter(|(xid, of, effect)| of == table && effect.fence == new.fence && together(xid));
        let count = rows.count();
        findings.check(count == 1, "ALL-OR-NOTHING", || {
            format!("{id}: the save of {} wrote {count} rows of {table}", new.phase)
        });
    }
}
