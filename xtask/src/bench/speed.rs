//! Operations per second on both sides.
//!
//! Machines are noisy, so the sides take turns in short rounds on fresh rows, and in every other round
//! the second one begins.

use crate::chore::Failure;
use crate::server::PrivateServer;

use super::ROUND_SECONDS;
use super::facts::Facts;
use super::operation::Operation;
use super::pgbench::{self, Measured};
use super::program::Programs;
use super::psql::Psql;

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
pub(super) struct Bench<'b> {
    server: &'b PrivateServer,
    programs: &'b Programs,
    psql: Psql<'b>,
    /// The settings of the store's sessions.
    session: Facts,
    /// For how many claims a second there are runs; raised until a round does not run out of them.
    claims_per_second: u32,
}

/// How many claims a second there are runs for at first, and at the very most.
const CLAIMS_PER_SECOND: (u32, u32) = (3_000, 200_000);

/// One round, or one side of it, that came to its end; `None` where it was short of runs.
type Complete<T> = Result<Option<T>, Failure>;

impl<'b> Bench<'b> {
    /// Asks the store for the settings of its sessions, which pgbench's get too.
    pub(super) fn new(server: &'b PrivateServer, programs: &'b Programs) -> Result<Self, Failure> {
        let session = programs.bench(server, DATABASE, &["session"])?;
        let psql = Psql::new(server, DATABASE);
        Ok(Self { server, programs, psql, session, claims_per_second: CLAIMS_PER_SECOND.0 })
    }

    /// Measures one operation at one number of connections.
    pub(super) fn cell(
        &mut self,
        operation: Operation,
        connections: u32,
        rounds: u32,
    ) -> Result<Cell, Failure> {
        let mut cell = Cell { operation, connections, rounds: Vec::new() };
        for round in 0..rounds {
            let both = loop {
                if let Some(both) = self.round(operation, connections, round % 2 == 1)? {
                    break both;
                }
                self.claims_per_second *= 3;
                if self.claims_per_second > CLAIMS_PER_SECOND.1 {
                    return Err(Failure::NotMeasured(format!(
                        "{}: some were refused, however many runs there were",
                        operation.word()
                    )));
                }
            };
            cell.rounds.push(both);
        }
        Ok(cell)
    }

    /// One measurement on each side, on fresh rows.
    fn round(
        &self,
        operation: Operation,
        connections: u32,
        other_way_round: bool,
    ) -> Complete<(Measured, Measured)> {
        let runs = operation.runs(ROUND_SECONDS, self.claims_per_second).max(connections);
        let fill = ["fill", operation.word(), "--runs", &runs.to_string()];
        let rows = self.programs.bench(self.server, DATABASE, &fill)?;
        let one = |side| self.one(side, operation, connections, runs, &rows);
        let (first, second) = match other_way_round {
            false => (Side::Pgbench, Side::LeasePostgres),
            true => (Side::LeasePostgres, Side::Pgbench),
        };
        let Some(first) = one(first)? else { return Ok(None) };
        let Some(second) = one(second)? else { return Ok(None) };
        Ok(Some(if other_way_round { (second, first) } else { (first, second) }))
    }

    /// One measurement, and the check that the tables changed by what it counted.
    fn one(
        &self,
        side: Side,
        operation: Operation,
        connections: u32,
        runs: u32,
        rows: &Facts,
    ) -> Complete<Measured> {
        self.psql.alone()?;
        let before = self.psql.number(operation.evidence())?;
        let measured = match side {
            Side::Pgbench => Some(self.pgbench(operation, connections, runs, rows)?),
            Side::LeasePostgres => self.lease_postgres(operation, connections, runs)?,
        };
        let Some(measured) = measured else { return Ok(None) };
        self.psql.alone()?;
        let after = self.psql.reaches(operation.evidence(), before + measured.operations)?;
        let (word, counted, changed) = (operation.word(), measured.operations, after - before);
        if changed == counted {
            Ok(Some(measured))
        } else if side == Side::Pgbench && changed < counted && operation.uses_runs_up() {
            // Refused, most likely because a client had claimed all its runs.
            Ok(None)
        } else {
            Err(Failure::NotMeasured(format!(
                "{word} at {connections} connections: {side:?} counted {counted} of them, but the tables \
                 show {changed}"
            )))
        }
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

    fn lease_postgres(&self, operation: Operation, connections: u32, runs: u32) -> Complete<Measured> {
        let (connections, seconds, runs) =
            (connections.to_string(), ROUND_SECONDS.to_string(), runs.to_string());
        let run =
            ["run", operation.word(), "--connections", &connections, "--seconds", &seconds, "--runs", &runs];
        let Some(done) = self.programs.operate(self.server, DATABASE, &run)? else { return Ok(None) };
        let micros: f64 = done.number("micros")?;
        Ok(Some(Measured { operations: done.number("operations")?, seconds: micros / 1_000_000.0 }))
    }
}
