//! Workers on one SQLite file, killed at instants of all sorts while they save: the file stays whole,
//! every save that was told of is there, and no half of one is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Row as _};
use tokio::runtime::{Builder, Runtime};

use crate::support::{Folder, Program, supplier};

const SUPPLIERS: usize = 600;
const KILLS: u64 = 40;

struct File {
    folder: Folder,
    path: PathBuf,
    runtime: Runtime,
}

impl File {
    fn new() -> Self {
        let folder = Folder::new();
        let path = folder.path("runs.db");
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { folder, path, runtime }
    }

    fn program(&self) -> Program {
        Program::new().env("DATABASE_URL", &format!("sqlite://{}", self.path.display()))
    }

    /// The rows of a query with one column of text.
    fn rows(&self, sql: &'static str) -> Vec<String> {
        self.runtime.block_on(async {
            let options =
                SqliteConnectOptions::new().filename(&self.path).busy_timeout(Duration::from_secs(10));
            let mut connection: SqliteConnection =
                options.disable_statement_logging().connect().await.unwrap();
            let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        })
    }

    /// Everything that has to hold at any time.
    fn is_whole(&self, told: &BTreeMap<(String, String), u64>) {
        assert_eq!(self.rows("PRAGMA integrity_check"), ["ok"]);
        assert_eq!(self.rows("SELECT \"table\" FROM pragma_foreign_key_check"), [""; 0]);
        let halves = "SELECT r.key FROM lease_runs r
            WHERE (SELECT count(*) FROM lease_receipts t WHERE t.run_id = r.id)
                <> CASE r.phase WHEN 'submitted' THEN 0 WHEN 'validated' THEN 1 WHEN 'registered' THEN 2 ELSE 3 END
            OR (r.phase IN ('registered', 'purchasing_enabled')) <> (r.key IN (SELECT key FROM supplier_setups))
            OR (r.phase = 'purchasing_enabled') <> (r.key IN (SELECT key FROM supplier_purchase_accounts))
            OR (r.phase = 'purchasing_enabled') <> (r.status = 'completed')";
        assert_eq!(self.rows(halves), [""; 0], "ALL-OR-NOTHING");
        let there = self.rows("SELECT run_id || ' ' || phase || ' ' || fence FROM lease_receipts");
        for ((run, phase), fence) in told {
            let receipt = format!("{run} {phase} {fence}");
            assert!(there.contains(&receipt), "{receipt} was told of, and is not there");
        }
    }
}

/// ALL-OR-NOTHING, ONE-RECEIPT, RESUME.
#[test]
fn all_or_nothing_a_file_whose_workers_are_killed_at_any_instant_loses_nothing_that_was_told() {
    let file = File::new();
    let records: Vec<String> = (0..SUPPLIERS).map(|number| supplier(&format!("K-{number:03}"))).collect();
    let suppliers = file.folder.write("suppliers.ndjson", records.join("\n"));
    file.program().args(["submit", "--migrate"]).file(&suppliers).end().expect_code(0);
    let work =
        ["--json", "work", "--concurrency", "4", "--ttl", "600ms", "--poll", "50ms", "--loss-limit", "1000"];
    let mut told = BTreeMap::new();
    for kill in 0..KILLS {
        let mut worker = file.program().args(work).start();
        // Spread over the start, the first claims and the saves after them; the same ones each time.
        thread::sleep(Duration::from_millis(20 + (kill * 37) % 101));
        worker.signal(Signal::KILL);
        let ended = worker.end();
        assert_eq!(ended.code, None, "it was killed: {}", ended.stderr);
        // The last line may be cut off.
        for line in ended.stdout.lines() {
            let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
            if event["event"] == "phase_saved" {
                let text = |name: &str| event[name].as_str().unwrap().to_owned();
                told.insert((text("run"), text("phase")), event["fence"].as_u64().unwrap());
            }
        }
        file.is_whole(&told);
    }
    assert!(!told.is_empty(), "no save was ever told of");
    file.program().args(work).args(["--drain"]).end().expect_code(0);
    file.is_whole(&told);
    let completed = file.rows("SELECT CAST(count(*) AS TEXT) FROM lease_runs WHERE status = 'completed'");
    assert_eq!(completed, [SUPPLIERS.to_string()]);
    let receipts = file.rows("SELECT CAST(count(*) AS TEXT) FROM lease_receipts");
    assert_eq!(receipts, [(SUPPLIERS * 3).to_string()]);
}
