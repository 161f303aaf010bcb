//! `with-pg COMMAND…`: a command with a private PostgreSQL around it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use clap::Args;

use crate::chore::{Failure, forget_this_package};
use crate::server::{Care, Options, PrivateServer};
use crate::supervisor::Supervisor;
use crate::{fetched, install};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install PostgreSQL's server programs first, on Debian as root, if they are missing.
    #[arg(long)]
    install: bool,
    /// Under this major version of PostgreSQL: installed, or fetched with npm into target/.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(fetched::OLDEST)..))]
    pg_version: Option<u32>,
    /// Write the server's log to this file, which stays.
    #[arg(long, value_name = "FILE")]
    keep_log: Option<PathBuf>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command; its exit code is this one's. Where there is none to pass on: 127 if the command was
/// not found, 126 if it could not be run, 125 if the server could not.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
    }
    let Some((program, rest)) = arguments.command.split_first() else {
        return Ok(ExitCode::from(2));
    };
    let programs = arguments.pg_version.map(fetched::server_programs).transpose()?;
    let mut command = Command::new(program);
    command.args(rest);
    forget_this_package(&mut command);
    under_server(&mut command, &Options { care: Care::Durable, programs, log: arguments.keep_log })
}

/// Runs a command under a server of its own. Signals that would end this process are handed to the
/// command, and the server ends after it.
pub(crate) fn under_server(command: &mut Command, options: &Options) -> Result<ExitCode, Failure> {
    let mut supervisor = Supervisor::listen()?;
    let server = PrivateServer::start(options)?;
    if let Some(signal) = supervisor.told_to_end() {
        return Ok(signal_code(signal));
    }
    server.tell(command);
    supervisor.run(command).map(exit_code)
}

fn exit_code(status: ExitStatus) -> ExitCode {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(signal)) => signal_code(signal),
        (None, None) => ExitCode::FAILURE,
    }
}

/// What shells say of a program that a signal ended.
fn signal_code(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}
