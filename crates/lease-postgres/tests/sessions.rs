//! Sessions as databases, roles and people set them: the store asks for what it needs itself, and no
//! verdict depends on the rest.

mod support;

use std::error::Error as _;
use std::time::Duration;

use lease_core::{
    AfterSave, ClaimVerdict, LeaseStore as _, LostReason, RenewVerdict, Renewals as _, RunReader as _,
    SaveVerdict, StoreError, Timestamp,
};
use lease_postgres::PgStore;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use support::words::{claim, claim_next, granted, minute, opened, release, save, ttl};
use support::{Database, Deadline, execute, settings, value};

/// A database whose defaults are as unhelpful as they can be.
async fn unhelpful() -> Database {
    let database = Database::migrated().await;
    let defaults = [
        "default_transaction_isolation = 'serializable'",
        "synchronous_commit = off",
        "search_path = public",
        "statement_timeout = '1ms'",
        "lock_timeout = '1ms'",
        "\"TimeZone\" = 'Asia/Tokyo'",
        "\"DateStyle\" = 'German, DMY'",
        "\"IntervalStyle\" = 'sql_standard'",
        "bytea_output = 'escape'",
        "extra_float_digits = 0",
    ];
    let mut session = database.session().await;
    for default in defaults {
        execute(&mut session, format!("ALTER DATABASE {} SET {default}", database.name)).await;
    }
    database
}

#[tokio::test]
async fn a_store_works_whatever_the_database_defaults_to() {
    let database = unhelpful().await;
    let store = database.store().await;
    let run = opened(&store, 1, "acme").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    let renewed = store.renew(&lease, minute()).await.expect("a verdict");
    assert_eq!(renewed, RenewVerdict::Renewed { yield_asked: false });
    let saved = store.save(&save(&lease, "submitted", "a", minute())).await.expect("a verdict");
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
}

/// Repeatable read as the default of a lent pool: whatever changed under the statement is "not
/// applied", and never a wrong verdict.
#[tokio::test]
async fn repeatable_read_turns_races_into_not_applied() {
    let database = Database::migrated().await;
    let setup = database.store().await;
    let run = opened(&setup, 1, "acme").await;
    let lease = granted(&setup, run, "a#1", minute()).await;
    let options: PgConnectOptions = database.url.parse().expect("a valid URL");
    let options = options.options([("default_transaction_isolation", "repeatable read")]);
    let pool = PgPoolOptions::new().connect_with(options).await.expect("a pool");
    let store = PgStore::from_pool(pool);
    let mut session = database.session().await;
    execute(&mut session, "BEGIN; UPDATE lease.runs SET priority = 1").await;
    let (waiting, held) = (store.clone(), lease.clone());
    let saving = tokio::spawn(async move { waiting.save(&save(&held, "submitted", "a", minute())).await });
    support::waiting_sessions(&mut database.session().await, 1).await;
    execute(&mut session, "COMMIT").await;
    let refused = saving.await.expect("no panic").expect_err("the row changed");
    assert!(matches!(refused, StoreError::NotApplied(_)), "{refused:?}");
    let saved = store.save(&save(&lease, "submitted", "a", minute())).await.expect("a verdict");
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
}

/// Case 12: the same in any time zone, and while it changes under a lease.
#[tokio::test]
async fn case_12_the_time_zone_changes_nothing() {
    let database = Database::migrated().await;
    let first = database.store().await;
    let run = opened(&first, 1, "acme").await;
    let lease = granted(&first, run, "a#1", minute()).await;
    let mut seen: Option<(Timestamp, Timestamp)> = None;
    for zone in ["UTC", "America/New_York", "Asia/Tokyo"] {
        let mut session = database.session().await;
        let statement = format!("ALTER DATABASE {} SET \"TimeZone\" = '{zone}'", database.name);
        execute(&mut session, statement).await;
        // A pool of somebody else's, which does take the database's time zone.
        let options: PgConnectOptions = database.url.parse().expect("a valid URL");
        let pool = PgPoolOptions::new().after_connect(move |connection, _| {
            Box::pin(async move {
                let zone = format!("SET TimeZone = '{zone}'");
                sqlx::raw_sql(sqlx::AssertSqlSafe(zone)).execute(connection).await.map(|_| ())
            })
        });
        let pool = pool.connect_with(options).await.expect("a pool");
        for store in [PgStore::from_pool(pool), database.store().await] {
            let view = store.view(run).await.expect("an answer").expect("the run");
            let now = (view.run.submitted_at, view.run.due_at);
            assert_eq!(*seen.get_or_insert(now), now, "{zone}");
            let renewed = store.renew(&lease, minute()).await.expect("a verdict");
            assert_eq!(renewed, RenewVerdict::Renewed { yield_asked: false }, "{zone}");
            let view = store.view(run).await.expect("an answer").expect("the run");
            let lease_core::Hold::Held { expires_at, .. } = view.run.hold else { panic!("{zone}: not held") };
            let left = expires_at.since(view.now);
            assert!(left > Duration::from_secs(50) && left <= Duration::from_secs(60), "{zone}: {left:?}");
            let other = store.claim(&claim(run, "b#1", minute())).await.expect("a verdict");
            assert!(matches!(other, ClaimVerdict::Busy { .. }), "{zone}: {other:?}");
        }
    }
}

