//! Runs a command so that no signal can end this process before the command and without clearing up.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::chore::Failure;

/// Listens to the signals that would end this process, from its making on.
#[derive(Debug)]
pub(crate) struct Supervisor {
    signals: Signals,
    /// A terminal's Ctrl-C goes to this process and, if it shares the group, to the command.
    on_terminal: bool,
}

impl Supervisor {
    /// To be made before anything that needs clearing up.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM])
            .map_err(Failure::system("cannot listen to signals"))?;
        Ok(Self { signals, on_terminal: is_in_foreground() })
    }

    /// The signal that has come by now and would have ended this process.
    pub(crate) fn told_to_end(&mut self) -> Option<i32> {
        self.signals.pending().find(|signal| *signal != SIGCHLD)
    }

    /// Runs a command to its end. Signals are handed to it; what it makes of them is its own choice.
    pub(crate) fn run(&mut self, command: &mut Command) -> Result<ExitStatus, Failure> {
        if !self.on_terminal {
            // So that a signal reaches all of the command's processes, and each of them once.
            command.process_group(0);
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|source| Failure::Command { program, source })?;
        loop {
            // A child that ends after this look has its SIGCHLD wait below.
            if let Some(status) = child.try_wait().map_err(Failure::system("cannot wait for the command"))? {
                return Ok(status);
            }
            for signal in self.signals.wait() {
                hand_on(signal, &child, self.on_terminal);
            }
        }
    }
}

/// Hands a signal to a command that has not been waited for, so that its number is still its own.
fn hand_on(signal: i32, child: &Child, on_terminal: bool) {
    // The terminal sends these to the command itself, and a second one may mean something else to it.
    let came_from_terminal = on_terminal && matches!(signal, SIGINT | SIGHUP);
    if signal == SIGCHLD || came_from_terminal {
        return;
    }
    let pid = Pid::from_child(child);
    if let Some(signal) = Signal::from_named_raw(signal) {
        // An error means that the command has ended in the meantime.
        let _sent = if on_terminal { kill_process(pid, signal) } else { kill_process_group(pid, signal) };
    }
}

/// Whether this process is what the user at a terminal is looking at.
fn is_in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|terminal| tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}
