//! The real program as a worker, started again whenever it has ended.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};

use crate::chore::Failure;

use super::history::{Life, Micros};
use super::proxy::Link;

/// The machine's clock.
pub(super) fn machine_us() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// How workers are started.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) program: PathBuf,
    pub(super) plan: PathBuf,
    /// Where event streams and logs go.
    pub(super) folder: PathBuf,
    pub(super) ttl: &'static str,
    pub(super) poll: &'static str,
    pub(super) loss_limit: i64,
}

/// One worker.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) index: usize,
    /// Its way to the server; none to a file.
    pub(super) link: Option<Link>,
    url: String,
    process: Option<(Child, Micros)>,
    /// Whether something is being done to it that has not ended yet.
    pub(super) occupied: bool,
    starts: usize,
}

/// How a process ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) life: Life,
    /// None after a signal.
    pub(super) code: Option<i32>,
}

impl Worker {
    pub(super) fn new(index: usize, url: String, link: Option<Link>) -> Self {
        Self { index, link, url, process: None, occupied: false, starts: 0 }
    }

    /// Its process, while it has one.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|(child, _)| child.id())
    }

    /// Starts it, unless it runs.
    pub(super) fn start(&mut self, recipe: &Recipe) -> Result<(), Failure> {
        if self.process.is_some() {
            return Ok(());
        }
        self.starts += 1;
        let file = |folder: &str, ending: &str| {
            let name = format!("{}-{}{ending}", self.index, self.starts);
            let path = recipe.folder.join(folder).join(name);
            File::create(&path).map_err(Failure::path(&path))
        };
        let mut work = product(&recipe.program, &self.url);
        work.args(["work", "--json", "--ttl", recipe.ttl, "--poll", recipe.poll, "--plan"]).arg(&recipe.plan);
        work.args(["--name", &format!("worker-{}", self.index)]);
        work.args(["--loss-limit", &recipe.loss_limit.to_string()]);
        work.stdout(file("events", ".jsonl")?).stderr(file("logs", ".log")?);
        let program = recipe.program.display().to_string();
        let child = work.spawn().map_err(|source| Failure::Run { program, source })?;
        self.process = Some((child, machine_us()));
        Ok(())
    }

    /// Sends it a signal, if it still runs.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some((child, _)) = &self.process {
            // It has not been waited for, so the number is still its own; it may have ended.
            let _sent = kill_process(Pid::from_child(child), signal);
        }
    }

    /// Takes note of its end, if it has ended.
    pub(super) fn reap(&mut self) -> Result<Option<Ended>, Failure> {
        let Some((child, since)) = &mut self.process else { return Ok(None) };
        let Some(status) = child.try_wait().map_err(Failure::system("cannot wait for a worker"))? else {
            return Ok(None);
        };
        let (worker, pid, from_us) = (self.index, child.id(), *since);
        let life = Life { worker, pid, from_us, to_us: machine_us() };
        self.process = None;
        Ok(Some(Ended { life, code: status.code() }))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.process {
            // It may have ended by itself.
            let _killed = child.kill();
            let _ended = child.wait();
        }
    }
}

/// The program on this database, with nothing else of this process's settings.
pub(super) fn product(program: &Path, url: &str) -> Command {
    let mut command = Command::new(program);
    for name in ["RUST_LOG", "RUST_BACKTRACE", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command.env("DATABASE_URL", url).stdin(Stdio::null());
    command
}
