//! `bench`: what the operations cost through pgbench and through lease-postgres, on one private server
//! in one run, and what a real worker's steps cost; and what they cost through SQLite's library and
//! through lease-sqlite.
//!
//! A number is printed only if every operation behind it had the answer that is measured: the Rust side
//! looks at each, and on both sides the tables must have changed by as much as was counted. A missed aim
//! is printed and is no failure.

mod embedded;
mod facts;
mod operation;
mod pgbench;
mod program;
mod psql;
mod report;
mod round_trips;
mod speed;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::chore::Failure;
use crate::install;
use crate::server::{Care, Options, PrivateServer};

use operation::Operation;
use program::Programs;
use psql::Psql;

/// The length of one measurement. A cell is made of several, with the sides taking turns.
const ROUND_SECONDS: u32 = 2;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install PostgreSQL's server programs first, on Debian as root, if they are missing.
    #[arg(long)]
    install: bool,
    /// How long each operation runs on each side, at each number of connections.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=600))]
    seconds: u32,
    /// The numbers of connections.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,8,32",
        value_parser = clap::value_parser!(u32).range(1..=128))]
    connections: Vec<u32>,
    /// Which operations.
    #[arg(
        long,
        value_enum,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "claim,renew,save"
    )]
    operations: Vec<Operation>,
    /// Write the server's log to this file, which stays.
    #[arg(long, value_name = "FILE")]
    keep_log: Option<PathBuf>,
}

/// Measures and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
    }
    let programs = Programs::build()?;
    let server = PrivateServer::start(&Options {
        care: Care::Durable,
        programs: None,
        log: arguments.keep_log.clone(),
    })?;
    let psql = Psql::new(&server, "postgres");
    for database in [speed::DATABASE, worker::DATABASE] {
        psql.ask(&format!("CREATE DATABASE {database}"))?;
    }
    let rounds = arguments.seconds.div_ceil(ROUND_SECONDS);
    report::heading(&psql.ask("SHOW server_version")?, rounds, ROUND_SECONDS);
    let mut bench = speed::Bench::new(&server, &programs)?;
    for &operation in &arguments.operations {
        for &connections in &arguments.connections {
            let aimed_at = connections == report::AIM_AT;
            report::cell(&bench.cell(operation, connections, rounds)?, aimed_at);
        }
    }
    report::in_page(&programs.bench(&server, speed::DATABASE, &["beat"])?)?;
    let cost = worker::measure(&server, &programs)?;
    report::worker(&cost);
    if cost.statements.is_empty() {
        return Err(Failure::NotMeasured(
            "statements per step: the server has no pg_stat_statements (Debian: postgresql-contrib)"
                .to_owned(),
        ));
    }
    report::embedded_heading();
    for &operation in &arguments.operations {
        for &connections in &arguments.connections {
            let aimed_at = connections == 1 || connections == report::AIM_AT;
            report::cell(&embedded::cell(&programs, operation, connections, rounds)?, aimed_at);
        }
    }
    Ok(ExitCode::SUCCESS)
}
