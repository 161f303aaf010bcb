//! A private PostgreSQL: its own data in a scratch folder, a Unix socket and a free loopback port,
//! and an end that comes whatever happens.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::chore::{Failure, must};
use crate::programs;
use crate::unprivileged::RunAs;

/// How careful the server is with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// As in production: commits are flushed.
    Durable,
    /// Nothing is flushed: for tests, whose data nobody needs after a crash of the machine.
    Scratch,
}

/// A running server. Dropping it ends the server and removes its data.
#[derive(Debug)]
pub(crate) struct PrivateServer {
    process: Child,
    bin: PathBuf,
    port: u16,
    #[expect(dead_code, reason = "held for its drop, which removes the data")]
    folder: TempDir,
}

/// How long the server may take to start, and to stop when asked nicely.
const PATIENCE: Duration = Duration::from_secs(60);

impl PrivateServer {
    /// Makes its data and starts it.
    pub(crate) fn start(care: Care) -> Result<Self, Failure> {
        let bin = programs::find()?;
        let run_as = RunAs::choose()?;
        let folder = tempfile::Builder::new()
            .prefix("private-pg-")
            .tempdir()
            .map_err(Failure::system("cannot make a scratch folder"))?;
        run_as.give(folder.path())?;
        let data = folder.path().join("data");
        let mut initdb = Command::new(bin.join("initdb"));
        initdb.args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
        ]);
        initdb.arg(&data).current_dir(folder.path()).stdout(Stdio::null());
        run_as.apply(&mut initdb);
        must(&mut initdb)?;

        let log = folder.path().join("log");
        // A port can be taken by somebody else between being found free and being used.
        const TRIES: u32 = 5;
        for _ in 0..TRIES {
            let port = free_port()?;
            let mut process = Self::spawn(&bin, run_as, &folder, port, care)?;
            if is_ready(&mut process, &data)? {
                return Ok(Self { process, bin, port, folder });
            }
        }
        Err(Failure::ServerDidNotStart { log: tail(&log) })
    }

    fn spawn(bin: &Path, run_as: RunAs, folder: &TempDir, port: u16, care: Care) -> Result<Child, Failure> {
        let log = folder.path().join("log");
        let out = File::create(&log).map_err(Failure::path(&log))?;
        let err = out.try_clone().map_err(Failure::path(&log))?;
        let mut server = ending_with_us(&bin.join("postgres"));
        server.arg("-D").arg(folder.path().join("data")).arg("-k").arg(folder.path());
        server.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        let flush = if care == Care::Durable { "on" } else { "off" };
        let mut settings = vec![
            format!("fsync={flush}"),
            format!("full_page_writes={flush}"),
            "max_connections=300".to_owned(),
            "shared_buffers=256MB".to_owned(),
            "logging_collector=off".to_owned(),
            "timezone=UTC".to_owned(),
        ];
        if has_statement_statistics(bin) {
            settings.push("shared_preload_libraries=pg_stat_statements".to_owned());
        }
        for setting in settings {
            server.arg("-c").arg(setting);
        }
        // A group of its own: Ctrl-C on the terminal is for the command, not for its server.
        server.current_dir(folder.path()).stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        run_as.apply(&mut server);
        server.spawn().map_err(|source| Failure::Run { program: "postgres".to_owned(), source })
    }

    /// The URL of its maintenance database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Tells a command how to reach it.
    pub(crate) fn tell(&self, command: &mut Command) {
        command
            .env("DATABASE_URL", self.url())
            .env("PG_BIN", &self.bin)
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", "postgres")
            .env_remove("PGPASSWORD")
            .env_remove("PGSERVICE");
    }
}

impl Drop for PrivateServer {
    /// Asks for a fast shutdown, then for an immediate one, then ends it.
    fn drop(&mut self) {
        for (signal, patience) in
            [(Signal::INT, PATIENCE), (Signal::QUIT, PATIENCE), (Signal::KILL, PATIENCE)]
        {
            if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
                // An error means that it has ended already, which the wait finds out.
                let _sent = kill_process(pid, signal);
            }
            if ends_within(&mut self.process, patience) {
                return;
            }
        }
        eprintln!("xtask: the private PostgreSQL (process {}) did not end", self.process.id());
    }
}

/// A command that is told to end when this process dies, where the system has a tool for it: the
/// last resort against a SIGKILL of this process.
fn ending_with_us(program: &Path) -> Command {
    let setpriv = Path::new("/usr/bin/setpriv");
    if cfg!(target_os = "linux") && setpriv.is_file() {
        let mut command = Command::new(setpriv);
        command.args(["--pdeathsig", "INT", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn free_port() -> Result<u16, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Failure::system("no free port"))?;
    Ok(listener.local_addr().map_err(Failure::system("no free port"))?.port())
}

/// Whether the server accepts connections; `false` if it has ended instead.
fn is_ready(process: &mut Child, data: &Path) -> Result<bool, Failure> {
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        if process.try_wait().map_err(Failure::system("cannot wait for postgres"))?.is_some() {
            return Ok(false);
        }
        // The server says so itself, in the eighth line of this file.
        let status = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        if status.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(false)
}

fn ends_within(process: &mut Child, patience: Duration) -> bool {
    let give_up = Instant::now() + patience;
    while Instant::now() < give_up {
        match process.try_wait() {
            Ok(Some(_)) | Err(_) => return true,
            Ok(None) => thread::sleep(Duration::from_millis(20)),
        }
    }
    false
}

fn has_statement_statistics(bin: &Path) -> bool {
    let asked = Command::new(bin.join("pg_config")).arg("--pkglibdir").output();
    asked.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Path::new(&folder).join("pg_stat_statements.so").is_file()
    })
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
