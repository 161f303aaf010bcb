//! `submit`: what it opens, what it finds, what it refuses.

use serde_json::json;

use crate::support::{Database, Folder, supplier};

#[test]
fn a_submit_says_which_runs_are_new_and_which_were_there() {
    let database = Database::migrated();
    let folder = Folder::new();
    let submit =
        |keys: &[&str]| database.program().args(["submit", "--json"]).file(&folder.suppliers(keys)).end();
    let first = submit(&["A", "B"]).expect_code(0).json();
    let names: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["invalid", "submitted"]);
    assert_eq!(first["invalid"], json!([]));
    let run_of_b = first["submitted"][1]["run"].clone();
    let second = submit(&["B", "C"]).expect_code(0).json();
    assert_eq!(second["submitted"][0], json!({"key": "B", "run": run_of_b, "outcome": "existing"}));
    assert_eq!(second["submitted"][1]["outcome"], json!("opened"));
    assert_eq!(database.number("SELECT count(*) FROM lease.runs WHERE status = 'open' AND fence = 0"), 3);
    let text = database.program().args(["submit"]).file(&folder.suppliers(&["A"])).end().expect_code(0);
    assert!(text.stdout.ends_with("1 supplier: 0 opened, 1 existing\n"), "{}", text.stdout);
}

#[test]
fn a_bad_record_holds_up_the_file_and_is_in_the_json_by_file_line_and_field() {
    let database = Database::migrated();
    let folder = Folder::new();
    let text = format!("{}\n{}", supplier("A"), supplier("B").replace("DEUTDEFF", "?"));
    let file = folder.write("records.ndjson", text);
    let submit = |flags: &[&str]| database.program().args(["submit", "--json"]).args(flags).file(&file).end();
    let refused = submit(&[]).expect_code(65).json();
    assert_eq!(refused["submitted"], json!([]));
    let invalid = &refused["invalid"][0];
    assert_eq!((&invalid["line"], &invalid["field"]), (&json!(2), &json!("bic")));
    assert!(invalid["file"].as_str().unwrap().ends_with("records.ndjson"));
    assert!(invalid["error"].as_str().unwrap().contains("is not a BIC"));
    assert_eq!(database.number("SELECT count(*) FROM lease.runs"), 0);
    let skipped = submit(&["--skip-invalid"]).expect_code(65).json();
    assert_eq!(skipped["submitted"][0]["key"], json!("A"));
    assert_eq!(skipped["invalid"].as_array().unwrap().len(), 1);
}

#[test]
fn another_content_or_plan_under_a_key_is_a_conflict_that_changes_nothing() {
    let database = Database::migrated();
    let folder = Folder::new();
    let file = folder.suppliers(&["A"]);
    database.program().args(["submit"]).file(&file).end().expect_code(0);
    let run = database.rows("SELECT id FROM lease.runs").remove(0);
    let other = folder.write("other.ndjson", supplier("A").replace("EUR", "USD"));
    let refused = database.program().args(["submit", "--json"]).file(&other).end().expect_code(65).json();
    assert_eq!(refused["invalid"][0]["error"], json!(format!("exists with other content: run {run}")));
    let plan = folder.plan("plan.toml", "other-plan", 1, &[("validated", "uses = \"validate\"")]);
    let refused = database.program().args(["submit", "--json", "--plan"]).file(&plan).file(&file).end();
    let error = refused.expect_code(65).json()["invalid"][0]["error"].clone();
    assert_eq!(error, json!(format!("exists with plan supplier-setup 1: run {run}")));
    assert_eq!(database.rows("SELECT input->>'currency' FROM lease.runs"), ["EUR"]);
}

#[test]
fn records_come_from_standard_input_with_a_format() {
    let database = Database::migrated();
    let submit = || database.program().args(["submit", "-"]).input(&supplier("A"));
    submit().end().expect_code(65).expect_told("--format");
    submit().args(["--format", "json"]).end().expect_code(0);
    assert_eq!(database.rows("SELECT key FROM lease.runs"), ["A"]);
}

/// Case 23: what merely looks different is the same content, what differs is refused by line.
#[test]
fn case_23_spelling_makes_no_conflict_and_two_contents_under_one_key_do() {
    let database = Database::migrated();
    let folder = Folder::new();
    let header = "key,legal_name,country,tax_id,iban,bic,currency,email";
    let tidy = format!(
        "{header}\nA,\"Café, Söhne\",DE,DE136695976,DE89370400440532013000,DEUTDEFF,EUR,ap@cafe.example\n"
    );
    let messy = format!(
        "\u{feff}{header}\r\n A ,\"Cafe\u{301}, So\u{308}hne\",de,136 695 976,de89 3704 0044 0532 0130 00,deutdeff,eur,ap@cafe.example\r\n"
    );
    let (tidy, messy) = (folder.write("tidy.csv", &tidy), folder.write("messy.csv", &messy));
    database.program().args(["submit"]).file(&tidy).end().expect_code(0);
    let again = database.program().args(["submit", "--json"]).file(&messy).end().expect_code(0);
    assert_eq!(again.json()["submitted"][0]["outcome"], json!("existing"));
    let twice = format!("{}\n{}\n{}", supplier("B"), supplier("B"), supplier("B").replace("EUR", "USD"));
    let twice = folder.write("twice.ndjson", twice);
    let refused = database.program().args(["submit"]).file(&twice).end().expect_code(65);
    let refused = refused.expect_told("twice.ndjson:3: key: is used for another record at ");
    assert!(refused.stderr.contains("twice.ndjson:2: key: is the same record as at "), "{}", refused.stderr);
    assert_eq!(database.rows("SELECT key FROM lease.runs"), ["A"]);
}
