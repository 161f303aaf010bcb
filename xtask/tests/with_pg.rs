//! `cargo xtask with-pg`, with real servers: what it tells the command, what it passes on, and that no
//! server and no folder outlives it, however it ends. Needs PostgreSQL's programs, `psql` among them.

#![expect(clippy::unwrap_used, reason = "a panic in a test is the failure being reported")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Prints the server's folder and process, and says that it did.
const NAME_SERVER: &str =
    r#"data=$(psql -Atc 'SHOW data_directory') && echo "$data" && head -n 1 "$data/postmaster.pid""#;

fn with_pg(options: &[&str], script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("with-pg").args(options).args(["--", "sh", "-c", script]);
    // A group of its own, as where there is no terminal.
    command.stdin(Stdio::null()).process_group(0);
    command
}

fn lines(output: &Output) -> Vec<String> {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "nothing printed: {errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// A server that a command has named.
#[derive(Debug)]
struct Server {
    folder: PathBuf,
    process: Pid,
}

impl Server {
    fn read(data: &str, process: &str) -> Self {
        let folder = Path::new(data.trim()).parent().expect("data lie in a folder").to_owned();
        assert!(folder.is_absolute(), "a folder, not {folder:?}");
        let process = process.trim().parse().ok().and_then(Pid::from_raw).expect("a process");
        Self { folder, process }
    }

    fn has_gone(&self) -> bool {
        test_kill_process(self.process).is_err() && !self.folder.exists()
    }
}

/// `with-pg` under way, with its server named.
struct Started {
    process: Child,
    output: BufReader<ChildStdout>,
    server: Server,
}

impl Started {
    /// Runs a script after the server has been named.
    fn new(script: &str) -> Self {
        let mut command = with_pg(&[], &format!("{NAME_SERVER} && {{ {script}; }}"));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            line
        };
        let server = Server::read(&line(), &line());
        assert_eq!(line(), "started\n");
        Self { process, output, server }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// The exit code, and what was printed last.
    fn end(mut self) -> (Option<i32>, String, Server) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (self.process.wait().unwrap().code(), rest, self.server)
    }
}

#[test]
fn the_command_finds_its_server_in_every_usual_way_and_its_exit_code_is_passed_on() {
    let script = format!(
        "{NAME_SERVER} && psql -Atc 'SELECT current_user, current_database()' && \
         psql \"$DATABASE_URL\" -Atc 'SHOW fsync' && test -x \"$PG_BIN/postgres\" && exit 7"
    );
    let output = with_pg(&[], &script).env("PGSERVICE", "misleading").output().unwrap();
    let lines = lines(&output);
    assert_eq!(lines[2..], ["postgres|postgres", "on"]);
    assert_eq!(output.status.code(), Some(7));
    let server = Server::read(&lines[0], &lines[1]);
    assert!(server.has_gone(), "{server:?}");
}

#[test]
fn each_command_has_a_server_of_its_own() {
    let script = "psql -Atc 'CREATE TABLE mine ()' && echo created";
    for _ in 0..2 {
        assert_eq!(lines(&with_pg(&[], script).output().unwrap()), ["CREATE TABLE", "created"]);
    }
}

#[test]
fn a_command_that_does_not_exist_or_dies_by_a_signal_is_told_as_shells_tell_it() {
    let missing = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["with-pg", "no-such-command"]).output();
    assert_eq!(missing.unwrap().status.code(), Some(127));
    assert_eq!(with_pg(&[], "kill -KILL $$").output().unwrap().status.code(), Some(128 + 9));
}

#[test]
fn a_signal_is_handed_to_the_command_once_and_the_server_ends_after_it() {
    let script = "trap 'echo told; psql -Atc \"SELECT 1\"; exit 3' TERM; echo started; \
                  while :; do sleep 0.02; done";
    let started = Started::new(script);
    started.send(Signal::TERM);
    let (code, rest, server) = started.end();
    assert_eq!((code, rest.as_str()), (Some(3), "told\n1\n"));
    assert!(server.has_gone(), "{server:?}");
}

#[test]
fn an_interrupted_command_takes_its_server_and_its_own_children_with_it() {
    let started = Started::new("(sleep 30; echo survived) & echo started; wait");
    started.send(Signal::INT);
    // A shell's background children ignore an interrupt, and would keep the output open.
    started.send(Signal::TERM);
    let (code, rest, server) = started.end();
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
    assert_eq!(rest, "");
    assert!(server.has_gone(), "{server:?}");
}

#[test]
fn a_killed_xtask_leaves_no_server_and_no_folder() {
    let mut started = Started::new("echo started; cat");
    started.send(Signal::KILL);
    started.process.wait().unwrap();
    let give_up = Instant::now() + Duration::from_secs(30);
    while !started.server.has_gone() {
        assert!(Instant::now() < give_up, "{:?} is still there", started.server);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_log_is_kept_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("server.log");
    let output = with_pg(&["--keep-log", log.to_str().unwrap()], "exit 0").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("ready to accept connections"), "{text}");
}

#[test]
fn a_folder_without_server_programs_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let output = with_pg(&[], "exit 0").env("PG_BIN", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("PG_BIN") && errors.contains(folder.path().to_str().unwrap()), "{errors}");
}
