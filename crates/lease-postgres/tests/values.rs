//! Values at their bounds: kept exactly, or told apart from good ones without costing others.

mod support;

use lease_core::{
    ClaimVerdict, Document, FencingToken, LeaseStore as _, LossLimit, Operator as _, Renewals as _,
    RunReader as _, SaveVerdict, StoreError,
};
use support::words::{claim, claim_next, granted, minute, opened, save, submit, ttl};
use support::{Database, execute};

/// Case 25: whatever a document may hold is kept, and handed out again.
#[tokio::test]
async fn case_25_documents_at_their_bounds_are_kept_and_handed_out() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let bounds = [
        format!(r#"{{"n":[{}]}}"#, vec!["1e1000"; 200].join(",")),
        format!(r#"{{"n":[{}]}}"#, vec!["-1e-1000"; 200].join(",")),
        format!(r#"{{"n":{}}}"#, "9".repeat(4_096)),
        format!(r#"{{"n":0.{}}}"#, "1".repeat(4_000)),
        format!(r#"{{"n":[{}]}}"#, vec!["1"; 100_000].join(",")),
        format!(r#"{{"a":{}{}}}"#, "[".repeat(63), "]".repeat(63)),
        format!(r#"{{"text":"{}"}}"#, "\\u0001é\\n\\\"".repeat(60_000)),
    ];
    for (number, text) in (1..).zip(bounds) {
        let input = Document::from_json(text.as_bytes()).unwrap_or_else(|error| panic!("{number}: {error}"));
        let request = lease_core::Submit { input, ..submit(number, &format!("key {number}")) };
        let _ = store.submit(&request).await.unwrap_or_else(|error| panic!("{number}: {error:?}"));
        let verdict = store.claim(&claim(request.id, "a#1", minute())).await;
        let verdict = verdict.unwrap_or_else(|error| panic!("{number}: {error:?}"));
        let ClaimVerdict::Granted(grant) = verdict else { panic!("{number}: {verdict:?}") };
        // Written out, and as often as one likes: the very same document each time.
        let view = store.view(request.id).await.expect("an answer").expect("the run");
        assert_eq!(view.run.input.to_json(), grant.job.input.to_json());
        let exact = text.contains('e') || grant.job.input.to_json() == request.input.to_json();
        assert!(exact, "{number} is kept in another form");
    }
}

/// Case 11: numbers past 2^31 and 2^53 and at the top are exact in every request.
#[tokio::test]
async fn case_11_large_numbers_are_exact_in_every_request() {
    let database = Database::migrated().await;
    let store = database.store().await;
    let mut session = database.session().await;
    for (number, stands) in (1..).zip([(1_i64 << 31) - 1, 1_i64 << 53, i64::MAX - 1]) {
        let run = opened(&store, number, &format!("key {number}")).await;
        let set = format!(
            "UPDATE lease.runs SET fence = {stands}, owner = 'x', lease_ended = 'yielded' WHERE id = '{run}'"
        );
        execute(&mut session, set).await;
        let lease = granted(&store, run, "a#1", minute()).await;
        assert_eq!(lease.fence.to_column(), stands + 1);
        let saved = store.save(&save(&lease, "submitted", "a", minute())).await.expect("a verdict");
        assert!(matches!(saved, SaveVerdict::Saved(_)));
        let _ = store.renew(&lease, minute()).await.expect("a verdict");
        assert_eq!(store.receipts(run).await.expect("receipts")[0].fence, lease.fence);
        assert_eq!(store.attempts(run).await.expect("attempts")[0].fence, lease.fence);
    }
    assert_eq!(granted_at_the_top(&store).await, FencingToken::LAST);
}

async fn granted_at_the_top(store: &lease_postgres::PgStore) -> FencingToken {
    let view = store.view(support::words::id(3)).await.expect("an answer").expect("the run");
    view.run.hold.fence().expect("it was claimed")
}

/// A run that somebody made unreadable behind the store's back costs the others nothing, and is set
/// aside like any run that keeps losing its workers.
#[tokio::test]
async fn a_run_that_cannot_be_read_does_not_hold_up_the_others() {
    let database = Database::migrated().await;
    let store = database.store().await;
    for number in 1..=3 {
        opened(&store, number, &format!("key {number}")).await;
    }
    let mut session = database.session().await;
    let spoilt = r#"UPDATE lease.runs SET input = '{"n": 1e5000}' WHERE key = 'key 2'"#;
    execute(&mut session, spoilt).await;
    let error = store.view(support::words::id(2)).await.expect_err("it cannot be read");
    assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
    let mut request = claim_next(&["a#1", "a#2", "a#3"], ttl(1));
    request.loss_limit = LossLimit::new(1).expect("above zero");
    request.ttl = minute();
    let claimed = store.claim_next(&request).await.expect("an answer");
    assert_eq!(claimed.grants.len(), 2);
    for losses in 1..=2 {
        let lapse = "UPDATE lease.runs SET lease_expires_at = clock_timestamp() WHERE key = 'key 2'";
        execute(&mut session, lapse).await;
        let claimed = store.claim_next(&request).await.expect("an answer");
        assert_eq!((claimed.grants.len(), claimed.set_aside.len()), (0, losses - 1));
    }
}
