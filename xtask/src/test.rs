//! `test`: every test of the workspace, doc tests included, under one private server. Each test
//! makes its own database on it.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::chore::{Failure, cargo};
use crate::server::{Care, Options};
use crate::with_pg::under_server;
use crate::{fetched, install};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install PostgreSQL's server programs first, on Debian as root, if they are missing.
    #[arg(long)]
    pub(crate) install: bool,
    /// Under this major version of PostgreSQL: installed, or fetched with npm into target/.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(fetched::OLDEST)..))]
    pub(crate) pg_version: Option<u32>,
    /// Handed to `cargo test`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) rest: Vec<OsString>,
}

/// Runs them.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
    }
    let programs = arguments.pg_version.map(fetched::server_programs).transpose()?;
    let mut tests = cargo();
    // In the workspace's root that is every package, unless ARGUMENTS say which.
    tests.args(["test", "--no-fail-fast"]).args(&arguments.rest);
    under_server(&mut tests, &Options { care: Care::Scratch, programs, log: None })
}
