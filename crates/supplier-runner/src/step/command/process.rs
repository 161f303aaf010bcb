//! The port to the system's processes: one call, from its start until nothing of it is left.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

/// A process to be run.
#[derive(Clone, PartialEq, Eq)]
pub struct ProcessCall {
    /// The program: an absolute path, or a name to be looked up in the call's `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// All of its environment.
    pub environment: Vec<(String, String)>,
    /// What it gets on standard input.
    pub input: Arc<str>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ProcessEnd {
    /// By itself, with this code.
    Exited {
        /// The exit code.
        code: i32,
        /// All that it printed.
        stdout: Vec<u8>,
        /// The end of what it printed on standard error.
        stderr: String,
    },
    /// By a signal.
    Killed {
        /// Its number.
        signal: i32,
        /// The end of what it printed on standard error.
        stderr: String,
    },
    /// It was ended because it printed more than 1 MiB.
    PrintedTooMuch,
}

/// A process that could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// It did not start.
    #[error("start the process")]
    Start(#[source] io::Error),
    /// It started, but how it ended is not known. Nothing of it is left.
    #[error("watch the process")]
    Watch(#[source] io::Error),
}

/// Runs processes.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait ProcessRunner: Send + Sync {
    /// Runs one and waits for it. Memory is bounded, whatever it prints. When this returns, the
    /// process and the children it left behind are ended.
    ///
    /// # Errors
    /// When it cannot be started or watched.
    ///
    /// # Cancel safety
    /// Dropping the future ends the process and its children at once.
    async fn run(&self, call: &ProcessCall) -> Result<ProcessEnd, ProcessError>;
}

impl fmt::Debug for ProcessCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment holds secrets; its names do not.
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ProcessCall")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("folder", &self.folder)
            .field("environment", &names)
            .finish_non_exhaustive()
    }
}
