//! `with-pg COMMAND…`: a command with a private PostgreSQL around it.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::chore::Failure;
use crate::install;
use crate::server::{Care, PrivateServer};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Install PostgreSQL's server programs first, on Debian as root, if they are missing.
    #[arg(long)]
    install: bool,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command; its exit code is this one's.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.install {
        install::server_programs()?;
    }
    let Some((program, rest)) = arguments.command.split_first() else {
        return Ok(ExitCode::from(2));
    };
    let mut command = Command::new(program);
    command.args(rest);
    under_server(&mut command, Care::Durable)
}

/// Runs a command under a server of its own. Signals that would end this process are handed to the
/// command, and the server ends after it.
pub(crate) fn under_server(command: &mut Command, care: Care) -> Result<ExitCode, Failure> {
    // Before the server starts, so that no signal can end this process without ending the server.
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::system("cannot listen to signals"))?;
    let server = PrivateServer::start(care)?;
    if let Some(signal) = signals.pending().next() {
        drop(server);
        return Ok(signal_code(signal));
    }
    server.tell(command);
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|source| Failure::Run { program, source })?;
    let listening = signals.handle();
    let forwarder = forward(signals, &child);
    let ended = child.wait().map_err(Failure::system("cannot wait for the command"));
    listening.close();
    // The forwarder has nothing that could panic.
    let _joined = forwarder.join();
    drop(server);
    Ok(exit_code(ended?))
}

/// Hands signals to the command. On a terminal, Ctrl-C reaches the command by itself.
fn forward(mut signals: Signals, child: &Child) -> thread::JoinHandle<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let on_terminal = io::stdin().is_terminal();
    thread::spawn(move || {
        for signal in signals.forever() {
            let named = match signal {
                SIGINT if on_terminal => None,
                SIGINT => Some(Signal::INT),
                SIGHUP => Some(Signal::HUP),
                _ => Some(Signal::TERM),
            };
            if let (Some(pid), Some(named)) = (pid, named) {
                // An error means that the command has ended in the meantime.
                let _sent = kill_process(pid, named);
            }
        }
    })
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
