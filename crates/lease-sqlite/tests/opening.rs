//! Files that cannot be used are told apart, and nothing is lost in them.

mod support;

use std::fs;

use lease_core::{History, LeaseStore as _, Operator as _, RunReader as _, SchemaState, Step, StoreError};
use lease_fake::conformance::Harness as _;
use lease_sqlite::{HISTORY, OpenError, Sealed, SqliteStore};
use support::{SqliteHarness, execute, settings};
use uuid::Uuid;

fn why(opened: Result<SqliteStore, StoreError>) -> OpenError {
    let Err(StoreError::Unexpected(source)) = opened else { panic!("it was opened, or another error came") };
    *source.downcast::<OpenError>().expect("an error of opening")
}

#[tokio::test]
async fn each_kind_of_file_that_cannot_be_used_is_told_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let open = async |name: &str| SqliteStore::open(&path(name), &settings()).await;
    assert!(matches!(why(open("missing.db").await), OpenError::NoFile(_)));
    assert!(matches!(why(open("no/such/folder.db").await), OpenError::NoFolder(_)));
    fs::create_dir(path("folder")).expect("made");
    assert!(matches!(why(open("folder").await), OpenError::Folder(_)));
    let text =
        "This is a letter to a supplier, and certainly longer than the header of a database file has to be. "
            .repeat(20);
    fs::write(path("letter.db"), &text).expect("written");
    assert!(matches!(why(open("letter.db").await), OpenError::NotADatabase(_)));
    assert_eq!(fs::read_to_string(path("letter.db")).expect("read"), text, "and it is left alone");
}

#[tokio::test]
async fn the_state_of_a_schema_is_told_and_a_newer_one_is_refused() {
    const NEWER: History = History {
        table: "lease_migrations",
        steps: &[
            HISTORY.steps[0],
            HISTORY.steps[1],
            Step { version: 3, name: "add_more", sql: "CREATE TABLE more (a)" },
        ],
    };
    let folder = tempfile::tempdir().expect("a folder");
    let store =
        SqliteStore::open_or_create(&folder.path().join("new.db"), &settings()).await.expect("opened");
    assert_eq!(store.schema_state(&[&HISTORY]).await.expect("told"), SchemaState::Missing);
    store.migrate(&[&HISTORY]).await.expect("migrated");
    store.migrate(&[&HISTORY]).await.expect("nothing to do");
    assert_eq!(store.schema_state(&[&HISTORY]).await.expect("told"), SchemaState::Current);
    store.migrate(&[&NEWER]).await.expect("a newer program");
    assert!(matches!(store.migrate(&[&HISTORY]).await, Err(StoreError::Schema(_))));
    let ahead = SchemaState::Ahead { table: "lease_migrations", at: 3, known: 2 };
    assert_eq!(store.schema_state(&[&HISTORY]).await.expect("told"), ahead);
}

/// Case 20: many start at once on a new file.
#[tokio::test]
async fn case_20_eight_programs_make_and_migrate_one_file_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.db");
    let programs: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            tokio::spawn(async move {
                let store = SqliteStore::open_or_create(&path, &settings()).await?;
                store.migrate(&[&HISTORY]).await?;
                store.schema_state(&[&HISTORY]).await
            })
        })
        .collect();
    for program in programs {
        assert_eq!(program.await.expect("no panic").expect("migrated"), SchemaState::Current);
    }
}

/// A full disk: the request is not applied, and what was there stays.
#[tokio::test]
async fn a_full_disk_is_not_applied_and_loses_nothing() {
    use lease_fake::conformance::Store;
    let harness = SqliteHarness::open().await;
    let store: std::sync::Arc<dyn Store> = harness.store().await;
    assert!(store.runs_after(None, 9).await.expect("read").is_empty());
    let full = vec!["PRAGMA max_page_count = 1".to_owned()];
    let store =
        SqliteStore::open_with_session(&harness.path, &settings(), false, full).await.expect("opened");
    let mut refused = None;
    for number in 0..200_u128 {
        if let Err(error) = store.submit(&submit(number)).await {
            refused = Some((number, error));
            break;
        }
    }
    let (number, error) = refused.expect("the file may not grow");
    assert!(matches!(error, StoreError::NotApplied(_)), "{error:?}");
    assert_eq!(store.runs_after(None, 1_000).await.expect("read").len() as u128, number);
}

/// ONE-HOLDER across two stores: a sealed file can be read, and not worked on by any program.
#[tokio::test]
async fn one_holder_a_sealed_file_is_read_and_never_worked_on_again() {
    let harness = SqliteHarness::open().await;
    let store = &harness.store;
    let _ = store.submit(&submit(1)).await.expect("submitted");
    let transfer = Uuid::from_u128(5);
    let seal = store.seal(transfer, "postgres://db/buyer").await.expect("sealed");
    assert!(!seal.moved);
    let refused = store.submit(&submit(2)).await.expect_err("sealed");
    let StoreError::Unexpected(source) = refused else { panic!("{refused:?}") };
    assert_eq!(source.downcast_ref::<Sealed>().expect("the seal").destination, "postgres://db/buyer");
    let claim = lease_core::ClaimNext {
        owners: vec![lease_core::OwnerId::from_stored("w#1").expect("an owner")],
        ttl: lease_core::Ttl::new(std::time::Duration::from_secs(60)).expect("a minute"),
        plans: vec![plan().id.digest],
        loss_limit: lease_core::LossLimit::new(3).expect("three"),
        except: Vec::new(),
    };
    assert!(store.claim_next(&claim).await.is_err());
    assert_eq!(store.runs_after(None, 9).await.expect("it can be read").len(), 1);
    store.unseal(transfer).await.expect("it brought nothing");
    assert_eq!(store.claim_next(&claim).await.expect("claimed").grants.len(), 1);
    let live = store.seal(transfer, "postgres://db/buyer").await;
    assert!(matches!(live, Err(StoreError::NotApplied(_))), "a lease is live: {live:?}");
    harness.elapse(std::time::Duration::from_secs(61)).await;
    let seal = store.seal(transfer, "postgres://db/buyer").await.expect("sealed");
    store.seal_moved(&seal).await.expect("noted");
    assert!(store.unseal(transfer).await.is_err(), "it stays for ever");
    execute(&harness.path, "SELECT 1").await;
}

fn plan() -> lease_core::Plan {
    let phases = lease_core::PhaseList::from_names(["a", "b"]).expect("two phases");
    let name = lease_core::PlanName::new("plan").expect("a name");
    lease_core::Plan::new(name, lease_core::PlanVersion::new(1).expect("one"), phases, "")
}

fn submit(number: u128) -> lease_core::Submit {
    let input = serde_json::json!({ "text": "x".repeat(2_000) });
    lease_core::Submit {
        id: lease_core::RunId::new(Uuid::from_u128(number + 1)),
        key: lease_core::RunKey::new(format!("key {number}")).expect("a key"),
        plan: plan(),
        priority: lease_core::Priority::default(),
        input: lease_core::Document::from_value(input).expect("an object"),
    }
}
