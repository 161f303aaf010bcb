//! Without a database URL, runs are kept in a file in the user's data folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Folder, Program, example, supplier};

fn program(folder: &Folder) -> Program {
    Program::new().env("XDG_DATA_HOME", folder.path("").to_str().unwrap())
}

#[test]
fn the_main_job_needs_no_server_and_says_once_where_its_runs_are() {
    let folder = Folder::new();
    let run = || program(&folder).args(["run"]).file(&example("suppliers.csv")).end().expect_code(0);
    let first = run().expect_told("supplier-setup/runs.db");
    assert!(first.stdout.ends_with("40 suppliers: 40 completed here\n"), "{}", first.stdout);
    for name in ["runs.db", "runs.db-wal"] {
        let mode =
            |path: &std::path::Path| fs::metadata(path).ok().map(|file| file.permissions().mode() & 0o777);
        let found = mode(&folder.path("supplier-setup").join(name));
        assert!(matches!(found, None | Some(0o600)), "{name} is open to others: {found:?}");
    }
    let second = run();
    assert!(
        second.stdout.ends_with("40 suppliers: nothing to do, all completed before\n"),
        "{}",
        second.stdout
    );
    assert!(!second.stderr.contains("runs.db"), "{}", second.stderr);
    let listed =
        program(&folder).args(["--json", "list", "--status", "completed"]).end().expect_code(0).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 40);
    let shown = program(&folder).args(["--json", "show", "S-1001"]).end().expect_code(0).json();
    let phases: Vec<_> =
        shown["receipts"].as_array().unwrap().iter().map(|receipt| &receipt["phase"]).collect();
    assert_eq!(phases, ["validated", "registered", "purchasing_enabled"]);
}

#[test]
fn a_file_that_is_named_is_made_by_migrate_and_by_nothing_else() {
    let folder = Folder::new();
    let url = format!("sqlite://{}", folder.path("ours.db").display());
    let at = |args: &[&str]| Program::new().env("DATABASE_URL", &url).args(args.iter().copied()).end();
    at(&["list"]).expect_code(69).expect_told("there is no such file").expect_told("supplier-setup migrate");
    at(&["migrate", "--check"]).expect_code(69);
    assert!(!folder.path("ours.db").exists());
    at(&["migrate"]).expect_code(0);
    at(&["migrate", "--check"]).expect_code(0);
    at(&["list"]).expect_code(0);
    fs::write(folder.path("ours.db"), "a letter, and no database at all; ".repeat(100)).unwrap();
    at(&["list"]).expect_code(69).expect_told("is not a SQLite database");
}

/// Several workers on one file: each run is completed once, and nobody hears of a busy file.
#[test]
fn four_workers_share_one_file() {
    let folder = Folder::new();
    let records: Vec<String> = (0..120).map(|number| supplier(&format!("K-{number:03}"))).collect();
    let file = folder.write("suppliers.ndjson", records.join("\n"));
    program(&folder).args(["submit"]).file(&file).end().expect_code(0);
    let workers: Vec<_> =
        (0..4).map(|_| program(&folder).args(["work", "--drain", "--poll", "100ms"]).start()).collect();
    let mut completed = 0;
    for worker in workers {
        let ended = worker.end().expect_code(0);
        assert!(!ended.stderr.contains("lock") && !ended.stderr.contains("busy"), "{}", ended.stderr);
        let summary = ended.stdout.lines().last().unwrap().to_owned();
        completed += summary.split(' ').next().unwrap().parse::<u32>().unwrap();
    }
    assert_eq!(completed, 120);
    let listed = program(&folder).args(["--json", "list", "--limit", "1000"]).end().expect_code(0).json();
    for run in listed["runs"].as_array().unwrap() {
        assert_eq!((&run["status"], &run["fence"]), (&"completed".into(), &1.into()), "{run}");
    }
}

#[test]
fn the_demonstration_needs_no_server() {
    let folder = Folder::new();
    let scratch = folder.path("");
    let ended = program(&folder).env("TMPDIR", scratch.to_str().unwrap()).args(["demo"]).end().expect_code(0);
    assert!(ended.stdout.contains("superseded by claim 2 of B#") && ended.stdout.contains("all hold"));
    let left: Vec<_> = fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}
