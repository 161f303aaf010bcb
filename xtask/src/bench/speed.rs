//! Operations per second on both sides.
//!
//! Machines are noisy, so the sides take turns in short rounds on fresh rows, and in every other round
//! the second one begins.

use crate::chore::Failure;
use crate::server::PrivateServer;

use super::facts::Facts;
use super::operation::Operation;
use super::pgbench::{self, Measured};
use super::program::Programs;
use super::psql::Psql;
use super::{ROUND_SECONDS, report};

/// The database for it.
pub(super) const DATABASE: &str = "bench_speed";

/// Who does the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Pgbench,
    LeasePostgres,
}

/// All rounds of one operation at one number of connections.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) operation: Operation,
    pub(super) connections: u32,
    /// Both sides of each round, pgbench's first.
    pub(super) rounds: Vec<(Measured, Measured)>,
}

/// What all cells have in common.
struct Bench<'b> {
    server: &'b PrivateServer,
    programs: &'b Programs,
    psql: Psql<'b>,
    /// The settings of the store's sessions.
    session: Facts,
    runs_per_second: u32,
}

/// Measures every operation at every number of connections, and prints each line when it is done.
pub(super) fn measure(
    server: &PrivateServer,
    programs: &Programs,
    connections: &[u32],
    rounds: u32,
    runs_per_second: u32,
) -> Result<(), Failure> {
    let session = programs.bench(server, DATABASE, &["session"])?;
    let psql = Psql::new(server, DATABASE);
    let bench = Bench { server, programs, psql, session, runs_per_second };
    for operation in Operation::ALL {
        for &connections in connections {
            let mut cell = Cell { operation, connections, rounds: Vec::new() };
            for round in 0..rounds {
                cell.rounds.push(bench.round(operation, connections, round % 2 == 1)?);
            }
            report::cell(&cell);
        }
    }
    Ok(())
}

impl Bench<'_> {
    /// One measurement on each side.
    fn round(
        &self,
        operation: Operation,
        connections: u32,
        other_way_round: bool,
    ) -> Result<(Measured, Measured), Failure> {
        let runs = operation.runs(ROUND_SECONDS, self.runs_per_second).max(connections);
        let fill = ["fill", operation.word(), "--runs", &runs.to_string()];
        let rows = self.programs.bench(self.server, DATABASE, &fill)?;
        let one = |side| self.one(side, operation, connections, runs, &rows);
        if other_way_round {
            let second = one(Side::LeasePostgres)?;
            Ok((one(Side::Pgbench)?, second))
        } else {
            Ok((one(Side::Pgbench)?, one(Side::LeasePostgres)?))
        }
    }

    /// One measurement, and the check that the tables changed by what it counted.
    fn one(
        &self,
        side: Side,
        operation: Operation,
        connections: u32,
        runs: u32,
        rows: &Facts,
    ) -> Result<Measured, Failure> {
        self.psql.alone()?;
        let before = self.psql.number(operation.evidence())?;
        let measured = match side {
            Side::Pgbench => self.pgbench(operation, connections, runs, rows)?,
            Side::LeasePostgres => self.lease_postgres(operation, connections, runs)?,
        };
        self.psql.alone()?;
        let after = self.psql.reaches(operation.evidence(), before + measured.operations)?;
        if after - before == measured.operations {
            return Ok(measured);
        }
        let (word, counted, changed) = (operation.word(), measured.operations, after - before);
        Err(Failure::NotMeasured(format!(
            "{word} at {connections} connections: {side:?} counted {counted} of them, but the tables show \
             {changed} (a client that runs out of rows is refused: try a higher --runs-per-second)"
        )))
    }

    fn pgbench(
        &self,
        operation: Operation,
        connections: u32,
        runs: u32,
        rows: &Facts,
    ) -> Result<Measured, Failure> {
        let mut variables: Vec<(&str, String)> =
            rows.pairs().map(|(name, value)| (name, value.to_owned())).collect();
        variables.push(("runs_each", (runs / connections).to_string()));
        variables.extend(operation.start().iter().map(|(name, value)| (*name, (*value).to_owned())));
        let run = pgbench::Run {
            database: DATABASE,
            session: &self.session,
            script: &operation.script()?,
            variables,
            connections,
            seconds: ROUND_SECONDS,
        };
        pgbench::run(self.server, &run)
    }

    fn lease_postgres(&self, operation: Operation, connections: u32, runs: u32) -> Result<Measured, Failure> {
        let (connections, seconds, runs) =
            (connections.to_string(), ROUND_SECONDS.to_string(), runs.to_string());
        let run =
            ["run", operation.word(), "--connections", &connections, "--seconds", &seconds, "--runs", &runs];
        let done = self.programs.bench(self.server, DATABASE, &run)?;
        Ok(Measured {
            operations: done.number("operations")?,
            seconds: done.number::<f64>("micros")? / 1_000_000.0,
        })
    }
}
