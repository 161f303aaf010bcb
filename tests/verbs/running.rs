//! `run`, from the quick start to its exit codes.

use serde_json::{Value, json};

use crate::support::{Database, Folder, example};

/// What the tables hold, as the summary of a first show.
fn counts(database: &Database) -> [i64; 5] {
    [
        database.number("SELECT count(*) FROM lease.runs WHERE status = 'completed'"),
        database.number("SELECT count(*) FROM supplier.setups"),
        database.number("SELECT count(*) FROM supplier.purchase_accounts"),
        database.number("SELECT count(*) FROM lease.receipts"),
        database.number("SELECT count(*) FROM lease.attempts WHERE outcome = 'completed'"),
    ]
}

#[test]
fn the_quick_start_sets_up_40_suppliers_and_a_second_run_changes_nothing() {
    let database = Database::empty();
    let run = || database.program().args(["run", "--migrate"]).file(&example("suppliers.csv")).end();
    let first = run().expect_code(0);
    assert!(first.stdout.ends_with("\n40 suppliers: 40 completed here\n"), "{}", first.stdout);
    assert_eq!(counts(&database), [40, 40, 40, 120, 40]);
    let before = database.rows("SELECT (id, fence, phase) FROM lease.runs ORDER BY id");
    let second = run().expect_code(0);
    assert_eq!(second.stdout, "40 suppliers: nothing to do, all completed before\n");
    assert_eq!(counts(&database), [40, 40, 40, 120, 40]);
    assert_eq!(database.number("SELECT count(*) FROM lease.attempts"), 40);
    assert_eq!(database.rows("SELECT (id, fence, phase) FROM lease.runs ORDER BY id"), before);
    let list = database.program().args(["list", "--status", "completed", "--json"]).end().expect_code(0);
    assert_eq!(list.json()["runs"].as_array().unwrap().len(), 40);
}

#[test]
fn bad_records_are_all_named_and_hold_up_the_good_ones_unless_skipped() {
    let database = Database::migrated();
    let file = example("suppliers-bad.csv");
    let refused = database.program().args(["run"]).file(&file).end().expect_code(65);
    let named = |line: u32, field: &str| format!("{}:{line}: {field}: ", file.display());
    for (line, field) in [(3, "key"), (8, "tax_id"), (14, "bic"), (31, "email"), (35, "legal_name")] {
        assert!(refused.stderr.contains(&named(line, field)), "{line} {field}: {}", refused.stderr);
    }
    assert!(refused.stderr.contains("nothing was submitted"), "{}", refused.stderr);
    assert_eq!(database.number("SELECT count(*) FROM lease.runs"), 0);
    let skipped = database.program().args(["run", "--skip-invalid"]).file(&file).end().expect_code(65);
    assert!(skipped.stdout.ends_with("1 supplier: 1 completed here\n"), "{}", skipped.stdout);
    assert_eq!(database.rows("SELECT key FROM lease.runs WHERE status = 'completed'"), ["B-00"]);
}

#[test]
fn an_unreadable_file_is_bad_input() {
    let database = Database::migrated();
    let ended = database.program().args(["run", "/nowhere/suppliers.csv"]).end().expect_code(65);
    ended.expect_told("/nowhere/suppliers.csv: cannot be read: No such file");
}

#[test]
fn a_key_that_exists_with_other_content_is_named_with_its_run() {
    let database = Database::migrated();
    let folder = Folder::new();
    let file = folder.suppliers(&["A", "B"]);
    database.program().args(["run"]).file(&file).end().expect_code(0);
    let run = database.rows("SELECT id FROM lease.runs WHERE key = 'B'").remove(0);
    let text = std::fs::read_to_string(&file).unwrap().replace("Nordlicht B", "Other B");
    let changed = folder.write("changed.ndjson", text);
    let ended = database.program().args(["run"]).file(&changed).end().expect_code(65);
    let ended = ended.expect_told(&format!("changed.ndjson:2: key: exists with other content: run {run}"));
    assert!(ended.stdout.ends_with("1 supplier: nothing to do, all completed before\n"), "{}", ended.stdout);
}

