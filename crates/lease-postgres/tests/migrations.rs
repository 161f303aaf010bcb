//! Bringing a database up to date.

mod support;

use lease_core::{History, SchemaState, Step};
use lease_core::{LeaseStore as _, RunReader as _, SaveVerdict, StoreError};
use lease_postgres::{HISTORY, PgStore};
use support::words::{granted, minute, opened, save};
use support::{Database, execute, settings, value};

const FIRST: Step =
    Step { version: 1, name: "create_notes", sql: "CREATE TABLE team.notes (text text NOT NULL);" };
const SECOND: Step = Step {
    version: 2,
    name: "add_author",
    sql: "ALTER TABLE team.notes ADD author text; CREATE INDEX notes_author ON team.notes (author);",
};
const OLD: History = History { table: "team.migrations", steps: &[FIRST] };
const NEW: History = History { table: "team.migrations", steps: &[FIRST, SECOND] };

/// Case 20: eight programs start on an empty database at once and all migrate.
#[tokio::test]
async fn case_20_eight_programs_migrate_an_empty_database_at_once() {
    let database = Database::empty().await;
    let programs: Vec<_> = (0..8)
        .map(|_| {
            let url = database.url.clone();
            tokio::spawn(async move {
                let store = PgStore::connect(&url, &settings()).await?;
                store.migrate(&[&HISTORY, &NEW]).await?;
                store.schema_state(&[&HISTORY, &NEW]).await
            })
        })
        .collect();
    for program in programs {
        assert_eq!(program.await.expect("no panic").expect("migrated"), SchemaState::Current);
    }
    let mut session = database.session().await;
    let steps = |history: &History| i64::try_from(history.steps.len()).expect("a few steps");
    for (table, steps) in [("lease.migrations", steps(&HISTORY)), ("team.migrations", steps(&NEW))] {
        assert_eq!(value::<i64>(&mut session, format!("SELECT count(*) FROM {table}")).await, steps);
    }
}

#[tokio::test]
async fn the_state_of_a_database_is_told() {
    let database = Database::empty().await;
    let store = database.store().await;
    let state = async |histories: &[&History]| store.schema_state(histories).await.expect("an answer");
    assert_eq!(state(&[&HISTORY, &NEW]).await, SchemaState::Missing);
    let view = store.view(support::words::id(1)).await.expect_err("no tables");
    assert!(matches!(view, StoreError::Schema(_)), "{view:?}");

    store.migrate(&[&HISTORY]).await.expect("migrated");
    assert_eq!(state(&[&HISTORY]).await, SchemaState::Current);
    let behind = SchemaState::Behind { table: "team.migrations", at: 0, wanted: 2 };
    assert_eq!(state(&[&HISTORY, &NEW]).await, behind);

    store.migrate(&[&OLD]).await.expect("migrated");
    let behind = SchemaState::Behind { table: "team.migrations", at: 1, wanted: 2 };
    assert_eq!(state(&[&HISTORY, &NEW]).await, behind);
    store.migrate(&[&HISTORY, &NEW]).await.expect("migrated");
    assert_eq!(state(&[&HISTORY, &NEW]).await, SchemaState::Current);

    let ahead = SchemaState::Ahead { table: "team.migrations", at: 2, known: 1 };
    assert_eq!(state(&[&HISTORY, &OLD]).await, ahead);
    let refused = store.migrate(&[&OLD]).await.expect_err("the database is newer");
    assert!(matches!(refused, StoreError::Schema(_)), "{refused:?}");

    let mut session = database.session().await;
    execute(&mut session, "UPDATE team.migrations SET digest = 'other' WHERE version = 1").await;
    let altered = SchemaState::Altered { table: "team.migrations", version: 1 };
    assert_eq!(state(&[&HISTORY, &NEW]).await, altered);
    let refused = store.migrate(&[&NEW]).await.expect_err("a step has another text");
    assert!(matches!(refused, StoreError::Schema(_)), "{refused:?}");
}

#[tokio::test]
async fn a_step_that_fails_leaves_nothing_and_can_be_taken_again() {
    const BROKEN: History = History {
        table: "team.migrations",
        steps: &[
            FIRST,
            Step { version: 2, name: "break", sql: "CREATE TABLE team.half (id int); SELECT 1 / 0;" },
        ],
    };
    let database = Database::empty().await;
    let store = database.store().await;
    assert!(store.migrate(&[&BROKEN]).await.is_err());
    let state = store.schema_state(&[&BROKEN]).await.expect("an answer");
    assert_eq!(state, SchemaState::Behind { table: "team.migrations", at: 1, wanted: 2 });
    let mut session = database.session().await;
    assert!(value::<bool>(&mut session, "SELECT to_regclass('team.half') IS NULL").await);
    store.migrate(&[&NEW]).await.expect("the right step can be taken");
}

/// Case 21: a column is added while a worker runs.
#[tokio::test]
async fn case_21_a_column_is_added_while_a_worker_runs() {
    let database = Database::migrated().await;
    let store = database.store_with(&lease_postgres::PgSettings { max_connections: 1, ..settings() }).await;
    let run = opened(&store, 1, "acme").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    let first = store.save(&save(&lease, "submitted", "a", minute())).await.expect("a verdict");
    assert!(matches!(first, SaveVerdict::Saved(_)));
    let before = store.view(run).await.expect("an answer");
    let mut session = database.session().await;
    for table in ["runs", "receipts", "attempts"] {
        let added = format!("ALTER TABLE lease.{table} ADD note text DEFAULT 'new', ADD other int");
        execute(&mut session, added).await;
    }
    let second = store.save(&save(&lease, "a", "b", minute())).await.expect("a verdict");
    assert!(matches!(second, SaveVerdict::Saved(_)));
    let after = store.view(run).await.expect("an answer");
    assert_eq!(before.expect("the run").run.key, after.expect("the run").run.key);
    assert_eq!(store.receipts(run).await.expect("receipts").len(), 2);
    assert_eq!(store.attempts(run).await.expect("attempts").len(), 1);
}

/// A team that uses the store alone gets the store's tables alone.
#[tokio::test]
async fn the_stores_own_history_knows_no_other_schema() {
    let database = Database::migrated().await;
    let query = "SELECT string_agg(nspname, ',') FROM pg_namespace
        WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('public', 'information_schema')";
    assert_eq!(value::<String>(&mut database.session().await, query).await, "lease");
}
