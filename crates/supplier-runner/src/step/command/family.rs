//! A process and all that it starts, ended together.
//!
//! The process leads a process group of its own. Ending the family kills the group, then what left
//! the group (see [`strays`]). The leader is reaped only after that: as long as it is
//! not, its number cannot stand for somebody else's group.
//!
//! It is SIGKILL every time. A family is ended when its step is over or the lease is lost, and from
//! then on nothing of it may act any more, least of all a handler of a signal.

use std::io;
use std::process::{ExitStatus, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};

use super::process::ProcessCall;
use super::strays;

/// A running process with its descendants. Dropping it ends them all.
#[derive(Debug)]
pub(super) struct Family {
    leader: Child,
    group: Pid,
    marks: Vec<String>,
    ended: bool,
}

/// The ends of the leader's pipes.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Family {
    /// Starts the process.
    pub(super) fn start(call: &ProcessCall) -> io::Result<(Self, Pipes)> {
        let mut leader = Command::new(&call.program)
            .args(&call.arguments)
            .current_dir(&call.folder)
            .env_clear()
            .envs(call.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pipes = match (leader.stdin.take(), leader.stdout.take(), leader.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => return Err(io::Error::other("the process has no pipes")),
        };
        let number = leader.id().and_then(|number| i32::try_from(number).ok());
        let group = number.and_then(Pid::from_raw).expect("a child that was not waited for has its number");
        Ok((Self { leader, group, marks: strays::marks(&call.environment), ended: false }, pipes))
    }

    /// Waits until the leader has exited, without reaping it.
    ///
    /// # Cancel safety
    /// Nothing is lost: the next call looks again.
    pub(super) async fn leader_exited(&self) -> io::Result<()> {
        // Listening begins before the first look, so that no exit falls in between.
        let mut children_changed = signal(SignalKind::child())?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.group), look) {
                Ok(Some(_)) => return Ok(()),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            children_changed.recv().await;
        }
    }

    /// Ends the whole family.
    pub(super) fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            // An error means that nobody is left in the group.
            let _gone = kill_process_group(self.group, Signal::KILL);
            strays::end(&self.marks);
        }
    }

    /// Ends what is left and reaps the leader.
    pub(super) async fn reap(mut self) -> io::Result<ExitStatus> {
        self.end();
        self.leader.wait().await
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.end();
    }
}
