//! What is printed: one table, and what goes with it.

use std::thread;

use crate::chore::Failure;

use super::facts::Facts;
use super::pgbench::Measured;
use super::speed::Cell;
use super::worker::Cost;

/// Where the ratio has an aim, and the aim.
pub(super) const AIM_AT: u32 = 8;
const RATIO_AIM: f64 = 0.80;

/// The aim for in-page updates, in percent.
const IN_PAGE_AIM: f64 = 95.0;

/// The head of the table.
pub(super) fn heading(version: &str, rounds: u32, seconds: u32) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    // A packager's own words may follow the number.
    let version = version.split_whitespace().next().unwrap_or(version);
    println!(
        "PostgreSQL {version}, {processors} processors shared with the server; \
         medians of {rounds} rounds of {seconds} s;"
    );
    println!("a: pgbench -M prepared with the store's own statements; b: the same through lease-postgres");
    columns();
}

/// The head of the embedded store's table.
pub(super) fn embedded_heading() {
    println!();
    println!("a: SQLite's library with the store's own statements; b: the same through lease-sqlite");
    columns();
}

fn columns() {
    println!();
    println!("operation   connections      a ops/s      b ops/s     b/a   b/a of the rounds   aim");
}

/// One line of it.
pub(super) fn cell(cell: &Cell, aimed_at: bool) {
    let (a, b) = (middle(cell, |round| round.0), middle(cell, |round| round.1));
    let ratios: Vec<f64> = cell.rounds.iter().map(|(a, b)| per_second(*b) / per_second(*a)).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let ratio = b / a;
    let line = format!(
        "{:<11} {:>11} {:>12} {:>12} {ratio:>7.3}        {least:.2} to {most:.2}   {}",
        cell.operation.word(),
        cell.connections,
        thousands(a),
        thousands(b),
        aim(aimed_at, ratio),
    );
    println!("{}", line.trim_end());
}

/// The share of in-page updates.
pub(super) fn in_page(counts: &Facts) -> Result<(), Failure> {
    let (renewals, in_page): (u32, u32) = (counts.number("renewals")?, counts.number("in_page")?);
    let share = 100.0 * f64::from(in_page) / f64::from(renewals);
    let met = if share >= IN_PAGE_AIM { "met" } else { "missed" };
    println!();
    println!(
        "in-page (HOT) updates: {in_page} of {renewals} renewals, {share:.1} % \
         (aim: {IN_PAGE_AIM:.0} % or more, {met})"
    );
    Ok(())
}

/// What a worker's steps cost.
pub(super) fn worker(cost: &Cost) {
    let steps = f64::from(cost.steps);
    println!();
    println!("one worker, the built-in plan: {} suppliers, {} steps", cost.suppliers, cost.steps);
    if !cost.statements.is_empty() {
        let all: u32 = cost.statements.iter().map(|statements| statements.calls).sum();
        println!("statements per step: {:.2} (pg_stat_statements), of them", f64::from(all) / steps);
        for statements in &cost.statements {
            let each = f64::from(statements.calls) / steps;
            println!("{each:>8.2}  {:>6}  {}", statements.calls, statements.name);
        }
    }
    let trips = cost.round_trips;
    println!(
        "round trips per step: {:.2} (answers of the server, counted on the wire)",
        f64::from(trips.working) / steps
    );
    println!(
        "and {:.2} at start: {} to open connections, {} to prepare statements on them",
        f64::from(trips.opening + trips.preparing) / steps,
        trips.opening,
        trips.preparing
    );
}

/// Operations per second of the round in the middle, on one side: one round in which something else kept
/// the machine or its disk busy does not count.
fn middle(cell: &Cell, side: impl Fn(&(Measured, Measured)) -> Measured) -> f64 {
    let mut rounds: Vec<f64> = cell.rounds.iter().map(|round| per_second(side(round))).collect();
    rounds.sort_by(f64::total_cmp);
    let half = rounds.len() / 2;
    if rounds.len() % 2 == 1 { rounds[half] } else { f64::midpoint(rounds[half - 1], rounds[half]) }
}

fn per_second(measured: Measured) -> f64 {
    // Counts stay far below 2^32.
    f64::from(u32::try_from(measured.operations).unwrap_or(u32::MAX)) / measured.seconds
}

fn aim(aimed_at: bool, ratio: f64) -> String {
    if !aimed_at {
        return String::new();
    }
    let met = if ratio >= RATIO_AIM { "met" } else { "missed" };
    format!("{RATIO_AIM:.2} or more, {met}")
}

/// A rounded number with its thousands set apart.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [(0.4, "0"), (999.0, "999"), (1_000.0, "1,000"), (1_234_567.0, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn an_aim_is_said_where_there_is_one() {
        assert_eq!(aim(false, 0.1), "");
        assert_eq!(aim(true, 0.801), "0.80 or more, met");
        assert_eq!(aim(true, 0.79), "0.80 or more, missed");
    }
}
