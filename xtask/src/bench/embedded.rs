//! The embedded store beside SQLite's own library, in files of their own.

use crate::chore::Failure;

use super::ROUND_SECONDS;
use super::operation::Operation;
use super::pgbench::Measured;
use super::program::Programs;
use super::speed::Cell;

/// Measures one operation, done by so many at once.
pub(super) fn cell(
    programs: &Programs,
    operation: Operation,
    connections: u32,
    rounds: u32,
) -> Result<Cell, Failure> {
    let seconds = ROUND_SECONDS.to_string();
    let (many, turns) = (connections.to_string(), rounds.to_string());
    let facts = programs.measure(&[
        operation.word(),
        "--connections",
        &many,
        "--rounds",
        &turns,
        "--seconds",
        &seconds,
    ])?;
    let side = |name: &str, round: u32| -> Result<Measured, Failure> {
        let micros: f64 = facts.number(&format!("{name}_micros_{round}"))?;
        let operations = facts.number(&format!("{name}_operations_{round}"))?;
        Ok(Measured { operations, seconds: micros / 1_000_000.0 })
    };
    let both = |round| Ok((side("library", round)?, side("store", round)?));
    let rounds = (0..rounds).map(both).collect::<Result<_, Failure>>()?;
    Ok(Cell { operation, connections, rounds })
}
