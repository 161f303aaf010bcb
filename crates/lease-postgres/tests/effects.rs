//! Saves with effects: a transaction that lands as a whole or not at all, whoever stops when.
//! ALL-OR-NOTHING.

mod support;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    AfterSave, ClaimVerdict, Effect, EffectKind, LeaseId, LeaseStore as _, LostReason, Renewals as _,
    RunReader as _, SaveVerdict, StoreError, Ttl,
};
use lease_postgres::{EffectError, EffectWriter, PgSettings, PgStore, SavedPhase, SqlEffects};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use support::proxy::{Mischief, Proxy};
use support::words::{claim, effect, granted, minute, opened, save_with, ttl};
use support::{Database, Deadline, execute, settings, value, waiting_sessions};
use tokio::sync::Semaphore;

const TABLES: &str = "
    CREATE TABLE public.setups (
        key text PRIMARY KEY, run_id uuid NOT NULL, fence bigint NOT NULL,
        country text CHECK (length(country) = 2), late int UNIQUE DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE public.rooms (id int PRIMARY KEY);
    INSERT INTO public.rooms VALUES (1);
    CREATE FUNCTION public.refuse(code text) RETURNS int LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused with %', code USING ERRCODE = code; END $$;";

const SETUP: &str = "INSERT INTO public.setups (key, run_id, fence, country, late)
    VALUES ($3, $1, $2, $4 ->> 'country', ($4 ->> 'late')::int)";
const ROOM: &str = "UPDATE public.rooms SET id = id";
const REFUSE: &str = "SELECT public.refuse($4 ->> 'code')";
const NOWHERE: &str = "INSERT INTO public.no_such_table VALUES ($1)";

fn kind(text: &str) -> EffectKind {
    EffectKind::new(text).expect("a plain word")
}

fn statements() -> SqlEffects {
    SqlEffects::new([
        (kind("setup"), SETUP),
        (kind("room"), ROOM),
        (kind("nowhere"), NOWHERE),
        (kind("refuse"), REFUSE),
    ])
}

async fn database() -> Database {
    let database = Database::migrated().await;
    execute(&mut database.session().await, TABLES).await;
    database
}

async fn store(database: &Database) -> PgStore {
    database.store().await.with_effects(Arc::new(statements()))
}

/// SELF-STOP: a save that is given up while it waits for a connection is not sent after that.
#[tokio::test]
async fn self_stop_a_save_given_up_while_it_waits_for_a_connection_is_never_sent() {
    let database = database().await;
    let one = PgSettings { max_connections: 1, ..settings() };
    let store = database.store_with(&one).await.with_effects(Arc::new(statements()));
    let other = granted(&store, opened(&store, 1, "other").await, "x#1", minute()).await;
    let lease = granted(&store, opened(&store, 2, "this").await, "y#1", minute()).await;
    let mut session = database.session().await;
    execute(&mut session, format!("BEGIN; SELECT FROM lease.runs WHERE id = '{}' FOR UPDATE", other.run))
        .await;
    let renewing = tokio::spawn({
        let (store, other) = (store.clone(), other.clone());
        async move { store.renew(&other, minute()).await }
    });
    waiting_sessions(&mut database.session().await, 1).await;
    let save = save_with(&lease, "submitted", "a", minute(), vec![effect("room", json!({}))]);
    {
        let mut saving = Box::pin(store.save(&save));
        // It joins the queue for the connection, and is given up there.
        let begun = std::future::poll_fn(|context| {
            std::task::Poll::Ready(std::future::Future::poll(saving.as_mut(), context).is_ready())
        });
        assert!(!begun.await, "there was a connection");
    }
    execute(&mut session, "ROLLBACK").await;
    let renewed = renewing.await.unwrap().unwrap();
    assert_eq!(renewed, lease_core::RenewVerdict::Renewed { yield_asked: false });
    // The connection went to whoever came next, and this read comes after that.
    let view = store.view(lease.run).await.unwrap().unwrap();
    assert_eq!(view.run.phase, lease_core::Phase::Submitted);
    assert_eq!(store.view(lease.run).await.unwrap().unwrap().run, view.run);
}

/// Saves that are given up while their effects wait for a lock, and sent again, take one connection.
#[tokio::test]
async fn saves_given_up_and_sent_again_take_one_connection_for_each_lease() {
    let database = database().await;
    let store = store(&database).await;
    let lease = granted(&store, opened(&store, 1, "one").await, "x#1", minute()).await;
    let mut session = database.session().await;
    execute(&mut session, "BEGIN; LOCK TABLE public.rooms").await;
    let save = save_with(&lease, "submitted", "a", minute(), vec![effect("room", json!({}))]);
    let mut looking = database.session().await;
    // Long enough for each to open a connection of its own, if it were to.
    for _ in 0..4 {
        let answer = tokio::time::timeout(Duration::from_millis(250), store.save(&save)).await;
        assert!(answer.is_err(), "{answer:?}");
    }
    waiting_sessions(&mut looking, 1).await;
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND query NOT LIKE '%LOCK TABLE%'";
    assert_eq!(value::<i64>(&mut looking, open).await, 1, "transactions of the store");
    execute(&mut session, "ROLLBACK").await;
    let verdict = store.save(&save).await.unwrap();
    assert!(matches!(verdict, SaveVerdict::AlreadySaved(AfterSave::Held { .. })), "{verdict:?}");
}

/// A run at its start, held for so long.
async fn held(store: &PgStore, number: u128, ttl: Ttl) -> LeaseId {
    let run = opened(store, number, &format!("key {number}")).await;
    granted(store, run, "a#1", ttl).await
}

fn setup(country: &str) -> Effect {
    effect("setup", json!({ "country": country }))
}

async fn setups(database: &Database) -> i64 {
    value(&mut database.session().await, "SELECT count(*) FROM public.setups").await
}

/// Nothing of the save is there.
async fn nothing_landed(database: &Database, store: &PgStore, lease: &LeaseId) {
    let view = store.view(lease.run).await.expect("an answer").expect("the run");
    assert_eq!((view.run.phase.as_str(), view.run.mark), ("submitted", None));
    assert_eq!(store.receipts(lease.run).await.expect("receipts"), []);
    assert_eq!(setups(database).await, 0);
}

const HELD: AfterSave = AfterSave::Held { yield_asked: false };

#[tokio::test]
async fn effects_get_the_run_its_number_its_key_and_their_body() {
    let database = database().await;
    let store = store(&database).await;
    let lease = held(&store, 7, minute()).await;
    let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE")]);
    assert_eq!(store.save(&asked).await.expect("a verdict"), SaveVerdict::Saved(HELD));
    assert_eq!(store.save(&asked).await.expect("a verdict"), SaveVerdict::AlreadySaved(HELD));
    let row = "SELECT key || ' ' || run_id || ' ' || fence || ' ' || country FROM public.setups";
    let row: String = value(&mut database.session().await, row).await;
    assert_eq!(row, format!("key 7 {} 1 DE", lease.run));
}

#[tokio::test]
async fn what_the_database_refuses_is_the_steps_failure_under_a_live_lease() {
    let database = database().await;
    let store = store(&database).await;
    let lease = held(&store, 1, minute()).await;
    let refused = [
        vec![setup("DE"), setup("Germany")],
        vec![effect("setup", json!({ "late": "no number" }))],
        vec![setup("DE"), effect("unheard.of", json!({}))],
        // A constraint that is checked at the commit only.
        vec![effect("setup", json!({ "country": "DE", "late": 1 })), effect("room", json!({}))],
    ];
    execute(
        &mut database.session().await,
        "INSERT INTO public.setups VALUES ('x', gen_random_uuid(), 1, 'DE', 1)",
    )
    .await;
    for effects in refused {
        let shown = format!("{effects:?}");
        let verdict = store.save(&save_with(&lease, "submitted", "a", minute(), effects)).await;
        let verdict = verdict.unwrap_or_else(|error| panic!("{shown}: {error:?}"));
        assert!(
            matches!(&verdict, SaveVerdict::EffectRefused { message } if !message.is_empty()),
            "{verdict:?}"
        );
    }
    execute(&mut database.session().await, "DELETE FROM public.setups").await;
    nothing_landed(&database, &store, &lease).await;
    let saved = store.save(&save_with(&lease, "submitted", "a", minute(), vec![setup("DE")])).await;
    assert_eq!(saved.expect("a verdict"), SaveVerdict::Saved(HELD));
}

#[tokio::test]
async fn a_save_that_is_refused_writes_no_effect_and_a_missing_table_is_told() {
    let database = database().await;
    let store = store(&database).await;
    let lease = held(&store, 1, minute()).await;
    let wrong = save_with(&lease, "a", "b", minute(), vec![setup("DE")]);
    let verdict = store.save(&wrong).await.expect("a verdict");
    assert!(matches!(verdict, SaveVerdict::Refused(LostReason::PhaseConflict { .. })), "{verdict:?}");
    let nowhere = save_with(&lease, "submitted", "a", minute(), vec![effect("nowhere", json!({}))]);
    let verdict = store.save(&nowhere).await.expect("a verdict");
    assert!(matches!(verdict, SaveVerdict::EffectRefused { .. }), "{verdict:?}");
    // Without a writer.
    let bare = database.store().await;
    let verdict = bare.save(&save_with(&lease, "submitted", "a", minute(), vec![setup("DE")])).await;
    assert!(matches!(verdict.expect("a verdict"), SaveVerdict::EffectRefused { .. }));
    nothing_landed(&database, &store, &lease).await;
}

/// TRUTH: whatever the database says against an effect, short of "not now", is the step's failure in
/// the database's words: nothing has landed, the lease is held, and nobody has to guess.
#[tokio::test]
async fn truth_an_effect_refused_for_any_reason_is_the_steps_failure() {
    let database = database().await;
    let store = store(&database).await;
    let lease = held(&store, 1, minute()).await;
    // Privileges, columns, an unsupported feature, a wrong state, an external routine, damaged data.
    for code in ["42501", "42703", "0A000", "55000", "38000", "XX001", "23514", "P0001"] {
        let refused = effect("refuse", json!({ "code": code }));
        let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE"), refused]);
        let SaveVerdict::EffectRefused { message } = store.save(&asked).await.expect("a verdict") else {
            panic!("{code} is no refusal");
        };
        assert_eq!(message, format!("refused with {code}"));
    }
    nothing_landed(&database, &store, &lease).await;
    let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE")]);
    let verdict = store.save(&asked).await.expect("a verdict");
    assert!(matches!(verdict, SaveVerdict::Saved(AfterSave::Held { .. })), "{verdict:?}");
}

/// A lock that an effect waits for in vain is "not applied": neither a lost lease nor a failed step.
#[tokio::test]
async fn an_effect_behind_a_lock_is_not_applied_and_can_be_sent_again() {
    let database = database().await;
    let short = lease_postgres::PgSettings { lock_timeout: Duration::from_millis(50), ..settings() };
    let store = database.store_with(&short).await.with_effects(Arc::new(statements()));
    let lease = held(&store, 1, minute()).await;
    let mut session = database.session().await;
    execute(&mut session, "BEGIN; SELECT FROM public.rooms FOR UPDATE").await;
    let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE"), effect("room", json!({}))]);
    let error = store.save(&asked).await.expect_err("the row is locked");
    assert!(matches!(error, StoreError::NotApplied(_)), "{error:?}");
    execute(&mut session, "ROLLBACK").await;
    nothing_landed(&database, &store, &lease).await;
    assert_eq!(store.save(&asked).await.expect("a verdict"), SaveVerdict::Saved(HELD));
}

/// A writer that stops in the middle, as a stopped process does.
struct Stopping {
    reached: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl EffectWriter for Stopping {
    async fn write(
        &self,
        connection: &mut PgConnection,
        saved: &SavedPhase,
        effects: &[Effect],
    ) -> Result<(), EffectError> {
        statements().write(connection, saved, effects).await?;
        self.reached.add_permits(1);
        let _go_on = self.go_on.acquire().await.expect("never closed");
        Ok(())
    }
}

/// A store that stops in the middle of the transaction, and the two signals.
async fn stopping(database: &Database) -> (PgStore, Arc<Semaphore>, Arc<Semaphore>) {
    let (reached, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let writer = Stopping { reached: Arc::clone(&reached), go_on: Arc::clone(&go_on) };
    (database.store().await.with_effects(Arc::new(writer)), reached, go_on)
}

/// Case 33: a worker is stopped inside the transaction. The server ends it within the TTL, others can
/// claim, nothing is half-done; what the worker does when it goes on has no effect.
#[tokio::test]
async fn case_33_a_worker_stopped_inside_the_transaction_holds_up_nobody_past_its_lease() {
    let database = database().await;
    let (store, reached, go_on) = stopping(&database).await;
    let lease = held(&store, 1, ttl(400)).await;
    let asked = save_with(&lease, "submitted", "a", ttl(400), vec![setup("DE")]);
    let (stopped, request) = (store.clone(), asked.clone());
    let saving = tokio::spawn(async move { stopped.save(&request).await });
    let _reached = reached.acquire().await.expect("never closed");
    let started = tokio::time::Instant::now();

    let other = database.store().await;
    let mut next = None;
    let deadline = Deadline::new();
    while next.is_none() {
        let verdict = other.claim(&claim(lease.run, "b#1", minute())).await.expect("a verdict");
        match verdict {
            ClaimVerdict::Granted(grant) => next = Some(grant.lease),
            ClaimVerdict::Busy { .. } => deadline.pause().await,
            ClaimVerdict::NotDue { .. }
            | ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::Finished(_)
            | ClaimVerdict::UnknownPlan(_)
            | ClaimVerdict::SetAside(_)
            | ClaimVerdict::Lapsed { .. }
            | ClaimVerdict::Gone => panic!("{verdict:?}"),
        }
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    nothing_landed(&database, &other, &lease).await;

    go_on.add_permits(10);
    let error = saving.await.expect("no panic").expect_err("its transaction is gone");
    assert!(matches!(error, StoreError::NotApplied(_)), "{error:?}");
    let verdict = store.save(&asked).await.expect("a verdict");
    let by_fence = next.expect("granted").fence;
    assert!(
        matches!(&verdict, SaveVerdict::Refused(LostReason::Superseded { by_fence: by, .. }) if *by == by_fence),
        "{verdict:?}"
    );
    nothing_landed(&database, &other, &lease).await;
}

/// The server ends the session in the middle of the transaction.
#[tokio::test]
async fn a_session_ended_inside_the_transaction_leaves_nothing() {
    let database = database().await;
    let (store, reached, go_on) = stopping(&database).await;
    let lease = held(&store, 1, minute()).await;
    let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE")]);
    let (stopped, request) = (store.clone(), asked.clone());
    let saving = tokio::spawn(async move { stopped.save(&request).await });
    let _reached = reached.acquire().await.expect("never closed");
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'";
    assert_eq!(value::<i64>(&mut database.session().await, ended).await, 1);
    go_on.add_permits(10);
    let error = saving.await.expect("no panic").expect_err("its session is gone");
    assert!(error.may_try_again(), "{error:?}");
    nothing_landed(&database, &database.store().await, &lease).await;
    assert_eq!(store.save(&asked).await.expect("a verdict"), SaveVerdict::Saved(HELD));
    assert_eq!(setups(&database).await, 1);
}

/// A request that is given up in the middle goes on to its end in its own task.
#[tokio::test]
async fn a_save_that_nobody_waits_for_any_more_lands_as_a_whole() {
    let database = database().await;
    let (store, reached, go_on) = stopping(&database).await;
    let lease = held(&store, 1, minute()).await;
    let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE")]);
    let (stopped, request) = (store.clone(), asked.clone());
    let saving = tokio::spawn(async move { stopped.save(&request).await });
    let _reached = reached.acquire().await.expect("never closed");
    saving.abort();
    assert!(saving.await.expect_err("it was given up").is_cancelled());
    go_on.add_permits(10);
    assert_eq!(store.save(&asked).await.expect("a verdict"), SaveVerdict::AlreadySaved(HELD));
    assert_eq!(setups(&database).await, 1);
}

/// The answer to the commit is lost: unknown. The commit itself is lost: unknown as well, since
/// nobody can tell. Sent again, the save tells which it was, and the effects are there once.
#[tokio::test]
async fn truth_a_lost_commit_is_unknown_and_asking_again_tells() {
    let database = database().await;
    let direct = store(&database).await;
    let lost_answer = Mischief { lose_answer_to: Some("; COMMIT"), times: 1, ..Mischief::default() };
    let lost_commit = Mischief { lose_message_with: Some("; COMMIT"), times: 1, ..Mischief::default() };
    for (number, mischief, landed) in [(1, lost_answer, true), (2, lost_commit, false)] {
        let proxy = Proxy::before(&database.url, mischief).await;
        let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
        let store = store.with_effects(Arc::new(statements()));
        let lease = held(&direct, number, minute()).await;
        let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE")]);
        let error = store.save(&asked).await.expect_err("the answer is lost");
        assert!(matches!(error, StoreError::Unknown(_)), "{error:?}");
        let again = store.save(&asked).await.expect("a verdict");
        let wanted = if landed { SaveVerdict::AlreadySaved(HELD) } else { SaveVerdict::Saved(HELD) };
        assert_eq!(again, wanted);
        let rows = format!("SELECT count(*) FROM public.setups WHERE run_id = '{}'", lease.run);
        assert_eq!(value::<i64>(&mut database.session().await, rows).await, 1);
    }
}

/// The line breaks before the commit was sent: surely nothing landed.
#[tokio::test]
async fn truth_a_line_that_broke_before_the_commit_is_not_applied() {
    let database = database().await;
    let direct = store(&database).await;
    let mischief = Mischief { lose_message_with: Some("public.setups"), times: 1, ..Mischief::default() };
    let proxy = Proxy::before(&database.url, mischief).await;
    let store = PgStore::connect(&proxy.url, &settings()).await.expect("reached");
    let store = store.with_effects(Arc::new(statements()));
    let lease = held(&direct, 1, minute()).await;
    let asked = save_with(&lease, "submitted", "a", minute(), vec![setup("DE")]);
    let error = store.save(&asked).await.expect_err("the line broke");
    assert!(matches!(error, StoreError::NotApplied(_)), "{error:?}");
    assert_eq!(store.save(&asked).await.expect("a verdict"), SaveVerdict::Saved(HELD));
}

/// A writer that swallows the database's refusal cannot make a save half-way: a COMMIT in a failed
/// transaction rolls back without an error, and must not pass for a save.
struct Careless;

#[async_trait]
impl EffectWriter for Careless {
    async fn write(
        &self,
        connection: &mut PgConnection,
        _: &SavedPhase,
        _: &[Effect],
    ) -> Result<(), EffectError> {
        sqlx::raw_sql("SELECT 1 / 0").execute(&mut *connection).await.ok();
        connection.ping().await?;
        Ok(())
    }
}

#[tokio::test]
async fn truth_a_transaction_that_failed_unseen_is_not_reported_as_saved() {
    let database = database().await;
    let store = database.store().await.with_effects(Arc::new(Careless));
    let lease = held(&store, 1, minute()).await;
    let verdict = store.save(&save_with(&lease, "submitted", "a", minute(), vec![setup("DE")])).await;
    assert!(matches!(verdict.expect("a verdict"), SaveVerdict::EffectRefused { .. }));
    nothing_landed(&database, &store, &lease).await;
}
