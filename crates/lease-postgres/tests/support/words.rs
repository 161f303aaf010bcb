//! Short ways to write down requests in tests.

use std::time::Duration;

use lease_core::{
    Claim, ClaimNext, ClaimVerdict, Document, Due, Effect, EffectKind, Effects, Fail, Failure, FailureKind,
    LeaseId, LeaseStore as _, LossLimit, Operator as _, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName,
    PlanVersion, Priority, Release, RunId, RunKey, Save, Submit, SubmitVerdict, Ttl, Who,
};
use lease_postgres::PgStore;
use serde_json::json;
use uuid::Uuid;

pub(crate) fn ttl(millis: u64) -> Ttl {
    Ttl::new(Duration::from_millis(millis)).expect("tests use durations in range")
}

pub(crate) fn minute() -> Ttl {
    ttl(60_000)
}

pub(crate) fn id(number: u128) -> RunId {
    RunId::new(Uuid::from_u128(number))
}

pub(crate) fn owner(text: &str) -> OwnerId {
    OwnerId::from_stored(text).expect("tests use short owners")
}

pub(crate) fn name(phase: &str) -> PhaseName {
    PhaseName::new(phase).expect("tests use phase names")
}

pub(crate) fn phase(word: &str) -> Phase {
    Phase::new(word).expect("tests use phase names")
}

pub(crate) fn document(value: serde_json::Value) -> Document {
    Document::from_value(value).expect("tests use small objects")
}

pub(crate) fn who() -> Who {
    Who::new("olga", Some("because".to_owned())).expect("a short name and reason")
}

pub(crate) fn failure() -> Failure {
    Failure::new(name("a"), FailureKind::STEP, "it broke", 1)
}

pub(crate) fn plan() -> Plan {
    plan_of("plan", "")
}

pub(crate) fn plan_of(plan: &str, meaning: &str) -> Plan {
    let phases = PhaseList::from_names(["a", "b", "c"]).expect("three phases");
    let version = PlanVersion::new(1).expect("one is a version");
    Plan::new(PlanName::new(plan).expect("tests use plan names"), version, phases, meaning)
}

pub(crate) fn submit(number: u128, key: &str) -> Submit {
    Submit {
        id: id(number),
        key: RunKey::new(key).expect("tests use short keys"),
        plan: plan(),
        priority: Priority::default(),
        input: document(json!({ "key": key })),
    }
}

pub(crate) fn claim(run: RunId, by: &str, ttl: Ttl) -> Claim {
    Claim { run, owner: owner(by), ttl, plans: vec![plan().id.digest], loss_limit: LossLimit::DEFAULT }
}

pub(crate) fn claim_next(by: &[&str], ttl: Ttl) -> ClaimNext {
    ClaimNext {
        owners: by.iter().map(|by| owner(by)).collect(),
        ttl,
        plans: vec![plan().id.digest],
        loss_limit: LossLimit::DEFAULT,
        except: Vec::new(),
    }
}

pub(crate) fn save(lease: &LeaseId, from: &str, to: &str, ttl: Ttl) -> Save {
    Save::new(lease, phase(from), name(to), document(json!({ "did": to })), Effects::none(), ttl)
}

pub(crate) fn save_with(lease: &LeaseId, from: &str, to: &str, ttl: Ttl, effects: Vec<Effect>) -> Save {
    let effects = Effects::new(effects).expect("tests use few effects");
    Save::new(lease, phase(from), name(to), document(json!({ "did": to })), effects, ttl)
}

pub(crate) fn effect(kind: &str, body: serde_json::Value) -> Effect {
    Effect { kind: EffectKind::new(kind).expect("tests use plain kinds"), body: document(body) }
}

pub(crate) fn release(lease: &LeaseId, from: &str) -> Release {
    Release { lease: lease.clone(), from: phase(from), due: Due::Now }
}

pub(crate) fn fail(lease: &LeaseId, from: &str) -> Fail {
    Fail { lease: lease.clone(), from: phase(from), failure: failure() }
}

/// Opens a run.
pub(crate) async fn opened(store: &PgStore, number: u128, key: &str) -> RunId {
    let submit = submit(number, key);
    assert_eq!(store.submit(&submit).await.expect("a verdict"), SubmitVerdict::Opened);
    submit.id
}

/// Claims a run.
pub(crate) async fn granted(store: &PgStore, run: RunId, by: &str, ttl: Ttl) -> LeaseId {
    let verdict = store.claim(&claim(run, by, ttl)).await.expect("a verdict");
    let ClaimVerdict::Granted(grant) = verdict else { panic!("not granted: {verdict:?}") };
    grant.lease
}
