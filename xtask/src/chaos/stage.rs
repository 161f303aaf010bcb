//! Where a chaos run takes place: a private PostgreSQL with a pooler beside it and a clock that can be moved,
//! or one SQLite file.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::chore::{Failure, must};
use crate::server::{Care, Options, PrivateServer};
use crate::unprivileged::RunAs;

use super::workers::product;

/// The pooler's modes, with its ports in this order.
const MODES: [&str; 2] = ["session", "transaction"];

/// Where the workers' database is.
#[derive(Debug)]
pub(super) enum Stage {
    Postgres(Box<Postgres>),
    Sqlite { file: PathBuf },
}

/// A private server and its surroundings.
#[derive(Debug)]
pub(super) struct Postgres {
    pub(super) server: PrivateServer,
    /// The file that says how far the server's clock is ahead.
    clock: PathBuf,
    poolers: Vec<(Child, u16)>,
}

const DATABASE: &str = "chaos";

/// How long, in seconds, until all of the server's processes know how far their clock is to be ahead: each
/// looks once in every second.
const CLOCK_IS_READ_AFTER: &str = "1.1";

impl Stage {
    /// A server of its own. `folder` is for its clock and log, and for the poolers.
    pub(super) fn postgres(folder: &Path) -> Result<Self, Failure> {
        let library = faketime()?;
        // Written by this process, read by the server's user.
        let clock = folder.join("clock");
        fs::write(&clock, "+0").map_err(Failure::path(&clock))?;
        readable(folder)?;
        let variables: Vec<(&str, OsString)> = vec![
            ("LD_PRELOAD", library.into()),
            ("FAKETIME_TIMESTAMP_FILE", clock.clone().into()),
            ("FAKETIME_CACHE_DURATION", "0".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ];
        let options = Options { care: Care::Scratch, programs: None, log: Some(folder.join("server.log")) };
        let server = PrivateServer::start_with(&options, variables)?;
        let mut stage = Postgres { server, clock, poolers: Vec::new() };
        stage.script("postgres", "CREATE DATABASE chaos; CREATE ROLE pooled LOGIN SUPERUSER;")?;
        // What the pooler does not hand on comes from the role.
        stage.script(
            "postgres",
            "ALTER ROLE pooled SET search_path = pg_catalog, pg_temp;
             ALTER ROLE pooled SET statement_timeout = '900ms'; ALTER ROLE pooled SET lock_timeout = '600ms';
             ALTER ROLE pooled SET idle_in_transaction_session_timeout = '900ms';
             ALTER ROLE pooled SET jit = off; ALTER ROLE pooled SET enable_seqscan = off;
             ALTER ROLE pooled SET plan_cache_mode = force_generic_plan; ALTER ROLE pooled SET timezone = 'UTC';",
        )?;
        for mode in MODES {
            let pooler = pooler(folder, mode, stage.server.address())?;
            stage.poolers.push(pooler);
        }
        Ok(Self::Postgres(Box::new(stage)))
    }

    /// Where the program connects to, with nothing in between.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Postgres(postgres) => postgres.server.url_of(DATABASE),
            Self::Sqlite { file } => format!("sqlite://{}", file.display()),
        }
    }

    /// Runs a script with psql or sqlite3, and says what it printed.
    pub(super) fn script(&self, script: &str) -> Result<String, Failure> {
        match self {
            Self::Postgres(postgres) => postgres.script(DATABASE, script),
            Self::Sqlite { file } => {
                let mut sqlite3 = Command::new("sqlite3");
                sqlite3.args(["-bail", "-batch", "-cmd", ".timeout 20000"]).arg(file);
                fed(&mut sqlite3, script)
            }
        }
    }

    /// Puts the audit trail beside the product's tables.
    pub(super) fn audit(&self) -> Result<(), Failure> {
        let script = match self {
            Self::Postgres(_) => include_str!("audit_postgres.sql"),
            Self::Sqlite { .. } => include_str!("audit_sqlite.sql"),
        };
        self.script(script).map(drop)
    }

    /// Writes what is there at the end into files of JSON lines.
    pub(super) fn dump(&self, folder: &Path) -> Result<(), Failure> {
        for (name, table) in TABLES {
            let rows = match self {
                Self::Postgres(_) if name == "trail" => {
                    self.script("SELECT to_jsonb(t) FROM audit.trail t ORDER BY seq;")?
                }
                Self::Postgres(_) => {
                    self.script(&format!("SELECT audit.shown(to_jsonb(t)) FROM {table} t;"))?
                }
                Self::Sqlite { .. } if name == "trail" => self.script(
                    "SELECT json_object('at_us', at_us, 'tbl', tbl, 'old', json(old), 'new', json(new))
                     FROM audit_trail ORDER BY seq;",
                )?,
                Self::Sqlite { .. } => self.script(&sqlite_rows(name, table))?,
            };
            let path = folder.join(format!("{name}.jsonl"));
            fs::write(&path, rows).map_err(Failure::path(&path))?;
        }
        Ok(())
    }
}

/// The tables, by the name of their file.
const TABLES: [(&str, &str); 6] = [
    ("trail", "audit.trail"),
    ("runs", "lease.runs"),
    ("receipts", "lease.receipts"),
    ("attempts", "lease.attempts"),
    ("setups", "supplier.setups"),
    ("purchase_accounts", "supplier.purchase_accounts"),
];

