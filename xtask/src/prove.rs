//! `prove`: random histories on every real store, step for step against the rules, as many as one likes.

use std::ffi::OsStr;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, ValueEnum};

use crate::chore::{Failure, cargo, must};
use crate::server::{Care, Options};
use crate::with_pg::under_server;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many histories on each store.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    histories: u64,
    /// The first seed; the others follow it.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many steps each history has.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Which stores.
    #[arg(long, value_enum, value_name = "NAME,…", value_delimiter = ',', default_value = "postgres,sqlite")]
    store: Vec<Store>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Store {
    Postgres,
    Sqlite,
}

/// Sends them. A difference ends it, with the shortest history that was found.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    for store in &arguments.store {
        let package = match store {
            Store::Postgres => "lease-postgres",
            Store::Sqlite => "lease-sqlite",
        };
        let mut build = cargo();
        must(build.args([
            "test",
            "--quiet",
            "--release",
            "--no-run",
            "-p",
            package,
            "--test",
            "differential",
        ]))?;
        let mut tests = cargo();
        tests.args(["test", "--quiet", "--release", "-p", package, "--test", "differential"]);
        tests.args(["random_histories", "--", "--nocapture"]);
        let number = |number: u64| number.to_string();
        tests.env("LEASE_HISTORIES", number(arguments.histories));
        tests.env("LEASE_SEED", number(arguments.seed)).env("LEASE_STEPS", number(arguments.steps));
        // A difference is told by its history, not by where in the code it was seen.
        tests.env("RUST_BACKTRACE", OsStr::new("0"));
        let began = Instant::now();
        let ended = match store {
            Store::Postgres => {
                under_server(&mut tests, &Options { care: Care::Scratch, programs: None, log: None })?
            }
            Store::Sqlite => {
                must(&mut tests)?;
                ExitCode::SUCCESS
            }
        };
        if ended != ExitCode::SUCCESS {
            return Ok(ended);
        }
        let seconds = began.elapsed().as_secs_f64();
        // Counts stay far below 2^32.
        let rate = f64::from(u32::try_from(arguments.histories).unwrap_or(u32::MAX)) / seconds;
        println!("{package}: no difference, {rate:.1} histories a second");
    }
    Ok(ExitCode::SUCCESS)
}
