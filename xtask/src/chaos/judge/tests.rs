//! A sound history, and what is found when it is broken, one thing at a time.

use serde_json::{Value, json};

use super::super::history::{Change, Fault, History, Life, Micros, Setup, StepLine, Told};
use super::judge;

const SECOND: Micros = 1_000_000;

/// Worker 0 claims, is stopped in its step, and comes back after worker 1 has taken over and saved `a` and
/// `b`.
struct Story {
    history: History,
    run: Value,
}

impl Story {
    fn sound() -> Self {
        let setup = Setup {
            ttl_us: 3 * SECOND,
            poll_us: SECOND,
            loss_limit: 10,
            workers: 2,
            names_transactions: true,
            effects: [("b".to_owned(), "setups".to_owned())].into(),
        };
        let life = |worker, pid| Life { worker, pid, from_us: -10 * SECOND, to_us: 60 * SECOND };
        let history = History {
            setup,
            trail: Vec::new(),
            runs: Vec::new(),
            receipts: Vec::new(),
            attempts: Vec::new(),
            effects: [("setups".to_owned(), Vec::new())].into(),
            told: Vec::new(),
            steps: Vec::new(),
            faults: vec![Fault {
                kind: "stop".to_owned(),
                worker: Some(0),
                pid: Some(100),
                from_us: 2 * SECOND,
                to_us: 9 * SECOND,
            }],
            lives: vec![life(0, 100), life(1, 101)],
        };
        let run = json!({"id": "r", "status": "open", "phase": "submitted", "fence": 0, "owner": null, "losses": 0,
            "lease_expires_us": null, "lease_ended": null, "phases": ["a", "b"]});
        let mut story = Self { history, run: Value::Null };
        story.turn(0, &run);
        story.turn(SECOND, &json!({"fence": 1, "owner": "w0", "lease_expires_us": 4 * SECOND}));
        story.told(0, SECOND, "claimed", 1, json!({"phase": "submitted"}));
        story.step(SECOND + 1, "began", 100, "a", 1);
        story.turn(SECOND + 5, &json!({"lease_expires_us": 4 * SECOND + 5}));
        story.turn(
            5 * SECOND,
            &json!({"fence": 2, "owner": "w1", "lease_expires_us": 8 * SECOND, "losses": 1}),
        );
        story.told(1, 5 * SECOND, "claimed", 2, json!({"phase": "submitted"}));
        story.step(5 * SECOND + 1, "began", 101, "a", 2);
        story.step(5 * SECOND + 2, "ended", 101, "a", 2);
        story.save(6 * SECOND, "a", &json!({"phase": "a", "lease_expires_us": 9 * SECOND, "losses": 0}));
        let last = json!({"phase": "b", "status": "completed", "lease_expires_us": null, "lease_ended": "completed"});
        story.save(7 * SECOND, "b", &last);
        story.told(1, 7 * SECOND + 1, "attempt_ended", 2, json!({"outcome": "completed"}));
        story.told(1, 7 * SECOND + 1, "run_ended", 2, json!({"outcome": "completed"}));
        story.step(9 * SECOND, "ended", 100, "a", 1);
        let why =
            json!({"refused": "renew", "phase": "a", "why": "superseded", "by_fence": 2, "by_owner": "w1"});
        story.told(
            0,
            9 * SECOND + 1,
            "attempt_ended",
            1,
            json!({"phase": "a", "outcome": "blocked", "reason": why}),
        );
        story.attempt(1, "w0", "blocked", why);
        story.attempt(2, "w1", "completed", Value::Null);
        story.history.runs = vec![serde_json::from_value(story.run.clone()).unwrap()];
        story
    }

    /// The run's row changes.
    fn turn(&mut self, at_us: Micros, changes: &Value) {
        let old = self.run.clone();
        for (name, value) in changes.as_object().unwrap() {
            self.run[name] = value.clone();
        }
        let old = Some(old).filter(|old| !old.is_null());
        self.change(at_us, "runs", old, Some(self.run.clone()));
    }

    fn change(&mut self, at_us: Micros, tbl: &str, old: Option<Value>, new: Option<Value>) {
        let xid = Some(at_us.to_string());
        self.history.trail.push(Change { at_us, xid, tbl: tbl.to_owned(), old, new });
    }

