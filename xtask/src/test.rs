//! `test`: every test of the workspace, doc tests included, under one private server. Each test
//! makes its own database on it.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::chore::{Failure, cargo};
use crate::install;
use crate::server::{Care, Options};
use crate::with_pg::under_server;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install PostgreSQL's server programs first, on Debian as root, if they are missing.
    #[arg(long)]
    pub(crate) install: bool,
    /// Handed to `cargo test`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) rest: Vec<OsString>,
}

/// Runs them.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
    }
    let mut tests = cargo();
    // In the workspace's root that is every package, unless ARGUMENTS say which.
    tests.args(["test", "--no-fail-fast"]).args(&arguments.rest);
    under_server(&mut tests, &Options { care: Care::Scratch, log: None })
}
