//! The demonstration: what it states is checked, it takes seconds, and it leaves nothing behind.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Database, Folder, eventually};

/// NO-LATE-SAVE, TRUTH, BLOCKED-NOT-FAILED: told in five steps, each with facts that were checked.
#[test]
fn no_late_save_the_demonstration_shows_it_in_seconds() {
    let database = Database::empty();
    let began = Instant::now();
    let ended = database.program().args(["demo"]).end().expect_code(0);
    assert!(began.elapsed() < Duration::from_secs(15));
    for step in ["1. ", "2. ", "3. ", "4. ", "5. "] {
        assert!(ended.stdout.lines().any(|line| line.starts_with(step)), "{step}: {}", ended.stdout);
    }
    for told in ["superseded by claim 2 of B#", "supplier.setups: 0 rows before, 0 after", "all hold"] {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
    assert_eq!(ended.stderr, "");
    is_gone(&database, &ended.stdout);
}

#[test]
fn the_demonstration_as_json_lists_its_facts() {
    let told = Database::empty().program().args(["--json", "demo"]).end().expect_code(0).json();
    let facts = told["facts"].as_array().unwrap();
    assert!(facts.len() > 20 && facts.iter().all(|fact| fact["holds"] == true), "{told}");
    assert_eq!(
        (told["checked"].as_u64(), told["all_hold"].as_bool()),
        (Some(facts.len() as u64), Some(true))
    );
}

#[test]
fn a_demonstration_that_is_interrupted_takes_everything_away() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (database, folder) = (Database::empty(), Folder::new());
        let told = folder.write("told", "");
        let mut demo = database.program().args(["demo"]).results_to(told.to_str().unwrap()).start();
        let so_far = || fs::read_to_string(&told).unwrap();
        eventually("worker A to be stopped", || so_far().contains("2. ").then_some(()));
        demo.signal(signal);
        demo.end_soon().expect_code(code);
        is_gone(&database, &so_far());
    }
}

#[test]
fn a_role_that_may_not_make_databases_is_told_so() {
    let database = Database::empty();
    let role = format!("demo_{}", std::process::id());
    database.execute(&format!("CREATE ROLE {role} LOGIN"));
    let mut url = url::Url::parse(database.url()).unwrap();
    url.set_username(&role).unwrap();
    let ended = database.program().env("DATABASE_URL", url.as_str()).args(["demo"]).end();
    database.execute(&format!("DROP ROLE {role}"));
    ended.expect_code(1).expect_told("CREATEDB");
}

/// The scratch database that the demonstration named, and whoever was connected to it.
fn is_gone(database: &Database, told: &str) {
    let begin = told.find("supplier_setup_demo_").unwrap();
    let name: String =
        told[begin..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    assert_eq!(database.number(&format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'")), 0);
}
