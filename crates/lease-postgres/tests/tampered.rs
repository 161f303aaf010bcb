//! Rows that somebody changed by hand, past the constraints that usually keep them from it: the situations
//! in which a statement's own guard stands alone.

mod support;

use lease_core::{
    FailVerdict, LeaseId, LeaseStore as _, ReleaseVerdict, RenewVerdict, Renewals as _, SaveVerdict,
};
use lease_postgres::PgStore;
use support::words::{fail, granted, minute, opened, release, save};
use support::{Database, execute, value};

/// A live lease of a run that is changed by `statements`.
async fn tampered(statements: &str) -> (Database, PgStore, LeaseId) {
    let database = Database::migrated().await;
    let store = database.store().await;
    let lease = granted(&store, opened(&store, 1, "one").await, "w#1", minute()).await;
    execute(&mut database.session().await, statements).await;
    (database, store, lease)
}

/// Whatever its holder asks for is not done, and the row stays as it is.
async fn nothing_is_done_with(database: &Database, store: &PgStore, lease: &LeaseId) {
    let row = "SELECT r::text FROM lease.runs r";
    let before: String = value(&mut database.session().await, row).await;
    let renewed = store.renew(lease, minute()).await;
    assert!(!matches!(renewed, Ok(RenewVerdict::Renewed { .. })), "{renewed:?}");
    let renewed = store.renew_many(std::slice::from_ref(lease), minute()).await;
    assert!(!matches!(renewed.as_deref(), Ok([RenewVerdict::Renewed { .. }])), "{renewed:?}");
    let saved = store.save(&save(lease, "submitted", "a", minute())).await;
    assert!(!matches!(saved, Ok(SaveVerdict::Saved(_))), "{saved:?}");
    let released = store.release(&release(lease, "submitted")).await;
    assert!(!matches!(released, Ok(ReleaseVerdict::Released)), "{released:?}");
    let failed = store.fail(&fail(lease, "submitted")).await;
    assert!(!matches!(failed, Ok(FailVerdict::Failed)), "{failed:?}");
    assert_eq!(value::<String>(&mut database.session().await, row).await, before);
}

/// ONE-HOLDER, BLOCKED-NOT-FAILED.
#[tokio::test]
async fn one_holder_only_the_status_stands_on_a_run_that_was_failed_by_hand() {
    let (database, store, lease) = tampered(
        "ALTER TABLE lease.runs DROP CONSTRAINT runs_held_only_while_open;
         UPDATE lease.runs SET status = 'failed', error = '{\"phase\": \"a\", \"kind\": \"step\", \"message\": \"by hand\", \"attempts\": 1}'",
    )
    .await;
    nothing_is_done_with(&database, &store, &lease).await;
}

/// ONE-HOLDER, NO-LAZARUS.
#[tokio::test]
async fn one_holder_only_the_end_of_the_lease_stands_on_a_run_that_was_taken_away_by_hand() {
    let (database, store, lease) = tampered(
        "ALTER TABLE lease.runs DROP CONSTRAINT runs_lease_whole;
         UPDATE lease.runs SET lease_ended = 'revoked'",
    )
    .await;
    nothing_is_done_with(&database, &store, &lease).await;
}
