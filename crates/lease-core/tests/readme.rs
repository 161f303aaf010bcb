//! The README's example: shown as it is compiled, and each of its outcomes on the store in memory.

#[path = "../examples/digitise/worker.rs"]
mod worker;

use std::time::Duration;

use lease_core::{
    Action, AttemptOutcome, Claim, Clock, Document, Job, LeaseSettings, LossLimit, Operator, PhaseList,
    PhaseName, Plan, PlanName, PlanVersion, Priority, Receipt, RunId, RunKey, Status, Submit, Timestamp, Ttl,
    Who, WorkerName,
};
use lease_fake::{FakeClock, FakeStore, drive};

struct Library {
    clock: FakeClock,
    store: FakeStore,
    settings: LeaseSettings,
    claim: Claim,
}

impl Library {
    fn with_one_book() -> Self {
        let clock = FakeClock::default();
        let store = FakeStore::new(clock.store_clock(Timestamp::from_micros(0)));
        let phases = PhaseList::from_names(["scanned", "recognised", "bound"]).expect("three phases");
        let name = PlanName::new("digitise").expect("a plan name");
        let plan = Plan::new(name, PlanVersion::new(1).expect("a version"), phases, "300 dpi");
        let submit = Submit {
            id: RunId::new(uuid::Uuid::from_u128(1)),
            key: RunKey::new("isbn-9780131103627").expect("a short key"),
            plan: plan.clone(),
            priority: Priority::default(),
            input: Document::default(),
        };
        let ttl = Ttl::new(Duration::from_secs(60)).expect("a minute is a ttl");
        let claim = Claim {
            run: submit.id,
            owner: WorkerName::new("scanner").expect("a short name").owner(1),
            ttl,
            plans: vec![plan.id.digest],
            loss_limit: LossLimit::DEFAULT,
        };
        let _ =
            drive::at_once(store.submit(&submit)).expect("answered at once").expect("no fault is ordered");
        let settings = LeaseSettings::with_ttl(ttl).expect("the defaults fit a minute");
        Self { clock, store, settings, claim }
    }

    fn work(
        &self,
        step: impl AsyncFn(&PhaseName, &Job) -> Result<Document, String>,
    ) -> Option<AttemptOutcome> {
        let desk = (&self.store as _, &self.clock as _);
        let working = worker::digitise(desk, (self.settings, &self.claim), step);
        drive::run(&self.clock, working).expect("the store answers").expect("the store works")
    }

    fn act(&self, action: &Action) {
        let who = Who::new("librarian", None).expect("a short name");
        let acted = drive::at_once(self.store.act(self.claim.run, action, &who));
        let _ = acted.expect("answered at once").expect("no fault is ordered");
    }

    /// The run's status, its saved phases, and the outcomes of its attempts.
    fn stands(&self) -> (Status, Vec<String>, Vec<Option<AttemptOutcome>>) {
        let stored = self.store.stored(self.claim.run).expect("it was submitted");
        let phase = |receipt: &Receipt| receipt.phase.to_string();
        let phases = stored.receipts.iter().map(phase).collect();
        (stored.run.status, phases, stored.attempts.iter().map(lease_core::Attempt::outcome).collect())
    }
}

#[test]
fn the_example_in_the_readme_is_the_one_that_is_compiled_and_has_under_60_lines() {
    let (readme, example) = (include_str!("../README.md"), include_str!("../examples/digitise/worker.rs"));
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "copy the example into the README");
    assert!(example.lines().count() < 60);
}

#[test]
fn a_book_is_digitised_phase_by_phase_and_there_is_nothing_to_claim_after_that() {
    let library = Library::with_one_book();
    let step = async |_: &PhaseName, _: &Job| {
        library.clock.sleep_until(library.clock.now().plus(Duration::from_secs(300))).await;
        Ok(Document::default())
    };
    assert_eq!(library.work(step), Some(AttemptOutcome::Completed));
    let phases = ["scanned", "recognised", "bound"].map(str::to_owned).to_vec();
    assert_eq!(library.stands(), (Status::Completed, phases, vec![Some(AttemptOutcome::Completed)]));
    assert_eq!(library.work(step), None);
}

#[test]
fn a_step_that_says_no_fails_the_run_after_the_phases_that_were_saved() {
    let library = Library::with_one_book();
    let outcome = library.work(async |phase, _| match phase.as_str() {
        "scanned" => Ok(Document::default()),
        _ => Err("the pages are blank".to_owned()),
    });
    assert_eq!(outcome, Some(AttemptOutcome::Failed));
    let (status, phases, _) = library.stands();
    assert_eq!((status, phases), (Status::Failed, vec!["scanned".to_owned()]));
}

#[test]
fn a_pause_lets_the_phase_be_saved_and_then_the_lease_is_given_back() {
    let library = Library::with_one_book();
    let outcome = library.work(async |_, _| {
        library.act(&Action::Pause);
        Ok(Document::default())
    });
    assert_eq!(outcome, Some(AttemptOutcome::Yielded));
    let saved = vec!["scanned".to_owned()];
    assert_eq!(library.stands(), (Status::Open, saved, vec![Some(AttemptOutcome::Yielded)]));
}

/// BLOCKED-NOT-FAILED.
#[test]
fn a_worker_that_comes_back_too_late_is_blocked_and_the_run_goes_on_without_it() {
    let library = Library::with_one_book();
    let outcome = library.work(async |_, _| {
        // The worker is stopped for two leases; meanwhile another one does the whole book.
        library.clock.advance(Duration::from_secs(120));
        let other = Claim { owner: WorkerName::new("other").unwrap().owner(2), ..library.claim.clone() };
        let desk = (&library.store as _, &library.clock as _);
        let quick = async |_: &PhaseName, _: &Job| Ok(Document::default());
        let done = worker::digitise(desk, (library.settings, &other), quick).await.unwrap();
        assert_eq!(done, Some(AttemptOutcome::Completed));
        Ok(Document::default())
    });
    assert_eq!(outcome, Some(AttemptOutcome::Blocked));
    let (status, phases, outcomes) = library.stands();
    assert_eq!((status, phases.len()), (Status::Completed, 3));
    assert_eq!(outcomes, [Some(AttemptOutcome::Blocked), Some(AttemptOutcome::Completed)]);
}
