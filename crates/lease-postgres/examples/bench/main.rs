//! Runs the store's operations as fast as it can, on a database that is used for nothing else.
//!
//! `cargo xtask bench` calls it and compares what it prints with pgbench; by itself it needs
//! `DATABASE_URL`, a `fill`, and then a `run` of the same operation. Results are printed as
//! `NAME=VALUE`, one a line. Anything but the answer that is measured is an error; the exit code is 3
//! where only the rows were too few.

mod beat;
mod measure;
mod operation;
mod rows;
mod session;
mod trouble;

use std::error::Error as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use operation::Operation;
use trouble::Trouble;

/// Runs the operations of lease-postgres as fast as it can.
#[derive(Debug, Parser)]
struct Arguments {
    /// A database that holds nothing but this program's own rows.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Makes the tables if need be, and fresh rows for both sides; prints what a script needs to use them.
    Fill {
        /// What will be run on the rows.
        operation: Operation,
        /// How many runs each side gets.
        #[arg(long, default_value_t = 20_000)]
        runs: u32,
    },
    /// Prints the settings of the store's sessions that are not the server's own.
    Session,
    /// Runs an operation on the second side's rows.
    Run {
        /// What to run.
        operation: Operation,
        /// How many connections, with as many tasks.
        #[arg(long, default_value_t = 8)]
        connections: u32,
        /// For how long.
        #[arg(long, default_value_t = 2)]
        seconds: u64,
        /// How many runs there are for it.
        #[arg(long, default_value_t = 20_000)]
        runs: u32,
    },
    /// Renews fifty held runs a thousand times, and prints how many renewals were in-page (HOT) updates.
    Beat,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { database_url, part } = Arguments::parse();
    match run(&database_url, part).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprint!("bench: {trouble}");
            let mut cause = trouble.source();
            while let Some(error) = cause {
                eprint!(": {error}");
                cause = error.source();
            }
            eprintln!();
            if matches!(trouble, Trouble::RanOut(_)) { ExitCode::from(3) } else { ExitCode::FAILURE }
        }
    }
}

async fn run(url: &str, part: Part) -> Result<(), Trouble> {
    match part {
        Part::Fill { operation, runs } => rows::fill(url, operation, runs).await,
        Part::Session => session::print(url).await,
        Part::Run { operation, connections, seconds, runs } => {
            let span = Duration::from_secs(seconds);
            measure::run(url, operation, connections.max(1), span, runs).await
        }
        Part::Beat => beat::run(url).await,
    }
}
