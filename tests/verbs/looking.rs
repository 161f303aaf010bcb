//! `list` and `show`: the shapes that scripts rely on.

use serde_json::{Value, json};

use crate::support::{Database, Folder, Program};

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

const LIST_FIELDS: [&str; 11] = [
    "due_at",
    "fence",
    "key",
    "last_outcome",
    "next_phase",
    "paused",
    "phase",
    "plan",
    "plan_version",
    "run",
    "status",
];

#[test]
fn a_list_has_its_fields_and_filters() {
    let database = Database::migrated();
    let folder = Folder::new();
    database.program().args(["run"]).file(&folder.suppliers(&["A"])).end().expect_code(0);
    database.program().args(["submit"]).file(&folder.suppliers(&["B", "C"])).end().expect_code(0);
    database.program().args(["pause", "C"]).end().expect_code(0);
    let list =
        |flags: &[&str]| database.program().args(["list", "--json"]).args(flags).end().expect_code(0).json();
    let all = list(&[]);
    assert_eq!(names(&all), ["runs"]);
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(names(run), LIST_FIELDS);
    }
    let done = &list(&["--key", "A"])["runs"][0];
    assert_eq!((&done["status"], &done["phase"]), (&json!("completed"), &json!("purchasing_enabled")));
    assert_eq!(
        (&done["next_phase"], &done["fence"], &done["last_outcome"]),
        (&Value::Null, &json!(1), &json!("completed"))
    );
    let paused = &list(&["--key", "C"])["runs"][0];
    assert_eq!(
        (&paused["status"], &paused["paused"], &paused["fence"]),
        (&json!("open"), &json!(true), &json!(0))
    );
    assert_eq!((&paused["phase"], &paused["next_phase"]), (&json!("submitted"), &json!("validated")));
    assert_eq!(list(&["--status", "open"])["runs"].as_array().unwrap().len(), 2);
    assert_eq!(list(&["--outcome", "blocked"])["runs"], json!([]));
    let cut = database.program().args(["list", "--limit", "1"]).end().expect_code(0);
    assert_eq!(cut.stdout.lines().count(), 2);
    cut.expect_told("only the first 1 are shown");
    database.program().args(["list", "--status", "done"]).end().expect_code(2);
}

#[test]
fn a_run_is_shown_with_receipts_attempts_and_actions() {
    let database = Database::migrated();
    let folder = Folder::new();
    database.program().args(["submit"]).file(&folder.suppliers(&["A"])).end().expect_code(0);
    let show = || database.program().args(["show", "A", "--json"]).end().expect_code(0).json();
    let fresh = show();
    assert_eq!(names(&fresh), ["actions", "attempts", "receipts", "run"]);
    assert_eq!((&fresh["run"]["fence"], &fresh["run"]["lease"]), (&json!(0), &Value::Null));
    assert_eq!(fresh["run"]["input"]["legal_name"], json!("Nordlicht A"));
    database.program().args(["pause", "A", "--by", "ann", "--reason", "holidays"]).end().expect_code(0);
    database.program().args(["resume", "A"]).end().expect_code(0);
    database.program().args(["work", "--run", "A"]).end().expect_code(0);
    let shown = show();
    let mut fields = LIST_FIELDS.to_vec();
    fields.extend(["error", "input", "lease"]);
    fields.sort_unstable();
    assert_eq!(names(&shown["run"]), fields);
    assert_eq!((&shown["run"]["error"], &shown["run"]["lease"]), (&Value::Null, &Value::Null));
    assert_eq!(shown["receipts"].as_array().unwrap().len(), 3);
    assert_eq!(names(&shown["receipts"][0]), ["body", "fence", "phase", "saved_at"]);
    let attempt = &shown["attempts"][0];
    assert_eq!(
        names(attempt),
        ["claimed_at", "ended_at", "fence", "from_phase", "outcome", "owner", "reason"]
    );
    assert_eq!((&attempt["from_phase"], &attempt["outcome"]), (&json!("submitted"), &json!("completed")));
    let paused = &shown["actions"][0];
    assert_eq!(
        (&paused["action"], &paused["by"], &paused["reason"]),
        (&json!("pause"), &json!("ann"), &json!("holidays"))
    );
    assert_eq!(shown["actions"][1]["by"], json!("tester"));
    let text = database.program().args(["show", "A"]).end().expect_code(0).stdout;
    for part in ["status    completed", "receipts\n", "attempts\n", "actions\n", "holidays"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_lease_is_shown_with_what_is_left_of_it() {
    let database = Database::migrated();
    let folder = Folder::new();
    database.program().args(["submit"]).file(&folder.suppliers(&["A"])).end().expect_code(0);
    let hold = |seconds: i32| {
        database.execute(&format!(
            "UPDATE lease.runs SET fence = 9007199254740993, owner = 'x#1', lease_ended = NULL,
             lease_expires_at = clock_timestamp() + make_interval(secs => {seconds})"
        ));
    };
    let lease = || {
        let shown = database.program().args(["show", "A", "--json"]).end().expect_code(0).json();
        (shown["run"]["lease"].clone(), shown["run"]["fence"].to_string())
    };
    hold(60);
    let (live, fence) = lease();
    assert_eq!(fence, "9007199254740993", "case 11: exact past 2^53");
    assert_eq!((&live["owner"], &live["live"]), (&json!("x#1"), &json!(true)));
    assert!((1..=60_000).contains(&live["expires_in_ms"].as_i64().unwrap()));
    hold(-60);
    let (lapsed, _) = lease();
    assert_eq!(lapsed["live"], json!(false));
    assert!(lapsed["expires_in_ms"].as_i64().unwrap() <= -60_000);
}

#[test]
fn a_run_is_named_by_key_id_or_unique_beginning() {
    let database = Database::migrated();
    let folder = Folder::new();
    database.program().args(["submit"]).file(&folder.suppliers(&["A", "B"])).end().expect_code(0);
    let id = database.rows("SELECT id FROM lease.runs WHERE key = 'A'").remove(0);
    for name in ["A", &id, &id[..id.len() - 1]] {
        let shown = database.program().args(["show", name, "--json"]).end().expect_code(0).json();
        assert_eq!(shown["run"]["run"], json!(id), "{name}");
    }
    database
        .program()
        .args(["show", "Z"])
        .end()
        .expect_code(65)
        .expect_told("there is no run with the id or key \"Z\"");
    let both = database.program().args(["show", &id[..6]]).end().expect_code(65);
    both.expect_told(&id).expect_told("give more of the id");
}

#[test]
fn words_that_filter_a_list_are_named_by_help_and_errors() {
    let help = Program::new().args(["list", "--help"]).end().expect_code(0).stdout;
    for word in ["open", "waiting", "cancelled", "blocked", "superseded"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    Program::new().args(["list", "--outcome", "lost"]).end().expect_code(2).expect_told("blocked");
}
