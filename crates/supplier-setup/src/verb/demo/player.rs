//! A worker of the demonstration, as the demonstration has it: a process that is spoken to over
//! pipes, stopped and continued.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use lease_core::RunId;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::line::Line;
use crate::database_url::DatabaseUrl;
use crate::error::Error;

/// The longest wait for a line. Everything here takes milliseconds on a machine that is not stuck.
const PATIENCE: Duration = Duration::from_secs(8);

/// A worker's process. Killed when dropped.
pub(super) struct Player {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Player {
    /// Starts a worker that claims the run.
    pub(super) fn start(
        database: &DatabaseUrl,
        run: RunId,
        name: &str,
        ttl: Duration,
        insist: bool,
    ) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(failed("find this program's own file"))?;
        let mut command = Command::new(program);
        command
            .args(["demo-worker", "--wait-in", "registered", "--name", name, "--run"])
            .arg(run.to_string())
            .args(["--ttl", &format!("{}ms", ttl.as_millis())])
            .args(insist.then_some("--insist"))
            // Not as an argument, which everybody on the machine can read.
            .env("DATABASE_URL", database.secret())
            .env("RUST_LOG", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(failed("start a worker"))?;
        let stdout = child.stdout.take().expect("its standard output is piped");
        Ok(Self { child, lines: BufReader::new(stdout).lines() })
    }

    /// The next thing that it says.
    pub(super) async fn hear(&mut self) -> Result<Line, Error> {
        let heard = timeout(PATIENCE, self.lines.next_line()).await;
        let line = heard.map_err(|late| failed("hear from a worker in time")(io::Error::other(late)))?;
        let line = line.map_err(failed("read what a worker says"))?;
        let line = line.ok_or_else(|| failed("hear from a worker")(io::ErrorKind::UnexpectedEof.into()))?;
        serde_json::from_str(&line).map_err(|error| failed("understand a worker")(error.into()))
    }

    /// Lets it go on.
    pub(super) async fn go_on(&mut self) -> Result<(), Error> {
        let stdin = self.child.stdin.as_mut().expect("its standard input is piped");
        stdin.write_all(b"go on\n").await.map_err(failed("speak to a worker"))?;
        stdin.flush().await.map_err(failed("speak to a worker"))
    }

    /// Stops it where it is, or lets it run again.
    pub(super) fn signal(&self, signal: Signal) -> Result<(), Error> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.ok_or_else(|| failed("find a worker's process")(io::ErrorKind::NotFound.into()))?;
        kill_process(id, signal).map_err(|error| failed("send a worker a signal")(error.into()))
    }

    /// Its exit code, once it has ended.
    pub(super) async fn end(mut self) -> Result<Option<i32>, Error> {
        drop(self.child.stdin.take());
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.map_err(|late| failed("see a worker end in time")(io::Error::other(late)))?;
        Ok(ended.map_err(failed("wait for a worker"))?.code())
    }
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::System { doing, source }
}
