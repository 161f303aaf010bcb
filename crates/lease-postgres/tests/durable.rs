//! What must survive a crash of the database commits durably, whatever the database's default: seen from
//! inside each transaction, by a trigger on the run's row.

mod support;

use lease_core::{
    Action, Due, IdempotencyKey, LeaseStore as _, Operator as _, Phase, Release, ReleaseVerdict,
    Renewals as _,
};
use support::words::{claim_next, fail, granted, minute, name, opened, owner, release, save, who};
use support::{Database, execute, value};

const SEEN: &str = "CREATE TABLE public.seen (setting text);
    CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO public.seen VALUES (current_setting('synchronous_commit'));
        RETURN NULL;
    END $$;
    CREATE TRIGGER seen AFTER INSERT OR UPDATE ON lease.runs FOR EACH ROW EXECUTE FUNCTION public.note();";

#[tokio::test]
async fn every_change_of_a_run_is_durable_but_a_renewal() {
    let database = Database::migrated().await;
    let mut session = database.session().await;
    execute(&mut session, SEEN).await;
    execute(&mut session, format!("ALTER DATABASE {} SET synchronous_commit = off", database.name)).await;
    let store = database.store().await;
    let mut seen = async |what: &str, wanted: &str| {
        let all =
            "SELECT coalesce(string_agg(DISTINCT setting, ' '), 'nothing was written') FROM public.seen";
        let found: String = value(&mut session, all).await;
        assert_eq!(found, wanted, "{what}");
        execute(&mut session, "DELETE FROM public.seen").await;
    };

    let run = opened(&store, 1, "acme").await;
    seen("submit", "on").await;
    let lease = granted(&store, run, "a#1", minute()).await;
    seen("claim", "on").await;
    drop(store.renew(&lease, minute()).await.expect("a verdict"));
    seen("renew", "off").await;
    store.renew_many(std::slice::from_ref(&lease), minute()).await.expect("verdicts");
    seen("renew_many", "off").await;
    drop(store.save(&save(&lease, "submitted", "a", minute())).await.expect("a verdict"));
    seen("save", "on").await;
    assert_eq!(store.release(&release(&lease, "a")).await.expect("a verdict"), ReleaseVerdict::Released);
    seen("release", "on").await;
    let next = store.claim_next(&claim_next(&["b#1"], minute())).await.expect("grants");
    seen("claim_next", "on").await;
    let lease = next.grants[0].lease.clone();
    drop(store.fail(&fail(&lease, "a")).await.expect("a verdict"));
    seen("fail", "on").await;

    let act = async |action: Action| drop(store.act(run, &action, &who()).await.expect("a verdict"));
    act(Action::Retry(IdempotencyKey::Same)).await;
    seen("retry", "on").await;
    act(Action::Pause).await;
    seen("pause", "on").await;
    act(Action::Resume).await;
    seen("resume", "on").await;
    for (action, what) in [
        (Action::Approve { phase: name("b"), owner: owner("kim#1") }, "approve"),
        (Action::Reject { phase: name("c") }, "reject"),
    ] {
        let lease = granted(&store, run, "c#1", minute()).await;
        let from = Phase::Saved(name(if what == "approve" { "a" } else { "b" }));
        let wait = Release { lease, from, due: Due::Approval };
        assert_eq!(store.release(&wait).await.expect("a verdict"), ReleaseVerdict::Released);
        seen("waiting", "on").await;
        act(action).await;
        seen(what, "on").await;
    }
    act(Action::Retry(IdempotencyKey::New)).await;
    seen("retry", "on").await;
    let lease = granted(&store, run, "d#1", minute()).await;
    seen("claim", "on").await;
    act(Action::Revoke { fence: lease.fence }).await;
    seen("revoke", "on").await;
    act(Action::Cancel).await;
    seen("cancel", "on").await;
}
