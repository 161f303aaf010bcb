//! A private PostgreSQL: its own data in a scratch folder, a Unix socket and a free loopback port, and an
//! end that comes whatever happens to the process that started it.
//!
//! Whoever is on this machine can log in while it runs, with no password: it is for scratch data and for
//! machines whose users trust each other.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::chore::Failure;
use crate::programs;
use crate::scratch::Scratch;
use crate::unprivileged::RunAs;

/// How careful the server is with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// As in production: commits are flushed.
    Durable,
    /// Nothing is flushed: for tests, whose data nobody needs after a crash of the machine.
    Scratch,
}

/// How to start a server.
#[derive(Debug)]
pub(crate) struct Options {
    /// Whether it flushes.
    pub(crate) care: Care,
    /// The folder of the server programs; without one they are looked for.
    pub(crate) programs: Option<PathBuf>,
    /// A file for its log; without one the log goes away with the data.
    pub(crate) log: Option<PathBuf>,
}

/// A running server. Dropping it ends the server and removes its data.
#[derive(Debug)]
pub(crate) struct PrivateServer {
    process: Child,
    bin: PathBuf,
    port: u16,
    run_as: RunAs,
    care: Care,
    log: PathBuf,
    /// Variables of its environment.
    variables: Vec<(&'static str, OsString)>,
    // After the process, so that the data go when the server has gone.
    scratch: Scratch,
}

/// How long the server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(10);

impl PrivateServer {
    /// Makes its data and starts it.
    pub(crate) fn start(options: &Options) -> Result<Self, Failure> {
        Self::start_with(options, Vec::new())
    }

    /// The same, with these variables in its environment.
    pub(crate) fn start_with(
        options: &Options,
        variables: Vec<(&'static str, OsString)>,
    ) -> Result<Self, Failure> {
        let bin = match &options.programs {
            Some(bin) => bin.clone(),
            None => programs::find()?,
        };
        let run_as = RunAs::choose()?;
        let scratch = Scratch::new(run_as)?;
        let bin = if run_as.reaches(&bin) { bin } else { scratch.copy_of(&bin)? };
        make_data(&bin, run_as, &scratch)?;
        let log = options.log.clone().unwrap_or_else(|| scratch.path().join("log"));
        File::create(&log).map_err(Failure::path(&log))?;
        let port = free_port()?;
        let start = Start { bin: &bin, run_as, scratch: &scratch, care: options.care, log: &log };
        let process = start.spawn(port, &variables)?;
        let mut server = Self { process, bin, port, run_as, care: options.care, log, variables, scratch };
        // A port can be taken by somebody else between being found free and being used.
        const TRIES: u32 = 5;
        for _ in 1..TRIES {
            if server.is_ready()? {
                return Ok(server);
            }
            server.port = free_port()?;
            server.process = server.spawn()?;
        }
        server.must_be_ready()?;
        Ok(server)
    }

    /// Ends it as a crash does: at once, with nothing put in order.
    pub(crate) fn crash(&mut self) -> Result<(), Failure> {
        let server = Pid::from_child(&self.process);
        let cannot = |error: rustix::io::Errno| Failure::System {
            doing: "cannot crash postgres",
            source: error.into(),
        };
        kill_process(server, Signal::QUIT).map_err(cannot)?;
        const BY_ITSELF: Duration = Duration::from_secs(8);
        if self.ends_within(BY_ITSELF) {
            return Ok(());
        }
        // A library put under it may not bear a signal at every moment. Its processes have sessions of
        // their own, so each is named.
        let children = format!("/proc/{0}/task/{0}/children", self.process.id());
        let children = fs::read_to_string(children).unwrap_or_default();
        for pid in
            children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).chain([server])
        {
            // An error means that it has ended already.
            let _sent = kill_process(pid, Signal::KILL);
        }
        if self.ends_within(PATIENCE) {
            return Ok(());
        }
        let late = io::Error::new(io::ErrorKind::TimedOut, format!("still there after {PATIENCE:?}"));
        Err(Failure::System { doing: "cannot crash postgres", source: late })
    }

    /// Starts it again after a crash, on the same data and port.
    pub(crate) fn restart(&mut self) -> Result<(), Failure> {
        self.process = self.spawn()?;
        self.must_be_ready()
    }

    fn spawn(&self) -> Result<Child, Failure> {
        let (bin, scratch, log) = (&self.bin, &self.scratch, &self.log);
        let start = Start { bin, run_as: self.run_as, scratch, care: self.care, log };
        start.spawn(self.port, &self.variables)
    }

    fn must_be_ready(&mut self) -> Result<(), Failure> {
        if self.is_ready()? {
            return Ok(());
        }
        Err(Failure::ServerDidNotStart { log: tail(&self.log) })
    }