#[test]
fn a_run_that_fails_ends_with_20_and_says_why() {
    let database = Database::migrated();
    let folder = Folder::new();
    folder.script("no.sh", "echo 'the portal says no' >&2; exit 1");
    let plan = folder.plan("plan.toml", "with-no", 1, &[("asked", "command = [\"./no.sh\"]")]);
    let run = database.program().args(["run", "--plan"]).file(&plan).file(&folder.suppliers(&["A"]));
    let ended = run.end().expect_code(20);
    assert!(ended.stdout.contains("A  failed: step failed at asked: "), "{}", ended.stdout);
    assert!(ended.stdout.contains("the portal says no"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("1 supplier: 0 completed here, 1 failed\n"), "{}", ended.stdout);
    let shown = database.program().args(["show", "A", "--json"]).end().expect_code(0).json();
    let error = &shown["run"]["error"];
    assert_eq!(
        (&error["phase"], &error["kind"], &error["attempts"]),
        (&json!("asked"), &json!("step"), &json!(1))
    );
}

#[test]
fn what_waits_for_a_person_ends_with_21() {
    let database = Database::migrated();
    let folder = Folder::new();
    let plan = folder.plan("plan.toml", "with-approval", 1, &[("approved", "uses = \"approval\"")]);
    let run = || database.program().args(["run", "--plan"]).file(&plan).file(&folder.suppliers(&["A"])).end();
    let ended = run().expect_code(21);
    assert_eq!(
        ended.stdout,
        "A  waits for an approval of approved\n1 supplier: 0 completed here, 1 waiting for an approval\n"
    );
    database.program().args(["pause", "A"]).end().expect_code(0);
    run().expect_code(21);
}

#[test]
fn with_json_every_line_of_a_run_is_an_event_with_every_field() {
    let database = Database::migrated();
    let folder = Folder::new();
    let run = || database.program().args(["--json", "run"]).file(&folder.suppliers(&["A"])).end();
    let events = run().expect_code(0).json_lines();
    let told: Vec<String> = events
        .iter()
        .map(|event| format!("{} {} {}", event["event"], event["phase"], event["outcome"]))
        .collect();
    assert_eq!(
        told,
        [
            r#""claimed" "submitted" null"#,
            r#""phase_saved" "validated" null"#,
            r#""phase_saved" "registered" null"#,
            r#""phase_saved" "purchasing_enabled" null"#,
            r#""attempt_ended" null "completed""#,
            r#""run_ended" null "completed""#,
        ]
    );
    for event in &events {
        let names: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["at", "event", "fence", "key", "outcome", "phase", "reason", "run"]);
        assert_eq!((&event["key"], &event["fence"]), (&json!("A"), &json!(1)));
        assert!(is_instant(&event["at"]), "{event}");
    }
    assert_eq!(run().expect_code(0).stdout, "", "nothing happened, so nothing is told");
}

/// RFC 3339 in UTC with microseconds.
fn is_instant(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.len() == "2025-12-01T04:00:00.000001Z".len() && text.ends_with('Z') && text.as_bytes()[10] == b'T'
}

#[test]
fn a_reader_that_closes_the_pipe_stops_neither_a_list_nor_the_work() {
    let database = Database::migrated();
    let mut run = database.program().args(["run"]).file(&example("suppliers.csv")).start();
    run.close_stdout();
    let ended = run.end().expect_code(0);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert_eq!(counts(&database)[0], 40);
    let mut list = database.program().args(["list"]).start();
    list.close_stdout();
    assert!(!list.end().expect_code(0).stderr.contains("panicked"));
}

#[test]
fn results_that_cannot_be_written_are_an_unexpected_error() {
    let database = Database::migrated();
    let ended = database.program().args(["list"]).results_to("/dev/full").end().expect_code(1);
    ended.expect_told("error: cannot write to standard output: No space left on device");
}
