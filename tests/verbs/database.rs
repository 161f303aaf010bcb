//! Databases that are not there, not migrated, too new or not PostgreSQL; and `migrate` (case 20).

use crate::support::{Database, Program, Started, example};

#[test]
fn without_a_database_or_a_data_folder_the_program_says_how_to_get_one() {
    let ended = Program::new().env("XDG_DATA_HOME", "").env("HOME", "").args(["list"]).end().expect_code(2);
    ended.expect_told("DATABASE_URL").expect_told("--database-url").expect_told("sqlite://");
    // A setting that got lost must not put runs where nobody looks for them.
    let empty = Program::new().env("DATABASE_URL", "").args(["list"]).end().expect_code(2);
    empty.expect_told("the database URL is empty").expect_told("take DATABASE_URL out");
    let mysql = Program::new().args(["list", "--database-url", "mysql://u:geheim@h/d"]).end().expect_code(2);
    assert!(!mysql.stderr.contains("geheim"), "{}", mysql.stderr);
}

#[test]
fn a_database_out_of_reach_is_69_and_no_password_is_shown() {
    // Port 9 of this machine: nobody listens there.
    let url = "postgres://buyer:geheim@127.0.0.1:9/buyer?password=geheim";
    for args in [&["list"][..], &["migrate"], &["work", "--drain"], &["show", "A"]] {
        let ended =
            Program::new().env("DATABASE_URL", url).env("RUST_LOG", "trace").args(args).end().expect_code(69);
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("geheim"), "{}", ended.stderr);
        ended.expect_told("cannot reach the database at postgres://127.0.0.1:9/buyer: ");
    }
    let misplaced = Program::new().args([url]).end().expect_code(2);
    assert!(!misplaced.stderr.contains("geheim"), "{}", misplaced.stderr);
}

#[test]
fn a_database_that_is_not_migrated_is_69_until_it_is() {
    let database = Database::empty();
    let file = example("suppliers.csv");
    for program in [
        database.program().args(["list"]),
        database.program().args(["submit"]).file(&file),
        database.program().args(["run"]).file(&file),
        database.program().args(["work", "--drain"]),
        database.program().args(["cancel", "A"]),
    ] {
        program
            .end()
            .expect_code(69)
            .expect_told("is not migrated")
            .expect_told("try: supplier-setup migrate");
    }
    let check = || database.program().args(["migrate", "--check"]).end();
    check().expect_code(23);
    assert_eq!(
        database.number("SELECT count(*) FROM pg_namespace WHERE nspname IN ('lease', 'supplier')"),
        0
    );
    let migrated = database.program().args(["migrate", "--json"]).end().expect_code(0);
    assert_eq!(migrated.json()["schema"], "migrated");
    check().expect_code(0);
    database.program().args(["migrate"]).end().expect_code(0);
    database.program().args(["list"]).end().expect_code(0);
}

#[test]
fn a_database_newer_than_the_program_is_69_and_left_alone() {
    let database = Database::migrated();
    database.execute(
        "INSERT INTO lease.migrations (version, name, digest, taken_at)
         SELECT max(version) + 1, 'from_the_future', repeat('0', 64), clock_timestamp() FROM lease.migrations",
    );
    for args in [&["list"][..], &["migrate"], &["migrate", "--check"], &["work", "--drain", "--migrate"]] {
        let ended = database.program().args(args).end().expect_code(69);
        ended.expect_told("is newer than this program").expect_told("try: use a newer supplier-setup");
    }
}

#[test]
fn case_20_eight_that_migrate_at_once_all_go_on() {
    let database = Database::empty();
    let eight: Vec<Started> = (0..8).map(|_| database.program().args(["migrate"]).start()).collect();
    for one in eight {
        one.end().expect_code(0);
    }
    assert_eq!(database.number("SELECT count(*) FROM lease.migrations WHERE version = 1"), 1);
    let eight: Vec<Started> =
        (0..8).map(|_| database.program().args(["work", "--drain", "--migrate"]).start()).collect();
    for one in eight {
        one.end().expect_code(0);
    }
}
