//! Short ways to write down requests in clauses.

use std::time::Duration;

use lease_core::{
    Claim, ClaimNext, Digest, Document, Due, Effects, Fail, Failure, FailureKind, FencingToken, LeaseId,
    Loss, LossLimit, LostReason, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName, PlanVersion, Priority,
    Refused, Release, RunId, RunKey, Save, Submit, Ttl, Who,
};
use serde_json::json;
use uuid::Uuid;

/// The TTL of a lease where the clause says nothing else.
pub(super) const TTL: Duration = Duration::from_secs(60);
/// The smallest step of time that every store's clock can show.
pub(super) const BLINK: Duration = Duration::from_millis(1);
/// How many losses claims put up with where the clause says nothing else.
pub(super) const LOSSES: u32 = 3;

pub(super) fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(super) fn ttl() -> Ttl {
    ttl_of(TTL)
}

pub(crate) fn ttl_of(duration: Duration) -> Ttl {
    Ttl::new(duration).expect("clauses use durations in range")
}

pub(crate) fn id(number: u128) -> RunId {
    RunId::new(Uuid::from_u128(number))
}

pub(super) fn key(text: &str) -> RunKey {
    RunKey::new(text).expect("clauses use short keys")
}

pub(crate) fn owner(text: &str) -> OwnerId {
    OwnerId::from_stored(text).expect("clauses use short owners")
}

pub(super) fn fence(number: u64) -> FencingToken {
    FencingToken::new(number).expect("clauses use numbers in range")
}

pub(crate) fn name(phase: &str) -> PhaseName {
    PhaseName::new(phase).expect("clauses use phase names")
}

pub(crate) fn phase(word: &str) -> Phase {
    Phase::new(word).expect("clauses use phase names")
}

pub(super) fn priority(level: i32) -> Priority {
    Priority::new(level).expect("clauses use priorities in range")
}

pub(crate) fn document(value: serde_json::Value) -> Document {
    Document::from_value(value).expect("clauses use small objects")
}

pub(crate) fn who() -> Who {
    Who::new("olga", Some("because".to_owned())).expect("a short name and reason")
}

/// The plan of most runs: phases `a`, `b`, `c`.
pub(super) fn plan() -> Plan {
    plan_of("plan", 1, "")
}

pub(crate) fn plan_of(plan: &str, version: i64, meaning: &str) -> Plan {
    let plan = PlanName::new(plan).expect("clauses use plan names");
    let version = PlanVersion::new(version).expect("clauses use versions in range");
    let phases = PhaseList::from_names(["a", "b", "c"]).expect("three phases");
    Plan::new(plan, version, phases, meaning)
}

/// The digest that a worker shows for [`plan`].
pub(super) fn known() -> Vec<Digest> {
    vec![plan().id.digest]
}

pub(super) fn submit(number: u128, text: &str) -> Submit {
    Submit {
        id: id(number),
        key: key(text),
        plan: plan(),
        priority: Priority::default(),
        input: document(json!({"name": text})),
    }
}

pub(super) fn claim(run: RunId, by: &str) -> Claim {
    let loss_limit = LossLimit::new(LOSSES).expect("above zero");
    Claim { run, owner: owner(by), ttl: ttl(), plans: known(), loss_limit }
}

/// A claim of as many runs as there are owners.
pub(super) fn next(owners: &[&str]) -> ClaimNext {
    ClaimNext {
        owners: owners.iter().map(|by| owner(by)).collect(),
        ttl: ttl(),
        plans: known(),
        loss_limit: LossLimit::new(LOSSES).expect("above zero"),
        except: Vec::new(),
    }
}

/// A save without effects, whose receipt says `note`.
pub(super) fn save(lease: &LeaseId, from: &str, to: &str, note: &str) -> Save {
    save_with(lease, from, to, note, Effects::none())
}

pub(super) fn save_with(lease: &LeaseId, from: &str, to: &str, note: &str, effects: Effects) -> Save {
    Save::new(lease, phase(from), name(to), receipt(note), effects, ttl())
}

pub(super) fn receipt(note: &str) -> Document {
    document(json!({"note": note}))
}

pub(super) fn release(lease: &LeaseId, from: &str, due: Due) -> Release {
    Release { lease: lease.clone(), from: phase(from), due }
}

pub(super) fn later(delay: Duration) -> Due {
    Due::Later { delay, failure: failure("a") }
}

pub(super) fn fail(lease: &LeaseId, from: &str) -> Fail {
    Fail { lease: lease.clone(), from: phase(from), failure: failure("a") }
}

pub(super) fn failure(at: &str) -> Failure {
    Failure::new(name(at), FailureKind::STEP, "said no", 1)
}

/// The reason of a blocked attempt.
pub(super) fn blocked() -> Document {
    let why = LostReason::Expired { late_by: Some(seconds(1)) };
    Loss::before_save(Refused::Save, name("a"), why).to_document()
}

pub(super) fn superseded(by_fence: u64, by_owner: &str) -> LostReason {
    LostReason::Superseded { by_fence: fence(by_fence), by_owner: owner(by_owner) }
}

pub(super) fn expired(late_by: Duration) -> LostReason {
    LostReason::Expired { late_by: Some(late_by) }
}

pub(super) fn conflict(expected: &str, actual: &str) -> LostReason {
    LostReason::PhaseConflict { expected: phase(expected), actual: phase(actual) }
}
