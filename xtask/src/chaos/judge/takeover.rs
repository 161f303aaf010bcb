//! LIVENESS: a lapsed run is taken over within one poll and a second by any worker that is well meanwhile.

use super::super::history::{Fault, History, Life, Micros};
use super::trail::{Course, Turn};
use super::{Courses, Findings};

/// What a poll may take longer on a busy machine.
const SLACK: Micros = 1_000_000;

/// How long after a fault a worker still suffers from it: it connects anew, and asks at its next poll.
const RECOVERY: Micros = 1_000_000;

/// What leaves the store within reach: a session that is ended is opened anew at once.
const UNFELT: [&str; 3] = ["migrate", "terminate", "checkpoint"];

/// Takeovers of lapsed leases, and how long after the lapse they came.
#[derive(Debug, Default)]
pub(in super::super) struct Takeovers {
    pub(in super::super) count: usize,
    /// Of those at whose lapse some worker was well for long enough.
    pub(in super::super) bound: usize,
    /// The longest of these.
    pub(in super::super) longest_us: Micros,
}

/// When a worker that was stopped had the write lock of its file in hand: nobody wrote until it went on.
fn locked(history: &History) -> Vec<Fault> {
    const SILENCE: Micros = 300_000;
    let is_file = !history.setup.names_transactions;
    let stops = history.faults.iter().filter(|fault| is_file && fault.kind == "stop");
    let locked = stops.filter_map(|stop| {
        let during = |at: &Micros| (stop.from_us..stop.to_us).contains(at);
        let last = history.trail.iter().map(|change| change.at_us).filter(during).max();
        let from_us = last.unwrap_or(stop.from_us);
        (from_us + SILENCE < stop.to_us).then(|| Fault { worker: None, from_us, ..stop.clone() })
    });
    locked.collect()
}

/// When each worker was alive and let alone, by the machine's clock.
fn well(history: &History) -> Vec<(Micros, Micros)> {
    let mut well = Vec::new();
    let locked = locked(history);
    for Life { worker, from_us, to_us, .. } in &history.lives {
        let mut free_from = from_us + RECOVERY;
        let mut faults: Vec<_> = history
            .faults
            .iter()
            .chain(&locked)
            .filter(|fault| fault.worker.is_none() || fault.worker == Some(*worker))
            .filter(|fault| fault.meets(*from_us, *to_us) && !UNFELT.contains(&fault.kind.as_str()))
            .collect();
        faults.sort_by_key(|fault| fault.from_us);
        for fault in faults {
            well.push((free_from, fault.from_us));
            free_from = free_from.max(fault.to_us + RECOVERY);
        }
        well.push((free_from, *to_us));
    }
    well.retain(|(from, to)| from < to);
    well
}

/// Judges them.
pub(super) fn judge(history: &History, courses: &Courses, findings: &mut Findings) -> Takeovers {
    let well = well(history);
    let bound = history.setup.poll_us + SLACK;
    let mut takeovers = Takeovers::default();
    for course in courses.values() {
        for (before, claim) in of_lapsed(course) {
            takeovers.count += 1;
            let lapse = before.new.lease_expires_us.unwrap_or(claim.at_us) - before.offset_us;
            let taken = claim.machine_us();
            // Could anybody have taken it? Whoever was well from some instant after the lapse on.
            let mut waits = well.iter().filter_map(|(from, to)| {
                let from = lapse.max(*from);
                let until = taken.min(*to);
                (from < until).then_some(until - from)
            });
            let waited = waits.by_ref().max();
            if let Some(waited) = waited {
                takeovers.bound += 1;
                takeovers.longest_us = takeovers.longest_us.max(waited);
                findings.check(waited <= bound, "LIVENESS", || {
                    let late = waited / 1_000;
                    format!(
                        "{}: number {} came {late} ms late (lapsed {lapse})",
                        claim.new.id, claim.new.fence
                    )
                });
            }
        }
    }
    takeovers
}

/// Claims of leases that had run out, with the change before each.
fn of_lapsed(course: &Course) -> impl Iterator<Item = (&Turn, &Turn)> {
    let pairs = course.turns.iter().zip(course.turns.iter().skip(1));
    pairs.filter(|(before, claim)| {
        claim.is_claim() && before.new.lease_expires_us.is_some() && before.offset_us == claim.offset_us
    })
}
