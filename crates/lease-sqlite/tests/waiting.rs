//! Requests that wait for the file or take long, and effects that are refused.

mod support;

use std::time::Duration;

use lease_core::{
    AfterSave, Claim, ClaimNext, ClaimVerdict, Document, Effect, Effects, LeaseId, LeaseStore as _,
    LossLimit, LostReason, Operator as _, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName, PlanVersion,
    Priority, RenewVerdict, Renewals as _, RunId, RunKey, RunReader as _, Save, SaveVerdict, Submit, Ttl,
};
use lease_fake::conformance::Harness as _;
use lease_sqlite::SqliteStore;
use sqlx::Executor as _;
use support::{SqliteHarness, kind, session, settings};
use uuid::Uuid;

fn ttl() -> Ttl {
    Ttl::new(Duration::from_secs(60)).expect("a minute")
}

fn plan() -> Plan {
    let phases = PhaseList::from_names(["a", "b"]).expect("two phases");
    let name = PlanName::new("plan").expect("a name");
    Plan::new(name, PlanVersion::new(1).expect("one"), phases, "")
}

fn claim(owner: &str) -> Claim {
    Claim {
        run: RunId::new(Uuid::from_u128(1)),
        owner: OwnerId::from_stored(owner).expect("an owner"),
        ttl: ttl(),
        plans: vec![plan().id.digest],
        loss_limit: LossLimit::new(3).expect("three"),
    }
}

async fn held(harness: &SqliteHarness) -> LeaseId {
    let submit = Submit {
        id: RunId::new(Uuid::from_u128(1)),
        key: RunKey::new("key").expect("a key"),
        plan: plan(),
        priority: Priority::default(),
        input: Document::default(),
    };
    let _ = harness.store.submit(&submit).await.expect("submitted");
    let ClaimVerdict::Granted(grant) = harness.store.claim(&claim("w#1")).await.expect("a verdict") else {
        panic!("the run is free")
    };
    grant.lease
}

fn save(lease: &LeaseId, effects: Vec<Effect>) -> Save {
    let to = PhaseName::new("a").expect("a phase");
    let effects = Effects::new(effects).expect("few");
    Save::new(lease, Phase::Submitted, to, Document::default(), effects, ttl())
}

/// NO-LATE-SAVE: the lock comes first and the clock after it. A save that waits for the file past its
/// lease's end is judged by the clock as it stands then.
#[tokio::test]
async fn no_late_save_a_save_that_waited_for_the_file_past_its_leases_end_is_refused() {
    let harness = SqliteHarness::open().await;
    let lease = held(&harness).await;
    let mut somebody = session(&harness.path).await;
    somebody.execute("BEGIN IMMEDIATE").await.expect("the lock is free");
    somebody.execute("UPDATE moved_clock SET now_us = now_us + 61000000").await.expect("written");
    let (store, request) = (harness.store.clone(), save(&lease, Vec::new()));
    let saving = tokio::spawn(async move { store.save(&request).await });
    // It waits for the lock that is held, for as long as anybody looks.
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(!saving.is_finished(), "it did not wait for the lock");
    }
    somebody.execute("COMMIT").await.expect("committed");
    let verdict = saving.await.expect("no panic").expect("a verdict");
    let late_by = Some(Duration::from_secs(1));
    assert_eq!(verdict, SaveVerdict::Refused(LostReason::Expired { late_by }));
    assert_eq!(harness.store.receipts(lease.run).await.expect("read"), []);
}

/// ALL-OR-NOTHING: an effect that nothing here writes undoes what was written before it.
#[tokio::test]
async fn all_or_nothing_an_effect_of_an_unknown_kind_leaves_no_trace_of_the_save() {
    let harness = SqliteHarness::open().await;
    let lease = held(&harness).await;
    let unknown = Effect { kind: kind("unheard_of"), body: Document::default() };
    let verdict = harness.store.save(&save(&lease, vec![harness.effect("first"), unknown])).await;
    assert!(matches!(verdict, Ok(SaveVerdict::EffectRefused { .. })), "{verdict:?}");
    let view = harness.store.view(lease.run).await.expect("read").expect("there");
    assert_eq!(view.run.phase, Phase::Submitted);
    assert_eq!(harness.store.receipts(lease.run).await.expect("read"), []);
    assert_eq!(harness.effect_rows(lease.run).await, []);
}

/// TRUTH: whatever sets an expiry does not report a lease as held that has run out by the time the
/// transaction is over. Here a minute passes with every write to a run.
#[tokio::test]
async fn truth_a_lease_that_ran_out_while_it_was_written_down_is_not_reported_as_held() {
    let harness = SqliteHarness::open().await;
    let lease = held(&harness).await;
    let slow = vec![
        "CREATE TEMP VIEW store_clock AS SELECT now_us FROM main.moved_clock".to_owned(),
        "CREATE TEMP TRIGGER slow AFTER UPDATE ON main.lease_runs
         BEGIN UPDATE moved_clock SET now_us = now_us + 60000000; END"
            .to_owned(),
    ];
    let store =
        SqliteStore::open_with_session(&harness.path, &settings(), false, slow).await.expect("opened");
    let lapsed = LostReason::Expired { late_by: Some(Duration::ZERO) };
    let renewed = store.renew(&lease, ttl()).await.expect("a verdict");
    assert_eq!(renewed, RenewVerdict::Refused(lapsed.clone()));
    let claim = claim("w#2");
    let claimed = store.claim(&claim).await.expect("a verdict");
    assert_eq!(claimed, ClaimVerdict::Lapsed { fence: lease.fence.next().expect("room") });
    let next = ClaimNext {
        owners: vec![claim.owner.clone()],
        ttl: claim.ttl,
        plans: claim.plans.clone(),
        loss_limit: claim.loss_limit,
        except: Vec::new(),
    };
    let fence =
        async || harness.store.view(lease.run).await.expect("read").expect("the run").run.hold.fence();
    let before = fence().await;
    assert_eq!(store.claim_next(&next).await.expect("an answer").grants, []);
    assert!(fence().await > before, "it was claimed, and had run out");
    let ClaimVerdict::Granted(grant) = harness.store.claim(&claim).await.expect("a verdict") else {
        panic!("the run is free again")
    };
    let saved = store.save(&save(&grant.lease, Vec::new())).await.expect("a verdict");
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Lost(lapsed)));
}
