//! Submits that race each other, and hearing of them.

mod support;

use std::time::Duration;

use lease_core::{LeaseStore as _, Operator as _, PlanVerdict, RunReader as _, Submit, SubmitVerdict};
use lease_postgres::PgStore;
use serde_json::json;
use sqlx::PgConnection;
use support::words::{document, granted, id, minute, opened, plan_of, release, submit};
use support::{Database, Deadline, execute, value, waiting_sessions};

/// A submit inside somebody's open transaction.
async fn submit_in(session: &mut PgConnection, request: &Submit) {
    execute(session, "BEGIN").await;
    let statement =
        lease_postgres::STATEMENTS.iter().find(|(name, _)| *name == "submit").expect("it is there").1;
    let phases: Vec<String> = request.plan.phases.as_slice().iter().map(ToString::to_string).collect();
    let row = sqlx::query(statement)
        .bind(request.id.as_uuid())
        .bind(request.key.as_str())
        .bind(request.plan.id.name.as_str())
        .bind(request.plan.id.version.to_column())
        .bind(request.plan.id.digest.to_string())
        .bind(phases)
        .bind(request.priority.get())
        .bind(request.input.to_json())
        .bind(request.input_digest().to_string())
        .fetch_one(session)
        .await
        .expect("an answer");
    assert_eq!(sqlx::Row::get::<String, _>(&row, "verdict"), "opened");
}

async fn behind(
    store: &PgStore,
    watcher: &mut PgConnection,
    request: Submit,
    session: &mut PgConnection,
    end: &str,
) -> SubmitVerdict {
    let store = store.clone();
    let task = tokio::spawn(async move { store.submit(&request).await });
    waiting_sessions(watcher, 1).await;
    execute(session, end).await;
    task.await.expect("no panic").expect("a verdict")
}

/// Case 35: the same key at the same instant, the other submit still open.
#[tokio::test]
async fn case_35_a_submit_behind_one_of_the_same_key_gets_its_answer() {
    for (end, other_content, wanted) in [
        ("COMMIT", false, SubmitVerdict::Existing { run: id(1) }),
        (
            "COMMIT",
            true,
            SubmitVerdict::KeyConflict { run: id(1), plan: plan_of("plan", "").id, content_differs: true },
        ),
        ("ROLLBACK", false, SubmitVerdict::Opened),
        ("ROLLBACK", true, SubmitVerdict::Opened),
    ] {
        let database = Database::migrated().await;
        let store = database.store().await;
        let (mut session, mut watcher) = (database.session().await, database.session().await);
        submit_in(&mut session, &submit(1, "acme")).await;
        let mut second = submit(2, "acme");
        if other_content {
            second.input = document(json!({ "other": true }));
        }
        assert_eq!(behind(&store, &mut watcher, second, &mut session, end).await, wanted);
    }
}

/// Case 34, raced: another content of the same plan is being registered by a submit of another key.
#[tokio::test]
async fn case_34_a_submit_behind_another_content_of_its_plan_is_a_conflict() {
    let other = plan_of("plan", "other");
    for (end, wanted) in [
        ("COMMIT", SubmitVerdict::PlanConflict { registered: other.id.digest }),
        ("ROLLBACK", SubmitVerdict::Opened),
    ] {
        let database = Database::migrated().await;
        let store = database.store().await;
        let (mut session, mut watcher) = (database.session().await, database.session().await);
        submit_in(&mut session, &Submit { plan: other.clone(), ..submit(1, "first") }).await;
        let committed = end == "COMMIT";
        assert_eq!(behind(&store, &mut watcher, submit(2, "second"), &mut session, end).await, wanted);
        assert_eq!(store.view(id(2)).await.expect("an answer").is_none(), committed);
        let checked = store.check_plan(&plan_of("plan", "").id).await.expect("an answer");
        let wanted = if committed {
            PlanVerdict::Conflict { registered: other.id.digest }
        } else {
            PlanVerdict::InUse
        };
        assert_eq!(checked, wanted);
    }
}

/// A submit that loses a race registers no plan: no run uses it.
#[tokio::test]
async fn a_submit_that_opens_nothing_registers_no_plan() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let (mut session, mut watcher) = (database.session().await, database.session().await);
    submit_in(&mut session, &submit(1, "acme")).await;
    let second = Submit { plan: plan_of("second", ""), ..submit(2, "acme") };
    let verdict = behind(&store, &mut watcher, second, &mut session, "COMMIT").await;
    assert!(matches!(verdict, SubmitVerdict::KeyConflict { content_differs: false, .. }), "{verdict:?}");
    let checked = store.check_plan(&plan_of("second", "").id).await.expect("an answer");
    assert_eq!(checked, PlanVerdict::Unused);
}

/// Thirty-two submits of eight keys at once, on connections of their own.
#[tokio::test]
async fn case_35_many_submits_at_once_open_one_run_per_key() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let submits: Vec<_> = (0..32_u128)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(
                async move { store.submit(&submit(number + 1, &format!("key {}", number % 8))).await },
            )
        })
        .collect();
    let mut opened = 0;
    for submit in submits {
        match submit.await.expect("no panic").expect("a verdict") {
            SubmitVerdict::Opened => opened += 1,
            SubmitVerdict::Existing { .. } => {}
            verdict @ (SubmitVerdict::KeyConflict { .. } | SubmitVerdict::PlanConflict { .. }) => {
                panic!("{verdict:?}")
            }
        }
    }
    assert_eq!(opened, 8);
}

/// Two keys under one id: the id is the submitter's mistake, and is said so rather than retried
/// forever.
#[tokio::test]
async fn an_id_that_another_key_has_is_no_verdict() {
    let database = Database::migrated().await;
    let store = database.store().await;
    opened(&store, 1, "acme").await;
    let error = store.submit(&submit(1, "other")).await.expect_err("the id is taken");
    assert!(!error.may_try_again(), "{error:?}");
    assert!(store.view(id(1)).await.expect("an answer").is_some_and(|view| view.run.key.as_str() == "acme"));
}

/// Waiting workers hear of submits and releases, also of one that came while nobody waited, and again
/// after the listening session was ended.
#[tokio::test]
async fn liveness_waiting_workers_hear_of_work() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let signal = store.work_signal().expect("there is a runtime");
    let heard = async || tokio::time::timeout(Duration::from_secs(10), signal.changed()).await.is_ok();
    // Whatever was told before it listened counts as heard.
    assert!(heard().await);
    let run = opened(&store, 1, "acme").await;
    assert!(heard().await);

    let lease = granted(&store, run, "a#1", minute()).await;
    let silent = tokio::time::timeout(Duration::from_millis(50), signal.changed()).await;
    assert!(silent.is_err(), "a claim is no news");
    let released = store.release(&release(&lease, "submitted")).await.expect("a verdict");
    assert_eq!(released, lease_core::ReleaseVerdict::Released);
    assert!(heard().await);

    let mut session = database.session().await;
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    assert_eq!(value::<i64>(&mut session, ended).await, 1);
    // It listens again by itself, and says so once: something may have been missed.
    assert!(heard().await);
    opened(&store, 2, "other").await;
    assert!(heard().await);

    drop(signal);
    let listening = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let deadline = Deadline::new();
    while value::<i64>(&mut session, listening).await > 0 {
        deadline.pause().await;
    }
}
