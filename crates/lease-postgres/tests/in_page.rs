//! Heartbeats are in-page (HOT) updates.
//!
//! Alone in this file on purpose: a transaction that writes anywhere on the server, such as the
//! creation of another test's database, keeps dead versions from being cleared meanwhile, and then
//! pages run full. Where something else uses the server all the same, a later thousand may do.

mod support;

use lease_core::{LeaseId, RenewVerdict, Renewals as _};
use support::words::{granted, minute, opened};
use support::{Database, Deadline, value};

/// A session tells its counts when it ends, at the latest.
async fn counted(database: &Database, updates: i64) -> (i64, i64) {
    let mut session = database.session().await;
    let deadline = Deadline::new();
    loop {
        let counts = "SELECT ARRAY[n_tup_upd, n_tup_hot_upd] FROM pg_stat_user_tables
            WHERE relid = 'lease.runs'::regclass";
        let counts: Vec<i64> = value(&mut session, counts).await;
        if counts[0] >= updates {
            return (counts[0], counts[1]);
        }
        deadline.pause().await;
    }
}

/// Renews each lease twenty times, half of them in batches. Of how many renewals how many were
/// in-page updates.
async fn a_thousand_renewals(database: &Database, leases: &[LeaseId]) -> (i64, i64) {
    let before = counted(database, 0).await;
    let store = database.store().await;
    for _ in 0..10 {
        store.renew_many(leases, minute()).await.expect("verdicts");
        for lease in leases {
            let renewed = store.renew(lease, minute()).await.expect("a verdict");
            assert_eq!(renewed, RenewVerdict::Renewed { yield_asked: false });
        }
    }
    drop(store);
    let after = counted(database, before.0 + 1_000).await;
    (after.0 - before.0, after.1 - before.1)
}

#[tokio::test]
async fn of_a_thousand_renewals_950_are_in_page_updates() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let mut leases = Vec::new();
    for number in 0..50 {
        let run = opened(&store, number, &format!("supplier {number}")).await;
        leases.push(granted(&store, run, "w", minute()).await);
    }
    drop(store);
    counted(&database, 50).await;
    let mut seen = Vec::new();
    for _ in 0..10 {
        let (updates, in_page) = a_thousand_renewals(&database, &leases).await;
        seen.push((updates, in_page));
        if in_page * 100 >= updates * 95 {
            return;
        }
    }
    panic!("never were enough of the renewals in-page updates: {seen:?}");
}
