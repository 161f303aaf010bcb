//! Workers that are killed: within a phase, between two phases, and after the last.

use rustix::process::Signal;

use crate::session::Session;
use crate::stage::Stage;
use crate::support::eventually;

/// Every call of the step is written down with its number and key. Under the first number it hangs.
const HANGS: &str = r#"
echo "$FENCING_TOKEN $IDEMPOTENCY_KEY" >> calls
touch "began-$FENCING_TOKEN"
[ "$FENCING_TOKEN" != 1 ] || sleep 1000
echo '{}'
"#;

/// Every call of the step is written down with its number.
const NOTED: &str = r#"
echo "$FENCING_TOKEN" >> calls
echo '{}'
"#;

/// RESUME, cases 7 and 15: killed within a phase.
#[test]
fn case_15_a_phase_whose_worker_was_killed_is_done_again_with_the_same_key() {
    let stage = Stage::new(HANGS);
    let mut a = stage.worker("a", "2s").start();
    stage.wait_for("began-1");
    a.signal(Signal::KILL);
    assert_eq!(a.end().code, None, "it was killed");
    stage.worker("b", "30s").args(["--drain"]).end().expect_code(0);

    assert_eq!(stage.receipts(), ["validated 1", "screened 2", "registered 2", "purchasing_enabled 2"]);
    assert_eq!(stage.attempts(), ["1 superseded", "2 completed"]);
    let calls = stage.lines("calls");
    let [first, second] = calls.as_slice() else { panic!("two calls, not {calls:?}") };
    let (first, second) = (first.split_once(' ').unwrap(), second.split_once(' ').unwrap());
    assert_eq!((first.0, second.0), ("1", "2"));
    assert_eq!(first.1, second.1, "the idempotency key is the same on every attempt");
    assert_eq!(stage.rows(), (vec!["2".to_owned()], vec!["2".to_owned()]));
}

/// RESUME, ALL-OR-NOTHING: killed after the receipt of one phase, in the middle of the save of the
/// next: its row for the set-up table waits for a lock that somebody holds.
#[test]
fn resume_a_worker_killed_between_two_receipts_is_followed_by_one_that_repeats_neither() {
    let stage = Stage::new(NOTED);
    let mut somebody = Session::open(&stage.database);
    somebody.run("BEGIN; LOCK TABLE supplier.setups IN SHARE MODE");
    let mut a = stage.worker("a", "6s").start();
    eventually("the worker to wait for the set-up table", || {
        let waiting =
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'supplier.setups'::regclass";
        (stage.database.number(waiting) == 1).then_some(())
    });
    a.signal(Signal::KILL);
    assert_eq!(a.end().code, None, "it was killed");
    somebody.run("ROLLBACK");
    stage.worker("b", "30s").args(["--drain"]).end().expect_code(0);

    assert_eq!(stage.receipts(), ["validated 1", "screened 1", "registered 2", "purchasing_enabled 2"]);
    assert_eq!(stage.lines("calls"), ["1"], "a phase with a receipt is not done again");
    assert_eq!(stage.rows(), (vec!["2".to_owned()], vec!["2".to_owned()]));
}

/// Case 15: the last save has landed, and the worker never says so.
#[test]
fn case_15_a_run_completed_by_a_worker_that_died_at_once_is_not_done_again() {
    let stage = Stage::new(NOTED);
    // A pipe that nobody reads from does not take the last lines from the worker.
    let mut a = stage.worker("a", "30s").start();
    eventually("the run to be completed", || (stage.show()["run"]["status"] == "completed").then_some(()));
    a.signal(Signal::KILL);
    assert_eq!(a.end().code, None, "it was killed");
    stage.worker("b", "30s").args(["--drain"]).end().expect_code(0);
    stage.worker("c", "30s").args(["--run", "S-1"]).end().expect_code(0);
    assert_eq!(stage.attempts(), ["1 completed"]);
    assert_eq!(stage.lines("calls"), ["1"]);
}