fn sqlite_rows(name: &str, table: &str) -> String {
    let columns = match name {
        "runs" => {
            "'id', id, 'key', key, 'status', status, 'phase', phase, 'fence', fence, 'owner', owner, 'losses', losses,
             'lease_expires_us', lease_expires_us, 'lease_ended', lease_ended, 'phases', json(phases)"
        }
        "receipts" => "'run_id', run_id, 'phase', phase, 'fence', fence, 'saved_us', saved_us",
        "attempts" => {
            "'run_id', run_id, 'fence', fence, 'owner', owner, 'from_phase', from_phase, 'outcome', outcome,
             'reason', json(reason)"
        }
        _ => "'run_id', run_id, 'fence', fence",
    };
    format!("SELECT json_object({columns}) FROM {};", table.replace('.', "_"))
}

impl Postgres {
    fn script(&self, database: &str, script: &str) -> Result<String, Failure> {
        let mut psql = Command::new("psql");
        self.server.tell(&mut psql);
        psql.env("PGDATABASE", database).env("PGCONNECT_TIMEOUT", "10");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        fed(psql.arg("--file=-"), script)
    }

    /// Where a pooler of this mode listens.
    pub(super) fn pooler(&self, mode: &str) -> Option<SocketAddr> {
        let at = MODES.iter().position(|known| *known == mode)?;
        Some((Ipv4Addr::LOCALHOST, self.poolers.get(at)?.1).into())
    }

    /// Moves the server's clock to so many milliseconds ahead of the machine's. No statement is at work on a
    /// run until all processes know, so that every line of the trail lies on one side of the step.
    pub(super) fn move_clock(&self, ahead_ms: i64) -> Result<(), Failure> {
        let seconds = format!(
            "{}{}.{:03}",
            if ahead_ms < 0 { '-' } else { '+' },
            ahead_ms.abs() / 1_000,
            ahead_ms.abs() % 1_000
        );
        let script = format!(
            "BEGIN; LOCK TABLE lease.runs IN EXCLUSIVE MODE;
             \\! printf '%s' '{seconds}' > '{clock}'; sleep {CLOCK_IS_READ_AFTER}
             INSERT INTO audit.trail (at_us, tbl, new) VALUES (0, 'mark', '{{\"offset_us\": {offset}}}'); COMMIT;",
            clock = self.clock.display(),
            offset = ahead_ms * 1_000,
        );
        self.script(DATABASE, &script).map(drop)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        for (pooler, _) in &mut self.poolers {
            // It may have ended by itself.
            let _killed = pooler.kill();
            let _ended = pooler.wait();
        }
    }
}

/// A pooler before the server.
fn pooler(folder: &Path, mode: &str, server: SocketAddr) -> Result<(Child, u16), Failure> {
    let cannot = || Failure::system("no free port");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot())?;
    let port = listener.local_addr().map_err(cannot())?.port();
    drop(listener);
    let settings = format!(
        "[databases]\n* = host={host} port={server_port} user=pooled\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nauth_type = any\npool_mode = {mode}\nunix_socket_dir =\nmax_client_conn = 200\n\
         default_pool_size = 30\nserver_login_retry = 1\nignore_startup_parameters = extra_float_digits,options\n",
        host = server.ip(),
        server_port = server.port(),
    );
    let file = folder.join(format!("pooler-{mode}.ini"));
    fs::write(&file, settings).map_err(Failure::path(&file))?;
    let log = folder.join(format!("pooler-{mode}.log"));
    let log = fs::File::create(&log).map_err(Failure::path(&log))?;
    let mut pgbouncer = Command::new(found("pgbouncer")?);
    pgbouncer.arg(&file).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    RunAs::choose()?.apply(&mut pgbouncer);
    let child =
        pgbouncer.spawn().map_err(|source| Failure::Run { program: "pgbouncer".to_owned(), source })?;
    let give_up = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if Instant::now() >= give_up {
            return Err(Failure::NotMeasured(format!("the pooler in {mode} mode does not listen")));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok((child, port))
}

/// Runs the program's `list` through the pooler in transaction mode, whose prepared statements get mixed up
/// in this version, until it is refused; says what was said.
pub(super) fn refused_by_pooler(postgres: &Postgres, program: &Path) -> Result<Option<String>, Failure> {
    let Some(address) = postgres.pooler("transaction") else { return Ok(None) };
    let url = format!("postgres://postgres@{address}/{DATABASE}?sslmode=disable");
    for _ in 0..3 {
        let mut list = product(program, &url);
        let output = list.args(["list", "--limit", "1"]).output();
        let output =
            output.map_err(|source| Failure::Run { program: program.display().to_string(), source })?;
        if !output.status.success() {
            return Ok(Some(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
    }
    Ok(None)
}

/// Runs a program that has to succeed, with this as its input.
fn fed(command: &mut Command, input: &str) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot = |source| Failure::Run { program: program.clone(), source };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends before it has read everything says why.
        let _written = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(cannot)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::NotMeasured(format!("{program}: {said}")))
}

/// Where a program is that has to be installed.
pub(super) fn found(name: &str) -> Result<PathBuf, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    places.map(|place| place.join(name)).find(|file| file.is_file()).ok_or_else(|| {
        Failure::NotMeasured(format!(
            "{name} is not installed: install it (Debian: apt-get install {name}), or use --install"
        ))
    })
}

/// libfaketime's library.
fn faketime() -> Result<PathBuf, Failure> {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let places = folders.chain(["/usr/lib".into(), "/usr/local/lib".into()]);
    let library = places.map(|place| place.join("faketime/libfaketime.so.1")).find(|file| file.is_file());
    library.ok_or_else(|| {
        let what = "libfaketime is not installed: install it (Debian: apt-get install libfaketime), or use --install";
        Failure::NotMeasured(what.to_owned())
    })
}

/// Lets the server's user look into a folder.
fn readable(folder: &Path) -> Result<(), Failure> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).map_err(Failure::path(folder))?;
    must(Command::new("test").arg("-r").arg(folder))
}
