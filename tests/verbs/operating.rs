//! Operators' verbs: what fits, what is so already, what is refused, and what is kept of it.

use serde_json::json;

use crate::support::{Database, Ended, Folder, eventually};

struct Scene {
    database: Database,
    folder: Folder,
}

impl Scene {
    fn new() -> Self {
        let (database, folder) = (Database::migrated(), Folder::new());
        database.program().args(["submit"]).file(&folder.suppliers(&["A"])).end().expect_code(0);
        Self { database, folder }
    }

    fn verb(&self, args: &[&str]) -> Ended {
        self.database.program().args(["--json"]).args(args).end()
    }

    fn state(&self) -> String {
        self.database.rows("SELECT concat_ws(' ', status, paused, fence) FROM lease.runs").remove(0)
    }
}

#[test]
fn pausing_and_resuming_twice_is_already_so() {
    let scene = Scene::new();
    for (verb, outcome, state) in [
        ("pause", "done", "open t 0"),
        ("pause", "already", "open t 0"),
        ("resume", "done", "open f 0"),
        ("resume", "already", "open f 0"),
    ] {
        let document = scene.verb(&[verb, "A"]).expect_code(0).json();
        let names: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["action", "key", "outcome", "reason", "run"]);
        assert_eq!((&document["action"], &document["outcome"]), (&json!(verb), &json!(outcome)));
        assert_eq!(scene.state(), state);
    }
}

#[test]
fn a_cancelled_run_stays_so_and_other_actions_do_not_fit() {
    let scene = Scene::new();
    // Standard input is no terminal here, so nobody is asked.
    scene.verb(&["cancel", "A", "--reason", "a duplicate"]).expect_code(0);
    assert_eq!(scene.verb(&["cancel", "A"]).expect_code(0).json()["outcome"], json!("already"));
    for verb in ["retry", "pause", "resume"] {
        let refused = scene.verb(&[verb, "A"]).expect_code(22).json();
        assert_eq!(
            (&refused["outcome"], &refused["reason"]),
            (&json!("refused"), &json!("the run is cancelled"))
        );
    }
    let text = scene.database.program().args(["retry", "A"]).end().expect_code(22);
    text.expect_told("error: cannot retry A: the run is cancelled; nothing was changed");
    assert_eq!(scene.state(), "cancelled f 0");
    let run = scene.database.program().args(["run"]).file(&scene.folder.suppliers(&["A"])).end();
    run.expect_code(20);
    scene.verb(&["cancel", "Z"]).expect_code(65);
}

#[test]
fn a_failed_run_goes_on_at_the_phase_that_failed_once_retried() {
    let scene = Scene { database: Database::migrated(), folder: Folder::new() };
    scene.folder.script("ask.sh", "echo \"$IDEMPOTENCY_KEY\" >> keys; [ -e yes ] || exit 1; echo '{}'");
    let phases = [("validated", "uses = \"validate\""), ("asked", "command = [\"./ask.sh\"]")];
    let plan = scene.folder.plan("plan.toml", "asking", 1, &phases);
    let file = scene.folder.suppliers(&["A"]);
    let run = || scene.database.program().args(["run", "--plan"]).file(&plan).file(&file).end();
    run().expect_code(20);
    run().expect_code(20);
    scene.verb(&["retry", "A"]).expect_code(0);
    run().expect_code(20);
    scene.folder.write("yes", "");
    scene.verb(&["retry", "A", "--new-idempotency-key", "--reason", "the portal lost it"]).expect_code(0);
    run().expect_code(0);
    let keys = std::fs::read_to_string(scene.folder.path("keys")).unwrap();
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] == keys[1] && keys[1] != keys[2], "{keys:?}");
    let saved =
        scene.database.number("SELECT count(*) FROM lease.receipts WHERE phase = 'validated' AND fence = 1");
    assert_eq!(saved, 1, "the first phase was not done again");
}

#[test]
fn a_lease_is_taken_away_by_its_number_and_by_no_other() {
    let scene = Scene::new();
    let nobody =
        scene.verb(&["release", "A", "--force", "--fence", "1", "--reason", "stuck"]).expect_code(22);
    assert_eq!(nobody.json()["reason"], json!("nobody holds the run"));
    scene.verb(&["release", "A", "--fence", "1", "--reason", "stuck"]).expect_code(2);
    scene.database.execute(
        "UPDATE lease.runs SET fence = 8, owner = 'b#1', lease_expires_at = clock_timestamp() + interval '1 hour';
         INSERT INTO lease.attempts (run_id, fence, owner, claimed_at, from_phase)
         SELECT id, 8, 'b#1', clock_timestamp(), 'submitted' FROM lease.runs",
    );
    // Case 32: the number that the operator saw is not the current one.
    let late = scene.verb(&["release", "A", "--force", "--fence", "7", "--reason", "stuck"]).expect_code(22);
    assert_eq!(late.json()["reason"], json!("the run is held with number 8 by b#1"));
    scene.verb(&["release", "A", "--force", "--fence", "8", "--reason", "stuck"]).expect_code(0);
    assert_eq!(scene.state(), "open f 8");
    let attempt = "SELECT concat_ws(' ', outcome, reason->>'by', reason->>'reason') FROM lease.attempts";
    assert_eq!(scene.database.rows(attempt), ["revoked tester stuck"]);
}

/// Case 30: a pause while a step runs, which then fails, is not lost.
#[test]
fn case_30_a_run_paused_while_its_step_runs_and_fails_is_failed_and_still_paused() {
    let scene = Scene { database: Database::migrated(), folder: Folder::new() };
    scene.folder.script("wait.sh", "touch began; until [ -e go ]; do sleep 0.05; done; exit 1");
    let plan = scene.folder.plan("plan.toml", "waiting", 1, &[("waited", "command = [\"./wait.sh\"]")]);
    let file = scene.folder.suppliers(&["A"]);
    let run = scene.database.program().args(["run", "--plan"]).file(&plan).file(&file).start();
    eventually("the step's start", || scene.folder.has("began").then_some(()));
    scene.verb(&["pause", "A"]).expect_code(0);
    scene.folder.write("go", "");
    run.end_soon().expect_code(20);
    assert_eq!(scene.state(), "failed t 1");
    scene.verb(&["retry", "A"]).expect_code(0);
    assert_eq!(scene.state(), "open t 1");
    let paused =
        scene.database.program().args(["run", "--plan"]).file(&plan).file(&file).end().expect_code(21);
    assert!(paused.stdout.contains("1 paused"), "{}", paused.stdout);
}
