//! Connections that break, answers that get lost, settings that are dropped on the way.

mod support;

use std::error::Error as _;
use std::time::Duration;

use lease_core::{
    AfterSave, ClaimVerdict, FailVerdict, LeaseStore as _, Operator as _, ReleaseVerdict, RunReader as _,
    SaveVerdict, StoreError, SubmitVerdict,
};
use lease_postgres::{NotInForce, PgStore};
use support::proxy::{Mischief, Proxy};
use support::words::{claim, fail, granted, id, minute, opened, release, save, submit};
use support::{Database, Deadline, execute, settings, value};

fn chain(error: &StoreError) -> String {
    let mut shown = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        shown.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    shown
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable_and_the_password_stays_hidden() {
    let urls = [
        "postgres://olga:geheim@127.0.0.1:1/db",
        "postgres://olga:geheim@no-such-host.invalid/db",
        "postgres://olga:geheim@127.0.0.1:1/db?sslmode=verify-full",
    ];
    for url in urls {
        let Err(error) = PgStore::connect(url, &settings()).await else { panic!("{url} was reached") };
        assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
        assert!(!chain(&error).contains("geheim"), "{}", chain(&error));
    }
    let Err(error) = PgStore::connect("postgres://olga:geheim@h/db?sslmode=geheim", &settings()).await else {
        panic!("a wrong URL was taken")
    };
    assert!(!chain(&error).contains("geheim"), "{}", chain(&error));
}

/// A pooler that drops what a session asks for: the start says which setting is not in force.
#[tokio::test]
async fn a_setting_that_is_not_in_force_is_named() {
    let database = Database::migrated().await;
    let mischief = Mischief { drop_options: true, ..Mischief::default() };
    let proxy = Proxy::before(&database.url, mischief).await;
    let Err(StoreError::Unexpected(source)) = PgStore::connect(&proxy.url, &settings()).await else {
        panic!("the settings were dropped")
    };
    let missing = source.downcast_ref::<NotInForce>().expect("it names the settings");
    let names: Vec<_> = missing.0.iter().map(|missing| missing.name).collect();
    let all = ["search_path", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
    assert_eq!(names, [&all[..], &["jit", "enable_seqscan", "plan_cache_mode"]].concat());
    let said = missing.to_string();
    assert!(said.contains("ALTER ROLE … SET search_path = pg_catalog, pg_temp; "), "{said}");
    assert!(said.contains("ALTER ROLE … SET statement_timeout = '30000'; "), "{said}");

    // With the role's help, the same line is good enough.
    let mut session = database.session().await;
    for (name, value) in [
        ("search_path", "pg_catalog, pg_temp"),
        ("statement_timeout", "'20s'"),
        ("lock_timeout", "'10s'"),
        ("idle_in_transaction_session_timeout", "'30s'"),
        ("jit", "off"),
        ("enable_seqscan", "off"),
        ("plan_cache_mode", "force_generic_plan"),
    ] {
        execute(&mut session, format!("ALTER DATABASE {} SET {name} = {value}", database.name)).await;
    }
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("everything is in force");
    opened(&store, 1, "acme").await;
}

/// The answer to a request is lost: that is "unknown", and the same request sent again says what
/// became of it. Cases 26 and 27.
#[tokio::test]
async fn truth_an_answer_that_got_lost_is_unknown_and_asking_again_tells() {
    let database = Database::migrated().await;
    let direct = database.store().await;
    let lossy = |marker| Mischief { lose_answer_to: Some(marker), times: 1, ..Mischief::default() };

    let proxy = Proxy::before(&database.url, lossy("lost-key")).await;
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
    let asked = submit(1, "lost-key");
    assert!(matches!(store.submit(&asked).await, Err(StoreError::Unknown(_))));
    let again = store.submit(&asked).await.expect("a verdict");
    assert_eq!(again, SubmitVerdict::Existing { run: id(1) });

    let proxy = Proxy::before(&database.url, lossy("lost-owner")).await;
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
    let lost = store.claim(&claim(id(1), "lost-owner", minute())).await;
    assert!(matches!(lost, Err(StoreError::Unknown(_))), "{lost:?}");
    let busy = store.claim(&claim(id(1), "b#1", minute())).await.expect("a verdict");
    let ClaimVerdict::Busy { owner, fence, .. } = busy else { panic!("{busy:?}") };
    assert_eq!(owner.as_str(), "lost-owner");

    let lease = lease_core::LeaseId { run: id(1), owner, fence };
    for (from, to) in [("submitted", "a"), ("a", "b")] {
        let saved = direct.save(&save(&lease, from, to, minute())).await.expect("a verdict");
        assert!(matches!(saved, SaveVerdict::Saved(_)));
    }
    let proxy = Proxy::before(&database.url, lossy("{\"did\":\"c\"}")).await;
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
    let asked = save(&lease, "b", "c", minute());
    assert!(matches!(store.save(&asked).await, Err(StoreError::Unknown(_))));
    let again = store.save(&asked).await.expect("a verdict");
    assert_eq!(again, SaveVerdict::AlreadySaved(AfterSave::Completed));
    assert_eq!(direct.receipts(id(1)).await.expect("receipts").len(), 3);

    let run = opened(&direct, 2, "second").await;
    let lease = granted(&direct, run, "c#1", minute()).await;
    let proxy = Proxy::before(&database.url, lossy("yielded")).await;
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
    let asked = release(&lease, "submitted");
    assert!(matches!(store.release(&asked).await, Err(StoreError::Unknown(_))));
    assert_eq!(store.release(&asked).await.expect("a verdict"), ReleaseVerdict::AlreadyReleased);

    let lease = granted(&direct, run, "d#1", minute()).await;
    let proxy = Proxy::before(&database.url, lossy("it broke")).await;
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
    let asked = fail(&lease, "submitted");
    assert!(matches!(store.fail(&asked).await, Err(StoreError::Unknown(_))));
    assert_eq!(store.fail(&asked).await.expect("a verdict"), FailVerdict::AlreadyFailed);
}

/// The server ends idle sessions, as a restart does. At most one request learns of it.
#[tokio::test]
async fn a_store_goes_on_after_its_sessions_were_ended() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let runs = [opened(&store, 1, "a").await, opened(&store, 2, "b").await];
    let mut session = database.session().await;
    let remaining = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lease-postgres'";
    // Several connections that stand idle: requests at the same time open them.
    let deadline = Deadline::new();
    while value::<i64>(&mut session, remaining).await < 3 {
        let (first, second, third) =
            tokio::join!(store.view(runs[0]), store.view(runs[1]), store.view(runs[0]));
        assert!(first.is_ok() && second.is_ok() && third.is_ok());
        deadline.pause().await;
    }
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lease-postgres'";
    assert!(value::<i64>(&mut session, ended).await >= 3);
    let deadline = Deadline::new();
    while value::<i64>(&mut session, remaining).await > 0 {
        deadline.pause().await;
    }
    let first = store.view(runs[0]).await.expect_err("its session is gone");
    assert!(first.may_try_again(), "{first:?}");
    for run in runs {
        assert!(store.view(run).await.expect("an answer").is_some());
    }
}

/// Cancel safety: requests that nobody waits for any more neither hold connections in odd states nor
/// leave transactions open.
#[tokio::test]
async fn a_request_that_was_given_up_leaves_nothing_open() {
    let database = Database::migrated().await;
    let store = database.store_with(&lease_postgres::PgSettings { max_connections: 2, ..settings() }).await;
    let run = opened(&store, 1, "acme").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    let mut session = database.session().await;
    for round in 0..20_u64 {
        execute(&mut session, "BEGIN; SELECT FROM lease.runs FOR UPDATE").await;
        let asked = save(&lease, "submitted", "a", minute());
        let given_up = tokio::time::timeout(Duration::from_millis(round % 5), store.save(&asked)).await;
        assert!(given_up.is_err(), "{given_up:?}");
        execute(&mut session, "ROLLBACK").await;
    }
    let saved = store.save(&save(&lease, "submitted", "a", minute())).await.expect("a verdict");
    assert!(matches!(saved, SaveVerdict::Saved(_) | SaveVerdict::AlreadySaved(_)), "{saved:?}");
    let open = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    let deadline = Deadline::new();
    while value::<i64>(&mut session, open).await > 0 {
        deadline.pause().await;
    }
    assert_eq!(store.receipts(run).await.expect("receipts").len(), 1);
}

/// All connections are taken: nothing was sent.
#[tokio::test]
async fn a_store_without_a_free_connection_is_unreachable_for_now() {
    let database = Database::migrated().await;
    let narrow = lease_postgres::PgSettings {
        max_connections: 1,
        acquire_timeout: Duration::from_millis(50),
        ..settings()
    };
    let store = database.store_with(&narrow).await;
    let run = opened(&store, 1, "acme").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    let mut session = database.session().await;
    execute(&mut session, "BEGIN; SELECT FROM lease.runs FOR UPDATE").await;
    let (waiting, held) = (store.clone(), lease.clone());
    let saving = tokio::spawn(async move { waiting.save(&save(&held, "submitted", "a", minute())).await });
    support::waiting_sessions(&mut database.session().await, 1).await;
    let refused = store.view(run).await.expect_err("the only connection is taken");
    assert!(matches!(refused, StoreError::Unreachable(_)), "{refused:?}");
    execute(&mut session, "ROLLBACK").await;
    assert!(saving.await.expect("no panic").is_ok());
    assert!(store.view(run).await.is_ok());
}
