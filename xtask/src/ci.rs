//! `ci`: what CI runs, cheapest first, up to the first failure.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use crate::chore::{Failure, cargo, must};
use crate::{install, test, tidy};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install PostgreSQL's server programs first, on Debian as root, if they are missing.
    #[arg(long)]
    install: bool,
}

/// Runs everything.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
    }
    step("format", || must(cargo().args(["fmt", "--all", "--check"])))?;
    step("tidy", || tidy::run().map(drop))?;
    step("dependencies", || must(cargo().args(["deny", "check", "bans", "licenses", "sources"])))?;
    step("lints", || {
        must(cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    step("docs", || {
        must(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    step("tests", || test::run(&test::Arguments { install: false, pg_version: None, rest: Vec::new() }))
}

fn step<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    eprintln!("== {name}");
    let began = Instant::now();
    let done = work();
    eprintln!("== {name}: {} s", began.elapsed().as_secs());
    done
}
