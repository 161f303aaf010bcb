//! Two processes at once: the same key (case 35), the same runs.

use serde_json::json;

use crate::support::{Database, Ended, Folder, Started, example, supplier};

/// What each of two submits at the same instant ended with.
fn both(database: &Database, files: [&std::path::Path; 2]) -> Vec<Ended> {
    let start = |file: &std::path::Path| database.program().args(["submit", "--json"]).file(file).start();
    let started: Vec<Started> = files.into_iter().map(start).collect();
    started.into_iter().map(Started::end).collect()
}

#[test]
fn case_35_the_same_key_and_content_from_two_processes_is_one_run_for_both() {
    let (database, folder) = (Database::migrated(), Folder::new());
    for round in 0..5 {
        let file = folder.suppliers(&[&format!("A-{round}")]);
        let ended = both(&database, [&file, &file]);
        let submitted: Vec<_> =
            ended.into_iter().map(|one| one.expect_code(0).json()["submitted"][0].clone()).collect();
        assert_eq!(submitted[0]["run"], submitted[1]["run"]);
        let opened = submitted.iter().filter(|run| run["outcome"] == json!("opened")).count();
        assert_eq!(opened, 1, "{submitted:?}");
    }
    assert_eq!(database.number("SELECT count(*) FROM lease.runs"), 5);
}

#[test]
fn case_35_the_same_key_with_other_content_from_two_processes_is_a_conflict_for_one() {
    let (database, folder) = (Database::migrated(), Folder::new());
    for round in 0..5 {
        let record = supplier(&format!("A-{round}"));
        let one = folder.write("one.ndjson", &record);
        let other = folder.write("other.ndjson", record.replace("EUR", "USD"));
        let mut codes: Vec<_> = both(&database, [&one, &other]).into_iter().map(|ended| ended.code).collect();
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(65)]);
    }
    assert_eq!(database.number("SELECT count(*) FROM lease.runs"), 5);
}

#[test]
fn one_holder_two_runs_of_the_same_file_share_the_work_and_both_end_well() {
    let database = Database::migrated();
    let start = |_| database.program().args(["run"]).file(&example("suppliers.csv")).start();
    let started: Vec<Started> = (0..2).map(start).collect();
    for one in started {
        one.end().expect_code(0);
    }
    assert_eq!(
        database.number("SELECT count(*) FROM lease.runs WHERE status = 'completed' AND fence = 1"),
        40
    );
    assert_eq!(database.number("SELECT count(*) FROM lease.receipts"), 120);
    assert_eq!(database.number("SELECT count(*) FROM supplier.setups"), 40);
}
