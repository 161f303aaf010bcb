//! The seed story: a worker stalls inside a slow step, another takes over, the first comes back.

use rustix::process::Signal;
use serde_json::json;

use crate::stage::Stage;
use crate::support::eventually;

/// Under the first number the step says that it began and waits for `go-1`, under the second for
/// `go-2`.
const SLOW: &str = r#"
touch "began-$FENCING_TOKEN"
while [ ! -e "go-$FENCING_TOKEN" ]; do sleep 0.02; done
echo "{\"screened_under\": $FENCING_TOKEN}"
"#;

/// NO-LATE-SAVE, ONE-HOLDER, BLOCKED-NOT-FAILED, TRUTH, ONE-RECEIPT, ALL-OR-NOTHING, FENCE-UP.
#[test]
fn a_worker_that_stalls_past_its_lease_and_comes_back_is_blocked_and_nothing_of_it_lands() {
    let stage = Stage::new(SLOW);
    let mut a = stage.worker("a", "1s").args(["--run", "S-1"]).start();
    stage.wait_for("began-1");
    a.signal(Signal::STOP);
    stage.wait_for_lapse();

    let b = stage.worker("b", "30s").args(["--run", "S-1"]).start();
    stage.wait_for("began-2");
    assert_eq!(stage.show()["run"]["fence"], 2, "B's number is one higher");

    // A's step is done the moment A goes on, so A has something to save.
    stage.folder.write("go-1", "");
    a.signal(Signal::CONT);
    let a = a.end_soon().expect_code(75);
    let last = a.json_lines().pop().expect("A tells how its attempt ended");
    assert_eq!((&last["event"], &last["outcome"]), (&json!("attempt_ended"), &json!("blocked")));
    assert_eq!(last["reason"]["why"], "superseded");
    assert_eq!(last["reason"]["by_fence"], 2);
    assert!(last["reason"]["by_owner"].as_str().unwrap().starts_with("b#"));

    let shown = stage.show();
    assert_eq!((&shown["run"]["status"], &shown["run"]["phase"]), (&json!("open"), &json!("validated")));
    assert_eq!(shown["run"]["lease"]["live"], true, "B's lease is left alone");

    stage.folder.write("go-2", "");
    b.end_soon().expect_code(0);
    assert_eq!(stage.show()["run"]["status"], "completed");
    assert_eq!(stage.receipts(), ["validated 1", "screened 2", "registered 2", "purchasing_enabled 2"]);
    assert_eq!(stage.show()["receipts"][1]["body"], json!({"screened_under": 2}));
    assert_eq!(stage.attempts(), ["1 blocked", "2 completed"]);
    assert_eq!(stage.show()["attempts"][0]["reason"], last["reason"]);
    assert_eq!(stage.rows(), (vec!["2".to_owned()], vec!["2".to_owned()]));
    let listed = stage.database.program().args(["--json", "list", "--outcome", "blocked"]).end().json();
    assert_eq!(listed["runs"], json!([]), "the newest attempt is B's");
}

/// The same where A comes back before anybody has taken over: its lease is not renewed (NO-LAZARUS).
#[test]
fn no_lazarus_a_worker_that_comes_back_before_anybody_took_over_is_blocked_all_the_same() {
    let stage = Stage::new(SLOW);
    let mut a = stage.worker("a", "1s").args(["--run", "S-1"]).start();
    stage.wait_for("began-1");
    a.signal(Signal::STOP);
    stage.wait_for_lapse();
    stage.folder.write("go-1", "");
    a.signal(Signal::CONT);
    let a = a.end_soon().expect_code(75);
    let last = a.json_lines().pop().unwrap();
    assert_eq!(last["reason"]["why"], "expired");
    assert!(last["reason"]["late_by_ms"].as_u64().is_some());
    assert_eq!(stage.attempts(), ["1 blocked"]);
    assert_eq!(stage.receipts(), ["validated 1"]);

    stage.folder.write("go-2", "");
    stage.worker("b", "30s").args(["--drain"]).end().expect_code(0);
    assert_eq!(stage.attempts(), ["1 blocked", "2 completed"]);
}

/// `run` waits for whoever took over, and ends well when they completed it.
#[test]
fn run_waits_for_the_worker_that_took_over_and_ends_with_0_when_it_completed_the_run() {
    let stage = Stage::new(SLOW);
    let file = stage.folder.suppliers(&["S-1"]);
    let plan = stage.folder.path("plan.toml");
    let program =
        stage.database.program().args(["--json", "run", "--ttl", "1s", "--poll", "100ms", "--plan"]);
    let mut a = program.file(&plan).file(&file).start();
    stage.wait_for("began-1");
    a.signal(Signal::STOP);
    stage.wait_for_lapse();
    let b = stage.worker("b", "30s").args(["--run", "S-1"]).start();
    stage.wait_for("began-2");
    a.signal(Signal::CONT);
    eventually("A to be turned away", || (stage.attempts()[0] == "1 blocked").then_some(()));
    assert!(a.runs(), "A waits for B");
    stage.folder.write("go-2", "");
    b.end_soon().expect_code(0);
    a.end_soon().expect_code(0);
    assert_eq!(stage.attempts(), ["1 blocked", "2 completed"]);
}