/// Case 2: a statement inside an open transaction that outlives the lease is judged by its own
/// instant, not by the transaction's start.
#[tokio::test]
async fn case_2_a_renewal_in_a_transaction_older_than_the_expiry_is_refused() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let run = opened(&store, 1, "acme").await;
    let mut session = database.session().await;
    let lease = granted(&store, run, "a#1", ttl(150)).await;
    execute(&mut session, "BEGIN; SELECT now()").await;
    let deadline = Deadline::new();
    let mut watcher = database.session().await;
    while !value::<bool>(&mut watcher, "SELECT lease_expires_at < clock_timestamp() FROM lease.runs").await {
        deadline.pause().await;
    }
    for name in ["renew", "save"] {
        let (_, statement) =
            lease_postgres::STATEMENTS.iter().find(|(file, _)| *file == name).expect("it is there");
        let ask = sqlx::query(*statement)
            .bind(run.as_uuid())
            .bind(lease.owner.as_str())
            .bind(lease.fence.to_column());
        let ask = match name {
            "renew" => ask.bind(60_000_i64),
            _ => ask.bind("submitted").bind("a").bind("0".repeat(64)).bind("{}").bind(60_000_i64),
        };
        let row = ask.fetch_one(&mut session).await.expect("an answer");
        let verdict: String = sqlx::Row::get(&row, "verdict");
        assert_eq!(verdict, "lost", "{name}");
    }
    execute(&mut session, "COMMIT").await;
    assert!(matches!(
        store.renew(&lease, minute()).await.expect("a verdict"),
        RenewVerdict::Refused(LostReason::Expired { .. })
    ));
}

/// A claim, a save and a release are durable where the default is not; a renewal, and what was
/// refused, need not be.
#[tokio::test]
async fn what_must_survive_a_crash_is_durable_whatever_the_default() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let run = opened(&store, 1, "acme").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    for (default, renewing, saving, refused) in [("off", "off", "on", "off"), ("on", "off", "on", "off")] {
        let mut session = database.session().await;
        execute(&mut session, format!("SET synchronous_commit = {default}")).await;
        let owner = lease.owner.as_str();
        for (name, wanted, to) in [("renew", renewing, ""), ("save", saving, "a"), ("save", refused, "c")] {
            let statement =
                lease_postgres::STATEMENTS.iter().find(|(file, _)| *file == name).expect("it is there").1;
            execute(&mut session, "BEGIN").await;
            let ask = sqlx::query(statement).bind(run.as_uuid()).bind(owner).bind(lease.fence.to_column());
            let ask = match name {
                "renew" => ask.bind(60_000_i64),
                _ => ask.bind("submitted").bind(to).bind("0".repeat(64)).bind("{}").bind(60_000_i64),
            };
            ask.fetch_one(&mut session).await.expect("an answer");
            let commit: String = value(&mut session, "SELECT current_setting('synchronous_commit')").await;
            assert_eq!(commit, wanted, "{name} {to}");
            execute(&mut session, "ROLLBACK").await;
        }
    }
}

/// A schema that somebody put in front cannot give the product a clock of its own.
#[tokio::test]
async fn no_setting_reaches_the_stores_own_clock() {
    let database = Database::migrated().await;
    let mut session = database.session().await;
    let fake = "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
        AS 'SELECT timestamptz ''2000-01-01 00:00:00+00''';";
    execute(&mut session, fake).await;
    let statement = format!("ALTER DATABASE {} SET search_path = public, pg_catalog", database.name);
    execute(&mut session, statement).await;
    let store = database.store().await;
    let run = opened(&store, 1, "acme").await;
    let view = store.view(run).await.expect("an answer").expect("the run");
    assert!(view.now > Timestamp::from_micros(1_700_000_000_000_000), "{}", view.now);
}

/// Two stores with different limits: the one with the shorter lock limit gives up by itself, and
/// says that nothing happened.
#[tokio::test]
async fn a_lock_that_is_held_too_long_is_not_applied() {
    let database = Database::migrated().await;
    let mut short = settings();
    short.lock_timeout = Duration::from_millis(50);
    let store = database.store_with(&short).await;
    let run = opened(&store, 1, "acme").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    let mut session = database.session().await;
    execute(&mut session, "BEGIN; SELECT FROM lease.runs FOR UPDATE").await;
    let refused = store.save(&save(&lease, "submitted", "a", minute())).await.expect_err("the row is locked");
    assert!(matches!(refused, StoreError::NotApplied(_)), "{refused:?}");
    assert!(refused.source().is_some());
    // Claims of the next run wait for nothing.
    let next = store.claim_next(&claim_next(&["b#1"], minute())).await.expect("a verdict");
    assert_eq!(next.grants.len(), 0);
    execute(&mut session, "ROLLBACK").await;
    let released = store.release(&release(&lease, "submitted")).await.expect("a verdict");
    assert_eq!(released, lease_core::ReleaseVerdict::Released);
}

/// LIVENESS: after a failover the old connections lead to a server that only reads. They are not kept.
#[tokio::test]
async fn liveness_a_connection_to_a_server_that_only_reads_is_not_used_again() {
    let database = Database::migrated().await;
    let run = opened(&database.store().await, 1, "K-1").await;
    let mut session = database.session().await;
    let only_reads =
        |on: bool| format!("ALTER DATABASE {} SET default_transaction_read_only = {on}", database.name);
    execute(&mut session, only_reads(true)).await;
    let store = database.store().await;
    let refused = store.claim(&claim(run, "a#1", minute())).await;
    assert!(matches!(refused, Err(StoreError::NotApplied(_))), "{refused:?}");
    // From here on new connections find a server that writes.
    execute(&mut session, only_reads(false)).await;
    let claimed = store.claim(&claim(run, "a#2", minute())).await;
    assert!(matches!(claimed, Ok(ClaimVerdict::Granted(_))), "{claimed:?}");
}
