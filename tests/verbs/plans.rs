//! Plans on the command line (case 34), and runs of plans that were not given.

use crate::support::{Database, Folder, Program};

const VALIDATED: (&str, &str) = ("validated", "uses = \"validate\"");
const APPROVED: (&str, &str) = ("approved", "uses = \"approval\"");

#[test]
fn case_34_another_plan_under_a_name_and_version_in_use_is_refused_naming_both_digests() {
    let (database, folder) = (Database::migrated(), Folder::new());
    let old = folder.plan("old.toml", "p", 1, &[VALIDATED, APPROVED]);
    let new = folder.plan("new.toml", "p", 1, &[VALIDATED]);
    let file = folder.suppliers(&["A"]);
    database.program().args(["run", "--plan"]).file(&old).file(&file).end().expect_code(21);
    let digest_of = |plan| {
        let checked = Program::new().args(["check", "--json", "--plan"]).file(plan).end().expect_code(0);
        checked.json()["plans"][0]["digest"].as_str().unwrap().to_owned()
    };
    let (old_digest, new_digest) = (digest_of(&old), digest_of(&new));
    assert_ne!(old_digest, new_digest);
    let other = folder.write("other.ndjson", crate::support::supplier("B"));
    let refused = [
        database.program().args(["run", "--plan"]).file(&new).file(&other).end(),
        database.program().args(["submit", "--plan"]).file(&new).file(&other).end(),
        database.program().args(["work", "--drain", "--plan"]).file(&new).end(),
    ];
    for ended in refused {
        ended.expect_code(65).expect_told(&old_digest).expect_told(&new_digest);
    }
    assert_eq!(database.rows("SELECT concat_ws(' ', key, phase) FROM lease.runs"), ["A validated"]);
    let twice =
        database.program().args(["work", "--drain", "--plan"]).file(&new).args(["--plan"]).file(&old).end();
    twice.expect_code(65).expect_told("is given twice with other content");
}

#[test]
fn a_worker_takes_only_runs_whose_plan_it_was_given() {
    let (database, folder) = (Database::migrated(), Folder::new());
    let plan = folder.plan("p.toml", "p", 1, &[VALIDATED]);
    database
        .program()
        .args(["submit", "--plan"])
        .file(&plan)
        .file(&folder.suppliers(&["A"]))
        .end()
        .expect_code(0);
    let drained = database.program().args(["work", "--drain"]).end().expect_code(0);
    drained.expect_told("1 open run waits for a worker with plan p 1 (digest ");
    let one = database.program().args(["work", "--run", "A"]).end().expect_code(65);
    one.expect_told("has plan p 1 (digest ").expect_told("give the file of that plan with --plan");
    assert_eq!(database.number("SELECT sum(fence) FROM lease.runs"), 0);
    let both = database.program().args(["work", "--drain", "--plan", "built-in", "--plan"]).file(&plan).end();
    both.expect_code(0);
    assert_eq!(database.rows("SELECT status FROM lease.runs"), ["completed"]);
}

#[test]
fn a_plan_with_an_error_or_an_unset_variable_is_refused_at_start() {
    let (database, folder) = (Database::migrated(), Folder::new());
    let file = folder.suppliers(&["A"]);
    let secret =
        "http = { url = \"http://127.0.0.1:9/\", headers = { Authorization = \"Bearer ${PORTAL_TOKEN}\" } }";
    let unset = folder.plan("unset.toml", "p", 1, &[("announced", secret)]);
    let ended = database.program().args(["run", "--plan"]).file(&unset).file(&file).end().expect_code(65);
    ended.expect_told("unset.toml").expect_told("PORTAL_TOKEN");
    let broken =
        folder.plan("broken.toml", "p", 1, &[("validated", "uses = \"validate\"\ntimeout = \"soon\"")]);
    let ended = database.program().args(["run", "--plan"]).file(&broken).file(&file).end().expect_code(65);
    ended.expect_told("broken.toml").expect_told("timeout");
    database.program().args(["run", "--plan", "/nowhere/p.toml"]).file(&file).end().expect_code(65);
    assert_eq!(database.number("SELECT count(*) FROM lease.runs"), 0);
}
