//! Approvals and rejections, and pauses beside them (cases 30 and 31).

use serde_json::json;

use crate::support::{Database, Ended, Folder};

/// A run of key `A` under a plan with two approvals in a row, worked on as far as it goes.
struct Waiting {
    database: Database,
    folder: Folder,
}

impl Waiting {
    fn new() -> Self {
        let (database, folder) = (Database::migrated(), Folder::new());
        let waiting = Self { database, folder };
        waiting.run().expect_code(21);
        waiting
    }

    fn run(&self) -> Ended {
        let phases = [("bank_confirmed", "uses = \"approval\""), ("signed", "uses = \"approval\"")];
        let plan = self.folder.plan("plan.toml", "two-approvals", 1, &phases);
        self.database.program().args(["run", "--plan"]).file(&plan).file(&self.folder.suppliers(&["A"])).end()
    }

    fn verb(&self, args: &[&str]) -> Ended {
        self.database.program().args(["--json"]).args(args).end()
    }

    fn state(&self) -> String {
        self.database.rows("SELECT concat_ws(' ', status, phase, paused, fence) FROM lease.runs").remove(0)
    }
}

#[test]
fn case_31_a_second_approve_of_the_same_phase_is_told_so_and_the_next_phase_still_waits() {
    let waiting = Waiting::new();
    assert_eq!(waiting.state(), "waiting submitted f 1");
    let early = waiting.verb(&["approve", "A", "--phase", "signed"]).expect_code(22);
    assert_eq!(early.json()["reason"], json!("the run waits for an approval of bank_confirmed"));
    let first =
        waiting.verb(&["approve", "A", "--phase", "bank_confirmed", "--by", "ann"]).expect_code(0).json();
    assert_eq!(
        (&first["action"], &first["outcome"], &first["reason"]),
        (&json!("approve"), &json!("done"), &json!(null))
    );
    let second = waiting.verb(&["approve", "A", "--phase", "bank_confirmed"]).expect_code(22).json();
    assert_eq!(
        (&second["outcome"], &second["reason"]),
        (&json!("refused"), &json!("the phase is saved already"))
    );
    waiting.run().expect_code(21);
    assert!(waiting.state().starts_with("waiting bank_confirmed f"), "{}", waiting.state());
    let receipts =
        waiting.database.rows("SELECT concat_ws(' ', phase, body->>'approved_by') FROM lease.receipts");
    assert_eq!(receipts, ["bank_confirmed ann"]);
    waiting.verb(&["approve", "A", "--phase", "signed"]).expect_code(0);
    waiting.run().expect_code(0);
    assert!(waiting.state().starts_with("completed signed f"), "{}", waiting.state());
}

#[test]
fn case_30_a_run_paused_while_it_waits_is_still_paused_once_approved_and_goes_on_once_resumed() {
    let waiting = Waiting::new();
    waiting.verb(&["pause", "A"]).expect_code(0);
    waiting.verb(&["approve", "A", "--phase", "bank_confirmed"]).expect_code(0);
    assert!(waiting.state().starts_with("open bank_confirmed t"), "{}", waiting.state());
    let paused = waiting.run().expect_code(21);
    assert!(paused.stdout.ends_with("1 supplier: 0 completed here, 1 paused\n"), "{}", paused.stdout);
    waiting.verb(&["resume", "A"]).expect_code(0);
    waiting.run().expect_code(21);
    assert!(waiting.state().starts_with("waiting bank_confirmed f"), "{}", waiting.state());
}

#[test]
fn a_rejected_run_is_failed_with_who_and_why() {
    let waiting = Waiting::new();
    let args = ["reject", "A", "--phase", "bank_confirmed", "--by", "ann", "--reason", "wrong bank"];
    waiting.verb(&args).expect_code(0);
    let shown = waiting.verb(&["show", "A"]).json();
    let error = &shown["run"]["error"];
    assert_eq!(
        (&error["kind"], &error["message"]),
        (&json!("rejected"), &json!("rejected by ann: wrong bank"))
    );
    waiting.run().expect_code(20);
    waiting.verb(&args).expect_code(22);
}