    /// Whether it accepts connections; `false` if it has ended instead.
    fn is_ready(&mut self) -> Result<bool, Failure> {
        let state = self.scratch.data().join("postmaster.pid");
        let give_up = Instant::now() + PATIENCE;
        while Instant::now() < give_up {
            if self.process.try_wait().map_err(Failure::system("cannot wait for postgres"))?.is_some() {
                return Ok(false);
            }
            // The server says so itself, in the eighth line of this file.
            let said = fs::read_to_string(&state).unwrap_or_default();
            if said.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return Ok(true);
            }
            thread::sleep(GLANCE);
        }
        let late = io::Error::new(io::ErrorKind::TimedOut, format!("not ready after {PATIENCE:?}"));
        Err(Failure::System { doing: "cannot start postgres", source: late })
    }

    /// The URL of its maintenance database.
    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The URL of one of its databases, which has a plain name.
    pub(crate) fn url_of(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}", self.address())
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Tells a command how to reach it, and nothing of any other server. Its programs are the last on the
    /// PATH, for those that are on it nowhere else.
    pub(crate) fn tell(&self, command: &mut Command) {
        forget_other_servers(command);
        let path = env::var_os("PATH").unwrap_or_default();
        let places = env::split_paths(&path).chain([self.bin.clone()]);
        if let Ok(path) = env::join_paths(places) {
            command.env("PATH", path);
        }
        command
            .env("DATABASE_URL", self.url())
            .env("PG_BIN", &self.bin)
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", "postgres");
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let give_up = Instant::now() + patience;
        while Instant::now() < give_up {
            match self.process.try_wait() {
                Ok(Some(_)) | Err(_) => return true,
                Ok(None) => thread::sleep(GLANCE),
            }
        }
        false
    }
}

impl Drop for PrivateServer {
    /// At once: nobody needs its data any more.
    fn drop(&mut self) {
        for signal in [Signal::QUIT, Signal::KILL] {
            // Once it has been waited for, its number may be somebody else's.
            if self.ends_within(GLANCE) {
                return;
            }
            // An error means that it has ended already, which the wait finds out.
            let _sent = kill_process(Pid::from_child(&self.process), signal);
            if self.ends_within(PATIENCE) {
                return;
            }
        }
        eprintln!("xtask: the private PostgreSQL (process {}) did not end", self.process.id());
    }
}

fn make_data(bin: &Path, run_as: RunAs, scratch: &Scratch) -> Result<(), Failure> {
    let mut initdb = server_program(bin, "initdb", run_as, scratch);
    initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
    let output = initdb
        .arg(scratch.data())
        .output()
        .map_err(|source| Failure::Run { program: "initdb".to_owned(), source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::ServerDidNotStart { log: String::from_utf8_lossy(&output.stderr).trim_end().to_owned() })
}

/// What starts a server on data that are there.
struct Start<'s> {
    bin: &'s Path,
    run_as: RunAs,
    scratch: &'s Scratch,
    care: Care,
    log: &'s Path,
}

impl Start<'_> {
    fn spawn(&self, port: u16, variables: &[(&'static str, OsString)]) -> Result<Child, Failure> {
        let mut server = server_program(self.bin, "postgres", self.run_as, self.scratch);
        server.arg("-D").arg(self.scratch.data()).arg("-k").arg(self.scratch.path());
        server.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        for setting in settings(self.care, has_statement_statistics(self.bin)) {
            server.arg("-c").arg(setting);
        }
        for (name, value) in variables {
            server.env(name, value);
        }
        let log = || File::options().append(true).open(self.log).map_err(Failure::path(self.log));
        server.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
        server.spawn().map_err(|source| Failure::Run { program: "postgres".to_owned(), source })
    }
}

fn settings(care: Care, statement_statistics: bool) -> Vec<&'static str> {
    let mut settings =
        vec!["max_connections=200", "shared_buffers=256MB", "logging_collector=off", "timezone=UTC"];
    match care {
        Care::Durable => {}
        Care::Scratch => settings.extend(["fsync=off", "full_page_writes=off"]),
    }
    if statement_statistics {
        settings.push("shared_preload_libraries=pg_stat_statements");
    }
    settings
}

/// One of the server's programs, for its user and in its folder, with nothing of ours that could mislead
/// it, and in a group of its own: Ctrl-C on the terminal is for the command, not for its server.
fn server_program(bin: &Path, name: &str, run_as: RunAs, scratch: &Scratch) -> Command {
    let mut program = Command::new(bin.join(name));
    program.current_dir(scratch.path()).env("LC_ALL", "C").process_group(0);
    forget_other_servers(&mut program);
    run_as.apply(&mut program);
    program
}

/// Takes away the variables by which PostgreSQL's programs find a server, such as `PGSERVICE`.
fn forget_other_servers(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("PG") && !name.starts_with("PG_")) {
            command.env_remove(&name);
        }
    }
}

fn free_port() -> Result<u16, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Failure::system("no free port"))?;
    Ok(listener.local_addr().map_err(Failure::system("no free port"))?.port())
}

fn has_statement_statistics(bin: &Path) -> bool {
    let asked = Command::new(bin.join("pg_config")).arg("--pkglibdir").output();
    asked.is_ok_and(|output| {
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        ["so", "dylib"]
            .iter()
            .any(|suffix| folder.join("pg_stat_statements").with_extension(suffix).is_file())
    })
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
