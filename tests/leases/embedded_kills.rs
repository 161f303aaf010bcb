//! Workers on one SQLite file, killed at instants of all sorts while they save: the file stays whole,
//! every save that was told of is there, and no half of one is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Row as _};
use tokio::runtime::{Builder, Runtime};

use crate::support::{Folder, PATIENCE, Program, Started, supplier};

const SUPPLIERS: usize = 2_000;
const KILLS: u64 = 200;

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

    /// Suppliers that are to be set up.
    fn submit(&self, suppliers: usize) {
        let records: Vec<String> = (0..suppliers).map(|number| supplier(&format!("K-{number:04}"))).collect();
        let file = self.folder.write("suppliers.ndjson", records.join("\n"));
        self.program().args(["submit", "--migrate"]).file(&file).end().expect_code(0);
    }

    fn number(&self, sql: &'static str) -> usize {
        self.rows(sql)[0].parse().unwrap()
    }

    /// All are set up, each phase with its one receipt.
    fn is_done(&self, suppliers: usize) {
        let completed = "SELECT CAST(count(*) AS TEXT) FROM lease_runs WHERE status = 'completed'";
        assert_eq!(self.number(completed), suppliers);
        assert_eq!(self.number("SELECT CAST(count(*) AS TEXT) FROM lease_receipts"), suppliers * 3);
        // FENCE-UP: each number was given out once, and none is missing.
        let numbers = "SELECT r.key FROM lease_runs r WHERE r.fence <>
            (SELECT count(*) FROM lease_attempts a WHERE a.run_id = r.id AND a.fence BETWEEN 1 AND r.fence)";
        assert_eq!(self.rows(numbers), [""; 0], "FENCE-UP");
        // TRUTH: the attempt that saved the last phase completed the run, and no other did.
        let completers = "SELECT r.key FROM lease_runs r JOIN lease_attempts a ON a.run_id = r.id
            WHERE (a.outcome IS 'completed') <> (a.fence = r.phase_fence)";
        assert_eq!(self.rows(completers), [""; 0], "TRUTH");
        let falling = "SELECT t.run_id FROM lease_receipts t
            JOIN lease_receipts u ON u.run_id = t.run_id AND u.saved_us > t.saved_us AND u.fence < t.fence";
        assert_eq!(self.rows(falling), [""; 0], "ONE-RECEIPT");
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

const WORK: [&str; 10] =
    ["--json", "work", "--concurrency", "4", "--ttl", "600ms", "--poll", "50ms", "--loss-limit", "1000"];

/// ALL-OR-NOTHING, ONE-RECEIPT, RESUME.
#[test]
fn all_or_nothing_a_file_whose_workers_are_killed_at_any_instant_loses_nothing_that_was_told() {
    let file = File::new();
    file.submit(SUPPLIERS);
    let mut told = BTreeMap::new();
    for kill in 0..KILLS {
        let mut worker = file.program().args(WORK).start();
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
    // On a busy machine a lease of this length may be lost, and is then claimed again.
    let drained = file.program().args(WORK).args(["--drain"]).end();
    assert!(matches!(drained.code, Some(0 | 75)), "{drained:?}");
    file.is_whole(&told);
    file.is_done(SUPPLIERS);
}

/// ONE-HOLDER, ONE-RECEIPT, LIVENESS. Four workers, of which two are killed again and again while all
/// work on the same file; none ever tells its user of a locked database.
#[test]
fn one_holder_four_workers_on_one_file_of_which_two_keep_being_killed_set_up_a_thousand_suppliers() {
    const CROWD: usize = 1_000;
    let file = File::new();
    file.submit(CROWD);
    let worker = |place: usize, life: u64| {
        // Written to files: a pipe that nobody reads would hold a worker up.
        let results = file.folder.write(&format!("worker-{place}-{life}"), "");
        let name = format!("w{place}-{life}");
        let started = file.program().args(WORK).args(["--name", &name]);
        (started.results_to(&results.display().to_string()).start(), results)
    };
    let mut workers: Vec<_> = (0..4).map(|place| worker(place, 0)).collect();
    let mut ended = Vec::new();
    let mut kills = 0;
    let open = "SELECT CAST(count(*) AS TEXT) FROM lease_runs WHERE status = 'open'";
    let (mut left, mut give_up) = (CROWD, Instant::now() + PATIENCE);
    loop {
        let still = file.number(open);
        if still == 0 {
            break;
        }
        // However long all of them take on a busy machine, there is always a next one done.
        if still < left {
            (left, give_up) = (still, Instant::now() + PATIENCE);
        }
        assert!(Instant::now() < give_up, "{still} runs are still open");
        // Not in step with anything the workers do; the same spread each time.
        thread::sleep(Duration::from_millis(60 + (kills * 89) % 211));
        kills += 1;
        let place = usize::from(kills % 2 == 0);
        let (mut killed, results) = std::mem::replace(&mut workers[place], worker(place, kills));
        assert!(killed.runs(), "a worker ended by itself: {:?}", killed.end());
        killed.signal(Signal::KILL);
        ended.push((killed, results));
    }
    for (mut running, results) in workers {
        running.signal(Signal::TERM);
        ended.push((running, results));
    }
    for (worker, results) in ended {
        let said = Started::end(worker).stderr + &std::fs::read_to_string(results).unwrap();
        // SQLite's own words; a worker that was "blocked" on a busy machine is another matter.
        assert!(!said.contains(" is locked"), "{said}");
    }
    assert!(kills > 5, "the work was over after {kills} kills");
    file.is_whole(&BTreeMap::new());
    file.is_done(CROWD);
}