    fn save(&mut self, at_us: Micros, phase: &str, changes: &Value) {
        self.turn(at_us, changes);
        let receipt = json!({"run_id": "r", "phase": phase, "fence": 2, "saved_us": at_us});
        self.change(at_us, "receipts", None, Some(receipt.clone()));
        self.history.receipts.push(serde_json::from_value(receipt).unwrap());
        if phase == "b" {
            let row = json!({"run_id": "r", "fence": 2});
            self.change(at_us, "setups", None, Some(row.clone()));
            self.history.effects.get_mut("setups").unwrap().push(serde_json::from_value(row).unwrap());
        }
        self.told(1, at_us, "phase_saved", 2, json!({"phase": phase}));
    }

    fn told(&mut self, worker: usize, at_us: Micros, event: &str, fence: i64, more: Value) {
        let text = |name: &str| more[name].as_str().map(str::to_owned);
        self.history.told.push(Told {
            worker,
            at_us,
            event: event.to_owned(),
            run: "r".to_owned(),
            fence: Some(fence),
            phase: text("phase"),
            outcome: text("outcome"),
            reason: more.get("reason").cloned(),
        });
    }

    fn step(&mut self, at_us: Micros, what: &str, pid: u32, phase: &str, fence: i64) {
        let (what, phase) = (what.to_owned(), phase.to_owned());
        let key = format!("key of {phase}");
        self.history.steps.push(StepLine { what, at_us, pid, run: "r".to_owned(), phase, fence, key });
    }

    fn attempt(&mut self, fence: i64, owner: &str, outcome: &str, reason: Value) {
        let row = json!({"run_id": "r", "fence": fence, "owner": owner, "from_phase": "submitted", "outcome": outcome,
            "reason": reason});
        self.history.attempts.push(serde_json::from_value(row).unwrap());
    }

    /// The change of the run's row at this time.
    fn turn_at(&mut self, at_us: Micros) -> &mut Change {
        self.history.trail.iter_mut().find(|change| change.at_us == at_us && change.tbl == "runs").unwrap()
    }

    /// Changes what a row became, and what it was at the next change.
    fn rewrite(&mut self, at_us: Micros, name: &str, value: &Value) {
        let mut rows =
            self.history.trail.iter_mut().filter(|change| change.tbl == "runs" && change.at_us >= at_us);
        rows.next().unwrap().new.as_mut().unwrap()[name] = value.clone();
        if let Some(next) = rows.next() {
            next.old.as_mut().unwrap()[name] = value.clone();
        }
    }

    fn broken_rules(&self) -> Vec<&'static str> {
        judge(&self.history).findings.into_iter().map(|finding| finding.rule).collect()
    }
}

/// Breaks the sound history, and expects that rule among what is found.
fn finds(rule: &str, break_it: impl FnOnce(&mut Story)) {
    let mut story = Story::sound();
    break_it(&mut story);
    let found = story.broken_rules();
    assert!(found.contains(&rule), "{rule} was not found, but {found:?}");
}

#[test]
fn a_sound_history_has_nothing_to_be_found() {
    let judgement = judge(&Story::sound().history);
    assert_eq!(judgement.findings, []);
    let figures = judgement.figures;
    assert_eq!((figures.completed, figures.claims, figures.saves, figures.acknowledged), (1, 2, 2, 2));
    assert_eq!((figures.takeovers.count, figures.takeovers.bound), (1, 1));
}

#[test]
fn fence_up_a_number_that_skips_one() {
    finds("FENCE-UP", |story| story.rewrite(5 * SECOND, "fence", &json!(3)));
}

#[test]
fn one_holder_a_claim_of_a_live_lease() {
    finds("ONE-HOLDER", |story| story.turn_at(5 * SECOND).at_us = 3 * SECOND);
}

#[test]
fn one_holder_another_owner_with_the_same_number() {
    finds("ONE-HOLDER", |story| story.rewrite(6 * SECOND, "owner", &json!("w0")));
}

