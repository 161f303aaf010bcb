//! `ci`: what CI runs, cheapest first, up to the first failure.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use crate::chore::{Failure, cargo, must};
use crate::fetched::{self, NEWEST};
use crate::{chaos, install, test, tidy};

/// What is run under the newest version of PostgreSQL too: the tests that speak to a database of its.
const DATABASE_TESTS: [&str; 9] =
    ["-p", "lease-postgres", "-p", "supplier-setup", "--test", "*", "--", "--skip", "embedded"];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install what is missing first, on Debian as root: PostgreSQL's server programs, npm, and what the chaos
    /// run needs.
    #[arg(long)]
    install: bool,
}

/// Runs everything.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
        if fetched::there(NEWEST).is_none() {
            install::npm()?;
        }
        install::chaos_programs()?;
    }
    step("format", || must(cargo().args(["fmt", "--all", "--check"])))?;
    step("tidy", || tidy::run().map(drop))?;
    step("dependencies", || must(cargo().args(["deny", "check", "bans", "licenses", "sources"])))?;
    // Here, so that it is known early where they cannot be had.
    step("server programs", || fetched::server_programs(NEWEST))?;
    step("lints", || {
        must(cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    step("docs", || {
        must(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    let tests = |pg_version, rest: &[&str]| {
        let rest = rest.iter().map(Into::into).collect();
        test::run(&test::Arguments { install: false, pg_version, rest })
    };
    let ended = step("tests", || tests(None, &[]))?;
    if ended != ExitCode::SUCCESS {
        return Ok(ended);
    }
    let ended = step(&format!("tests under PostgreSQL {NEWEST}"), || tests(Some(NEWEST), &DATABASE_TESTS))?;
    if ended != ExitCode::SUCCESS {
        return Ok(ended);
    }
    for store in [chaos::Store::Postgres, chaos::Store::Sqlite] {
        step("chaos", || chaos::run(&chaos::Arguments::small(store)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn step<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    eprintln!("== {name}");
    let began = Instant::now();
    let done = work();
    eprintln!("== {name}: {} s", began.elapsed().as_secs());
    done
}
