//! The built program, run as its users run it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::eventually;

/// A command line under way.
pub(crate) struct Program {
    command: Command,
    input: Option<Vec<u8>>,
    results: Option<File>,
    log: Option<File>,
}

/// A program that runs. Killed when dropped.
pub(crate) struct Started(Option<Child>);

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    /// The program, without a database.
    pub(crate) fn new() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_supplier-setup"));
        for name in ["DATABASE_URL", "RUST_LOG", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        // Nothing of a test lands in the data folder of whoever runs it.
        command.env("XDG_DATA_HOME", "/nonexistent").env("USER", "tester").stdin(Stdio::null());
        Self { command, input: None, results: None, log: None }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// The same, started by another program: `nohup` and the like.
    pub(crate) fn under(mut self, program: &str) -> Self {
        let mut command = Command::new(program);
        command.arg(self.command.get_program()).args(self.command.get_args()).stdin(Stdio::null());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        self.command = command;
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn file(mut self, path: &Path) -> Self {
        self.command.arg(path);
        self
    }

    /// What it reads from its standard input.
    pub(crate) fn input(mut self, text: &str) -> Self {
        self.input = Some(text.as_bytes().to_vec());
        self
    }

    /// Where it writes its results to, instead of a pipe.
    pub(crate) fn results_to(mut self, path: &str) -> Self {
        self.results = Some(File::options().write(true).open(path).unwrap());
        self
    }

    /// Where it writes its log to, instead of a pipe.
    pub(crate) fn log_to(mut self, path: &Path) -> Self {
        self.log = Some(File::create(path).unwrap());
        self
    }

    /// Runs it to its end.
    pub(crate) fn end(self) -> Ended {
        self.start().end()
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Started {
        if self.input.is_some() {
            self.command.stdin(Stdio::piped());
        }
        let results = self.results.map_or_else(Stdio::piped, Stdio::from);
        let log = self.log.map_or_else(Stdio::piped, Stdio::from);
        let mut child = self.command.stdout(results).stderr(log).spawn().unwrap();
        if let Some(input) = self.input {
            child.stdin.take().unwrap().write_all(&input).unwrap();
        }
        Started(Some(child))
    }
}

impl Started {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("the child is there until it has ended")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).unwrap();
    }

    /// Closes the pipe that it writes its results to.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.child().stdout.take());
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child().try_wait().unwrap().is_none()
    }

    /// Waits for its end. What it prints has to fit into the pipes until then.
    pub(crate) fn end_soon(mut self) -> Ended {
        eventually("the program's end", || (!self.runs()).then_some(()));
        self.end()
    }

    /// Waits for its end, however much it prints.
    pub(crate) fn end(mut self) -> Ended {
        let child = self.0.take().expect("the child is there until it has ended");
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself.
            let _ended = child.kill();
            let _status = child.wait();
        }
    }
}

impl Ended {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Checks that standard error has this text.
    #[track_caller]
    pub(crate) fn expect_told(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        self
    }

    /// The one JSON document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// The JSON lines on standard output.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(read).collect()
    }
}