#[test]
fn no_late_save_a_save_after_its_lease() {
    finds("NO-LATE-SAVE", |story| story.turn_at(6 * SECOND).at_us = 8 * SECOND + 200_000);
}

#[test]
fn no_late_save_a_receipt_at_the_very_end_of_its_lease() {
    finds("NO-LATE-SAVE", |story| {
        let receipt = story.history.trail.iter_mut().find(|change| change.tbl == "receipts").unwrap();
        receipt.new.as_mut().unwrap()["saved_us"] = json!(8 * SECOND);
    });
}

#[test]
fn no_lazarus_a_lapsed_lease_is_renewed() {
    finds("NO-LAZARUS", |story| {
        story.rewrite(SECOND + 5, "lease_expires_us", &json!(20 * SECOND));
        story.turn_at(SECOND + 5).at_us = 4 * SECOND + 500_000;
    });
}

#[test]
fn in_order_a_phase_is_skipped() {
    finds("IN-ORDER", |story| story.rewrite(6 * SECOND, "phase", &json!("b")));
}

#[test]
fn one_receipt_a_second_one() {
    finds("ONE-RECEIPT", |story| {
        let again = story.history.receipts[0].clone();
        story.history.receipts.push(again);
    });
}

#[test]
fn one_receipt_a_receipt_is_changed() {
    finds("ONE-RECEIPT", |story| {
        let receipt = json!({"run_id": "r", "phase": "a", "fence": 2, "saved_us": 1});
        story.change(8 * SECOND, "receipts", Some(receipt.clone()), Some(receipt));
    });
}

#[test]
fn all_or_nothing_a_phase_without_its_row() {
    finds("ALL-OR-NOTHING", |story| story.history.effects.get_mut("setups").unwrap().clear());
}

#[test]
fn all_or_nothing_a_receipt_of_another_transaction() {
    finds("ALL-OR-NOTHING", |story| {
        let receipt = story.history.trail.iter_mut().find(|change| change.tbl == "receipts").unwrap();
        receipt.xid = Some("another".to_owned());
    });
}

#[test]
fn resume_a_phase_is_done_again_by_a_later_claim() {
    finds("RESUME", |story| {
        story.turn(20 * SECOND, &json!({"fence": 3, "owner": "w0"}));
        story.step(20 * SECOND, "began", 100, "a", 3);
    });
}

#[test]
fn truth_an_acknowledged_receipt_is_missing() {
    finds("TRUTH", |story| drop(story.history.receipts.pop()));
}

#[test]
fn truth_superseded_by_somebody_who_never_claimed() {
    finds("TRUTH", |story| {
        let told = story.history.told.last_mut().unwrap();
        told.reason.as_mut().unwrap()["by_owner"] = json!("nobody");
    });
}

#[test]
fn truth_expired_while_the_lease_was_live() {
    finds("TRUTH", |story| {
        let told = story.history.told.last_mut().unwrap();
        told.at_us = 3 * SECOND;
        told.reason = Some(json!({"why": "expired", "late_by_ms": 0}));
    });
}

#[test]
fn truth_unconfirmed_with_nothing_in_between() {
    finds("TRUTH", |story| {
        story.history.faults.clear();
        story.history.told.last_mut().unwrap().reason = Some(json!({"why": "unconfirmed"}));
    });
}

#[test]
fn truth_an_attempt_that_says_completed_and_was_superseded() {
    finds("TRUTH", |story| story.history.attempts[0].outcome = Some("completed".to_owned()));
}

#[test]
fn blocked_not_failed_a_lost_lease_fails_the_run() {
    finds("BLOCKED-NOT-FAILED", |story| story.rewrite(SECOND + 5, "status", &json!("failed")));
}

#[test]
fn self_stop_a_step_goes_on_though_nothing_held_its_worker_up() {
    finds("SELF-STOP", |story| story.history.faults.clear());
}

#[test]
fn liveness_nobody_takes_a_lapsed_run_over() {
    finds("LIVENESS", |story| story.turn_at(5 * SECOND).at_us = 7 * SECOND);
}

#[test]
fn an_idempotency_key_that_changes() {
    finds("STEPS", |story| story.history.steps[1].key = "another".to_owned());
}
