//! Does the store's operations as fast as it can, in turns with the same statements sent through
//! SQLite's own library, each side on a file of its own.
//!
//! `cargo xtask bench` calls it and prints the table; by itself it prints `NAME=VALUE`, one a line. SQLite
//! lets one write at a time, so there is one connection on each side. Anything but the answer that is
//! measured is an error.

mod library;
mod rows;
mod store;
mod trouble;

use std::error::Error as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};

use library::Library;
use trouble::Trouble;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Operation {
    /// Claims of runs that were released.
    Claim,
    /// Renewals of held leases.
    Renew,
    /// Saves of a phase that is not the last.
    Save,
}

/// Measures lease-sqlite beside SQLite's own library.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to measure.
    operation: Operation,
    /// How often each side has its turn.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// How long a turn is.
    #[arg(long, default_value_t = 2)]
    seconds: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            let mut text = trouble.to_string();
            let mut cause = trouble.source();
            while let Some(below) = cause {
                text.push_str(": ");
                text.push_str(&below.to_string());
                cause = below.source();
            }
            eprintln!("measure: {text}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<(), Trouble> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let span = Duration::from_secs(arguments.seconds);
    let mut runs = rows::RUNS_AT_FIRST;
    for round in 0..arguments.rounds {
        let (library, store) = loop {
            let files = ["library", "store"].map(|side| folder.path().join(format!("{side}-{round}-{runs}")));
            runtime.block_on(rows::fill(&files[0], arguments.operation, runs))?;
            std::fs::copy(&files[0], &files[1])?;
            let one = |library_side: bool| {
                if library_side {
                    through_library(&files[0], arguments.operation, span, runs)
                } else {
                    // On a thread of the runtime, as everything in a worker is.
                    let repeat = store::repeat(files[1].clone(), arguments.operation, span, runs);
                    let done = runtime.block_on(runtime.spawn(repeat));
                    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
                }
            };
            // Whoever comes first in one round comes second in the next.
            let first = round % 2 == 0;
            let (one, other) = (one(first)?, one(!first)?);
            for file in &files {
                std::fs::remove_file(file)?;
            }
            match if first { (one, other) } else { (other, one) } {
                (Some(library), Some(store)) => break (library, store),
                (None, _) | (_, None) => runs *= 3,
            }
        };
        for (side, (operations, micros)) in [("library", library), ("store", store)] {
            println!("{side}_operations_{round}={operations}\n{side}_micros_{round}={micros}");
        }
    }
    Ok(())
}

/// How often it was done in how many microseconds; `None` where there were too few runs for it.
type Measured = Option<(u32, u128)>;

fn through_library(
    file: &Path,
    operation: Operation,
    span: Duration,
    runs: u32,
) -> Result<Measured, Trouble> {
    let connection = library::open(file, operation)?;
    let before = library::evidence(&connection, operation)?;
    let mut library = Library::new(&connection)?;
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < span {
        let Some(place) = rows::place(operation, done, runs) else { return Ok(None) };
        match operation {
            Operation::Claim => library.claim(place)?,
            Operation::Renew => library.renew(place)?,
            Operation::Save => library.save(place)?,
        }
        done += 1;
    }
    let micros = began.elapsed().as_micros();
    drop(library);
    checked(&connection, operation, before, done)?;
    Ok(Some((done, micros)))
}

/// Looks whether the tables changed by as much as was counted.
fn checked(
    connection: &rusqlite::Connection,
    operation: Operation,
    before: i64,
    done: u32,
) -> Result<(), Trouble> {
    let changed = library::evidence(connection, operation)? - before;
    let counted = i64::from(done);
    // A renewal leaves nothing behind that could be counted; each had its row looked at.
    if operation == Operation::Renew || changed == counted {
        Ok(())
    } else {
        Err(Trouble::Counts { counted, changed })
    }
}
