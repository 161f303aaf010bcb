//! Requests for the tests of steps: a supplier's run, claimed at any phase.

use lease_core::{
    Document, FencingToken, Job, LeaseId, OwnerId, Phase, PhaseName, Plan, PlanName, PlanVersion, Receipt,
    RunId, RunKey, Timestamp,
};
use serde_json::json;

use super::StepRequest;
use crate::plan;

/// A supplier's input, with every field that a record may have.
pub(crate) fn input() -> Document {
    Document::from_value(json!({
        "key": "S-1", "legal_name": "Café GmbH", "country": "DE", "tax_id": "DE136695976",
        "iban": "DE89370400440532013000", "bic": "DEUTDEFF", "currency": "EUR",
        "email": "ap@cafe.example", "payment_terms_days": 30, "spending_limit": "2500.50",
        "contact": "Zoë", "categories": ["beans", "cups"],
    }))
    .unwrap()
}

/// A claim of a run of the built-in plan that has saved `saved`. `next` is what the test means to do.
pub(crate) fn granted(fence: u64, next: &str, saved: &[&str]) -> (LeaseId, Job) {
    let plan = plan::built_in().plan;
    let phase = saved.last().map_or(Phase::Submitted, |name| Phase::new(name).unwrap());
    let found = plan.phases.next_after(&phase).map_or("", |name| name.as_str());
    assert_eq!(found, next);
    (lease(fence), job(plan, phase))
}

/// A request for the only phase, `phase`, of a plan of its own.
pub(crate) fn request_for(phase: &str) -> StepRequest {
    let phases = lease_core::PhaseList::from_names([phase]).unwrap();
    let plan = Plan::new(PlanName::new("test").unwrap(), PlanVersion::new(1).unwrap(), phases, "");
    StepRequest::new(&lease(7), &job(plan, Phase::Submitted), Vec::new()).unwrap()
}

/// A request for the only phase with this input.
pub(crate) fn request_with(input: Document) -> StepRequest {
    let (lease, mut job) = granted(1, "validated", &[]);
    job.input = input;
    StepRequest::new(&lease, &job, Vec::new()).unwrap()
}

/// A receipt for each phase.
pub(crate) fn receipts(phases: &[&str]) -> Vec<Receipt> {
    let receipt = |phase: &&str| Receipt {
        phase: PhaseName::new(*phase).unwrap(),
        fence: FencingToken::FIRST,
        body: Document::from_value(json!({ "of": phase })).unwrap(),
        saved_at: Timestamp::from_micros(1),
    };
    phases.iter().map(receipt).collect()
}

fn lease(fence: u64) -> LeaseId {
    LeaseId {
        run: "01890000-0000-7000-8000-000000000001".parse::<RunId>().unwrap(),
        owner: OwnerId::from_stored("tester").unwrap(),
        fence: FencingToken::new(fence).unwrap(),
    }
}

fn job(plan: Plan, phase: Phase) -> Job {
    let key = RunKey::new("S-1").unwrap();
    Job { key, plan, phase, losses: 0, failures: 0, key_epoch: 0, input: input() }
}
