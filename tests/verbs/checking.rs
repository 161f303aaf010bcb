//! `check`: needs no database and changes nothing.

use serde_json::json;

use crate::support::{Folder, Program, example, supplier};

#[test]
fn good_records_are_fine_without_a_database() {
    let ended = Program::new().args(["check"]).file(&example("suppliers.csv")).end().expect_code(0);
    assert_eq!(ended.stdout, "40 records fine\n");
}

#[test]
fn bad_records_are_listed_by_file_line_and_field() {
    let ended = Program::new().args(["check"]).file(&example("suppliers-bad.csv")).end().expect_code(65);
    assert!(ended.stdout.contains("suppliers-bad.csv:12: iban: \"XX\" is not a country with IBANs"));
    let errors = ended.stdout.lines().filter(|line| line.contains("suppliers-bad.csv:")).count();
    let total = format!("\n{errors} errors; 1 record fine\n");
    assert!(errors > 30 && ended.stdout.ends_with(&total), "{}", ended.stdout);
}

#[test]
fn with_json_there_is_one_document_with_records_errors_and_warnings() {
    let folder = Folder::new();
    let record = supplier("A").replace("{\"key\"", "{\"plant\":\"Essen\",\"key\"");
    let file = folder.write("a.ndjson", format!("{record}\n{}", supplier("B").replace("DE89", "DE88")));
    let document = Program::new().args(["--json", "check"]).file(&file).end().expect_code(65).json();
    assert_eq!(document["records"], json!(1));
    assert_eq!(document["invalid"][0]["field"], json!("iban"));
    assert_eq!(
        (&document["warnings"][0]["line"], &document["warnings"][0]["field"]),
        (&json!(1), &json!("plant"))
    );
}

#[test]
fn a_plan_is_checked_too_and_a_bad_one_is_bad_input() {
    let folder = Folder::new();
    let good = folder.plan("good.toml", "good", 2, &[("approved", "uses = \"approval\"")]);
    let ended = Program::new().args(["check", "--plan"]).file(&good).end().expect_code(0);
    assert!(ended.stdout.starts_with("plan good 2 fine (digest "), "{}", ended.stdout);
    let bad = folder.plan("bad.toml", "bad", 1, &[("approved", "uses = \"aproval\"")]);
    let ended = Program::new().args(["check", "--plan"]).file(&bad).end().expect_code(65);
    assert!(ended.stdout.contains("bad.toml:") && ended.stdout.contains("aproval"), "{}", ended.stdout);
    Program::new().args(["check"]).end().expect_code(2);
}

#[test]
fn several_plans_are_checked_at_once_and_a_missing_one_is_a_finding() {
    let folder = Folder::new();
    let good = folder.plan("good.toml", "good", 2, &[("approved", "uses = \"approval\"")]);
    let missing = folder.path("missing.toml");
    let check =
        Program::new().args(["--json", "check", "--plan"]).file(&good).args(["--plan"]).file(&missing);
    let document = check.args(["--plan", "built-in"]).end().expect_code(65).json();
    let names: Vec<_> = document["plans"].as_array().unwrap().iter().map(|plan| &plan["name"]).collect();
    assert_eq!(names, ["good", "supplier-setup"]);
    assert!(document["invalid"][0]["file"].as_str().unwrap().ends_with("missing.toml"), "{document}");
}
