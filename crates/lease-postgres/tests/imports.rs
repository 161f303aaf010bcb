//! Runs that come from another store: all of them, exactly as they stood, or none. FENCE-UP,
//! ALL-OR-NOTHING.

mod support;

use std::time::Duration;

use lease_core::{
    Action, AttemptOutcome, Due, Hold, LeaseStore as _, Operator as _, RunId, RunReader as _, RunRecord,
    StoreError,
};
use lease_fake::{FakeClock, FakeStore};
use lease_postgres::{Arrived, PgStore};
use serde_json::json;
use support::Database;
use support::words::{claim, claim_next, document, fail, minute, release, save, submit, who};
use uuid::Uuid;

const PHASES: [&str; 3] = ["a", "b", "c"];

/// A store with a run in every state, by its own clock.
async fn full_store() -> FakeStore {
    let clock = FakeClock::starting_at(Duration::from_secs(1_000));
    let start = lease_core::Timestamp::from_micros(1_700_000_000_123_456);
    let store = FakeStore::new(clock.store_clock(start));
    for number in 1..=8_u128 {
        let input = document(
            json!({ "n": number, "wide": "ü\u{1f600}", "exact": 12.50, "power": 1e3, "list": [null] }),
        );
        let submit = lease_core::Submit { input, ..submit(number, &format!("key {number}")) };
        let _ = store.submit(&submit).await.expect("submitted");
    }
    let run = |number: u128| RunId::new(Uuid::from_u128(number));
    let take = async |number: u128| {
        let verdict =
            store.claim(&claim(run(number), &format!("w#{number}"), minute())).await.expect("a verdict");
        let lease_core::ClaimVerdict::Granted(grant) = verdict else { panic!("{verdict:?}") };
        grant.lease
    };
    // 1 is never claimed. 2 is completed, on its second claim.
    let lease = take(2).await;
    let _ = store.release(&release(&lease, "submitted")).await.expect("released");
    let lease = take(2).await;
    let mut from = "submitted";
    for to in PHASES {
        let _ = store.save(&save(&lease, from, to, minute())).await.expect("saved");
        from = to;
    }
    let lease = take(3).await;
    let _ = store.fail(&fail(&lease, "submitted")).await.expect("failed");
    let lease = take(4).await;
    let _ = store
        .release(&lease_core::Release { due: Due::Approval, ..release(&lease, "submitted") })
        .await
        .expect("waits");
    let _ = store.act(run(5), &Action::Cancel, &who()).await.expect("cancelled");
    let lease = take(6).await;
    let _ = store.save(&save(&lease, "submitted", "a", minute())).await.expect("saved");
    let _ = store.act(run(6), &Action::Pause, &who()).await.expect("paused");
    // 7 was superseded once, and both leases ran out.
    let _ = take(7).await;
    store.clock().advance(Duration::from_secs(120));
    let _ = take(7).await;
    store.clock().advance(Duration::from_secs(120));
    store
}

async fn records(store: &FakeStore) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for run in store.runs_after(None, 100).await.expect("ids") {
        records.push(RunRecord::read(store, run).await.expect("read").expect("there"));
    }
    records
}

fn arrived(records: &[RunRecord]) -> Arrived {
    Arrived { runs: records.len() as u64, digest: lease_core::Hasher::new("test").finish() }
}

#[tokio::test]
async fn fence_up_runs_in_every_state_arrive_as_they_stood_and_go_on_counting() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let sent = records(&full_store().await).await;
    let mut import = store.begin_import().await.expect("begun");
    for record in &sent {
        import.run(record).await.expect("taken in");
        let back = import.read_back(record.run.id).await.expect("read").expect("there");
        assert_eq!(back, record.to_value());
    }
    assert_eq!(store.runs_after(None, 9).await.expect("ids"), [], "nothing is seen before the commit");
    let transfer = Uuid::from_u128(7);
    import.commit(transfer, "elsewhere", &arrived(&sent)).await.expect("committed");
    assert_eq!(store.find_transfer(transfer).await.expect("an answer"), Some(arrived(&sent)));
    assert_eq!(store.find_transfer(Uuid::from_u128(8)).await.expect("an answer"), None);
    for record in &sent {
        let here = RunRecord::read(&store, record.run.id).await.expect("read").expect("there");
        assert_eq!(here.to_value(), record.to_value(), "as the read port tells it");
    }
    // Work goes on with the next number, and closes what never came back.
    let claimed = store.claim_next(&claim_next(&["n#1", "n#2", "n#3"], minute())).await.expect("claimed");
    let mut fences: Vec<_> =
        claimed.grants.iter().map(|grant| (grant.job.key.to_string(), grant.lease.fence.get())).collect();
    fences.sort();
    assert_eq!(fences, [("key 1".to_owned(), 1), ("key 7".to_owned(), 3), ("key 8".to_owned(), 1)]);
    let attempts = store.attempts(RunId::new(Uuid::from_u128(7))).await.expect("attempts");
    let outcomes: Vec<_> = attempts.iter().map(lease_core::Attempt::outcome).collect();
    assert_eq!(outcomes, [Some(AttemptOutcome::Superseded), Some(AttemptOutcome::Superseded), None]);
}

#[tokio::test]
async fn all_or_nothing_a_key_that_is_taken_leaves_nothing_behind() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let _ = store.submit(&submit(99, "key 5")).await.expect("submitted");
    let sent = records(&full_store().await).await;
    let mut import = store.begin_import().await.expect("begun");
    let mut refused = None;
    for record in &sent {
        if let Err(error) = import.run(record).await {
            refused = Some(error);
            break;
        }
    }
    assert!(matches!(refused, Some(StoreError::Corrupt(_))), "{refused:?}");
    drop(import);
    only_ours(&store).await;
}

#[tokio::test]
async fn all_or_nothing_an_import_that_is_dropped_leaves_nothing_behind() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let _ = store.submit(&submit(99, "ours")).await.expect("submitted");
    let mut import = store.begin_import().await.expect("begun");
    import.run(&records(&full_store().await).await[0]).await.expect("taken in");
    drop(import);
    only_ours(&store).await;
}

async fn only_ours(store: &PgStore) {
    assert_eq!(store.runs_after(None, 9).await.expect("ids"), [RunId::new(Uuid::from_u128(99))]);
    let view = store.view(RunId::new(Uuid::from_u128(99))).await.expect("read").expect("there");
    assert_eq!(view.run.hold, Hold::Never);
}
