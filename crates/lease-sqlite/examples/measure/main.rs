//! Does the store's operations as fast as it can, in turns with the same statements sent through
//! SQLite's own library, each side on a file of its own.
//!
//! `cargo xtask bench` calls it and prints the table; by itself it prints `NAME=VALUE`, one a line. With
//! several at once, the library has a thread and a connection for each, which wait for the file in SQLite's
//! own way, and the store has as many tasks. Anything but the answer that is measured is an error.

mod library;
mod rows;
mod store;
mod trouble;

use std::error::Error as _;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
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
    /// How many do it at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    connections: u32,
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
            let turn = Turn { operation: arguments.operation, at_once: arguments.connections, span, runs };
            let one = |library_side: bool| {
                if library_side {
                    through_library(&files[0], turn)
                } else {
                    runtime.block_on(store::repeat(&files[1], turn))
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

/// What one side does in its turn.
#[derive(Debug, Clone, Copy)]
struct Turn {
    operation: Operation,
    /// How many do it at once.
    at_once: u32,
    span: Duration,
    /// How many runs the file has.
    runs: u32,
}

/// How often it was done in how many microseconds; `None` where there were too few runs for it.
type Measured = Option<(u32, u128)>;

fn through_library(file: &Path, turn: Turn) -> Result<Measured, Trouble> {
    let looking = library::open(file, turn.operation)?;
    let before = library::evidence(&looking, turn.operation)?;
    let done: Vec<Result<Measured, Trouble>> = thread::scope(|scope| {
        let all: Vec<_> =
            (0..turn.at_once).map(|which| scope.spawn(move || one_of_library(file, turn, which))).collect();
        let end = |one: thread::ScopedJoinHandle<'_, _>| {
            one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        all.into_iter().map(end).collect()
    });
    together(done, &looking, turn, before)
}

fn one_of_library(file: &Path, turn: Turn, which: u32) -> Result<Measured, Trouble> {
    let connection = library::open(file, turn.operation)?;
    let mut library = Library::new(&connection)?;
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < turn.span {
        let Some(place) = rows::place(turn, which, done) else { return Ok(None) };
        match turn.operation {
            Operation::Claim => library.claim(place)?,
            Operation::Renew => library.renew(place)?,
            Operation::Save => library.save(place)?,
        }
        done += 1;
    }
    Ok(Some((done, began.elapsed().as_micros())))
}

/// All that was done at once, in the time of the slowest.
fn together(
    done: Vec<Result<Measured, Trouble>>,
    looking: &rusqlite::Connection,
    turn: Turn,
    before: i64,
) -> Result<Measured, Trouble> {
    let mut all = (0, 0);
    for one in done {
        let Some((operations, micros)) = one? else { return Ok(None) };
        all = (all.0 + operations, all.1.max(micros));
    }
    checked(looking, turn.operation, before, all.0)?;
    Ok(Some(all))
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
