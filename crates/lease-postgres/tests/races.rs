//! Races over one row, on the server's real clock, with a second session that does what another
//! worker, an operator or somebody's psql does.
//!
//! Where a lease has to run out while a request waits, the test waits with it: time is the point.

mod support;

use std::time::Duration;

use lease_core::{
    AfterSave, ClaimVerdict, FailVerdict, LeaseId, LeaseStore as _, LostReason, Phase, ReleaseVerdict,
    RenewVerdict, Renewals as _, RunReader as _, SaveVerdict, Standing,
};
use lease_postgres::PgStore;
use support::scene::{Scene, while_waiting};
use support::words::{claim, document, fail, granted, minute, name, opened, owner, release, save, ttl};
use support::{execute, waiting_sessions};

fn expired(why: &LostReason) -> bool {
    matches!(why, LostReason::Expired { late_by: Some(late_by) } if *late_by < Duration::from_secs(10))
}

/// Show 8, the first half: a row lock held by somebody's session past the lease's end, then rolled
/// back. NO-LATE-SAVE. PostgreSQL does not evaluate the condition of a plain UPDATE again here.
#[tokio::test]
async fn no_late_save_a_save_behind_a_row_lock_held_past_the_expiry_is_refused() {
    let mut scene = Scene::held_for(400).await;
    scene.lock().await;
    let verdict = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.save(&save(&lease, "submitted", "a", minute())).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "ROLLBACK").await;
        }
    );
    assert!(matches!(&verdict, SaveVerdict::Refused(why) if expired(why)), "{verdict:?}");
    assert_eq!(scene.store.receipts(scene.lease.run).await.expect("receipts"), []);
}

/// Show 8, the second half: this worker's own renewal goes through, and the lock is let go in time.
#[tokio::test]
async fn a_save_behind_a_lock_let_go_after_the_workers_own_renewal_is_saved() {
    let mut scene = Scene::held_for(20_000).await;
    // Both requests wait behind the session's lock, the renewal first.
    scene.lock().await;
    let (store, lease) = (scene.store.clone(), scene.lease.clone());
    let renewal = tokio::spawn(async move { store.renew(&lease, minute()).await });
    waiting_sessions(&mut scene.watcher, 1).await;
    let (store, lease) = (scene.store.clone(), scene.lease.clone());
    let saving = tokio::spawn(async move { store.save(&save(&lease, "submitted", "a", minute())).await });
    waiting_sessions(&mut scene.watcher, 2).await;
    execute(&mut scene.session, "ROLLBACK").await;
    let renewed = renewal.await.expect("no panic").expect("a verdict");
    assert_eq!(renewed, RenewVerdict::Renewed { yield_asked: false });
    let saved = saving.await.expect("no panic").expect("a verdict");
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
}

/// Case 2, for each request of a holder: a lock held past the expiry and rolled back.
#[tokio::test]
async fn case_2_renewals_and_ends_behind_a_row_lock_held_past_the_expiry_are_refused() {
    let mut scene = Scene::held_for(300).await;
    scene.lock().await;
    let renewed =
        while_waiting!(scene, async |store: PgStore, lease: LeaseId| store.renew(&lease, minute()).await, {
            scene.past_expiry().await;
            execute(&mut scene.session, "ROLLBACK").await;
        });
    assert!(matches!(&renewed, RenewVerdict::Refused(why) if expired(why)), "{renewed:?}");

    let mut scene = Scene::held_for(300).await;
    scene.lock().await;
    let released = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.release(&release(&lease, "submitted")).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "ROLLBACK").await;
        }
    );
    assert!(matches!(&released, ReleaseVerdict::Refused(why) if expired(why)), "{released:?}");

    let mut scene = Scene::held_for(300).await;
    scene.lock().await;
    let failed = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.fail(&fail(&lease, "submitted")).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "ROLLBACK").await;
        }
    );
    assert!(matches!(&failed, FailVerdict::Refused(why) if expired(why)), "{failed:?}");
}

/// The same, where the session had changed the row before it rolled back.
#[tokio::test]
async fn no_late_save_a_save_behind_an_update_rolled_back_past_the_expiry_is_refused() {
    let mut scene = Scene::held_for(300).await;
    let renewal =
        "UPDATE lease.runs SET lease_expires_at = clock_timestamp() + interval '1 hour' WHERE id = $run";
    scene.begin(renewal).await;
    let verdict = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.save(&save(&lease, "submitted", "a", minute())).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "ROLLBACK").await;
        }
    );
    assert!(matches!(&verdict, SaveVerdict::Refused(why) if expired(why)), "{verdict:?}");
}

/// This worker's own renewal is in flight while the old expiry passes: everything it asks is done,
/// and somebody else's claim is told that the run is held.
#[tokio::test]
async fn a_renewal_in_flight_keeps_the_lease_for_what_waits_behind_it() {
    let renewal =
        "UPDATE lease.runs SET lease_expires_at = clock_timestamp() + interval '1 hour' WHERE id = $run";

    let mut scene = Scene::held_for(300).await;
    scene.begin(renewal).await;
    let renewed =
        while_waiting!(scene, async |store: PgStore, lease: LeaseId| store.renew(&lease, minute()).await, {
            scene.past_expiry().await;
            execute(&mut scene.session, "COMMIT").await;
        });
    assert_eq!(renewed, RenewVerdict::Renewed { yield_asked: false });

    let mut scene = Scene::held_for(300).await;
    scene.begin(renewal).await;
    let saved = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.save(&save(&lease, "submitted", "a", minute())).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "COMMIT").await;
        }
    );
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));

    let mut scene = Scene::held_for(300).await;
    scene.begin(renewal).await;
    let claimed = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.claim(&claim(lease.run, "b#1", minute())).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "COMMIT").await;
        }
    );
    assert!(matches!(&claimed, ClaimVerdict::Busy { owner, .. } if owner.as_str() == "a#1"), "{claimed:?}");
}

/// A takeover is in flight: committed, the old holder is told by whom; rolled back, that its lease
/// ran out.
#[tokio::test]
async fn truth_a_save_behind_a_takeover_is_told_how_it_ended() {
    let takeover = "UPDATE lease.runs SET fence = 2, owner = 'b#1', losses = 1,
        lease_expires_at = clock_timestamp() + interval '1 hour' WHERE id = $run";
    for (end, superseded) in [("COMMIT", true), ("ROLLBACK", false)] {
        let mut scene = Scene::held_for(200).await;
        scene.past_expiry().await;
        scene.begin(takeover).await;
        let verdict = while_waiting!(
            scene,
            async |store: PgStore, lease: LeaseId| {
                store.save(&save(&lease, "submitted", "a", minute())).await
            },
            {
                execute(&mut scene.session, end).await;
            }
        );
        let SaveVerdict::Refused(why) = verdict else { panic!("{verdict:?}") };
        if superseded {
            let by_fence = scene.lease.fence.next().expect("numbers go on");
            assert_eq!(why, LostReason::Superseded { by_fence, by_owner: owner("b#1") });
        } else {
            assert!(expired(&why), "{why:?}");
        }
    }
}

/// Case 26: the last save is in flight when it is sent again. The receipts as the second statement's
/// snapshot has them do not hold the first one's yet.
#[tokio::test]
async fn case_26_a_save_sent_again_behind_itself_is_saved_once() {
    let mut scene = Scene::held_for(60_000).await;
    for (from, to) in [("submitted", "a"), ("a", "b")] {
        let saved = scene.store.save(&save(&scene.lease, from, to, minute())).await.expect("a verdict");
        assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
    }
    scene.lock().await;
    let saves: Vec<_> = (0..3)
        .map(|_| {
            let (store, lease) = (scene.store.clone(), scene.lease.clone());
            tokio::spawn(async move { store.save(&save(&lease, "b", "c", minute())).await })
        })
        .collect();
    waiting_sessions(&mut scene.watcher, 3).await;
    execute(&mut scene.session, "ROLLBACK").await;
    let mut verdicts = Vec::new();
    for save in saves {
        verdicts.push(save.await.expect("no panic").expect("a verdict"));
    }
    let saved = |verdict: &&SaveVerdict| **verdict == SaveVerdict::Saved(AfterSave::Completed);
    let already = |verdict: &&SaveVerdict| **verdict == SaveVerdict::AlreadySaved(AfterSave::Completed);
    assert_eq!((verdicts.iter().filter(saved).count(), verdicts.iter().filter(already).count()), (1, 2));
    assert_eq!(scene.store.receipts(scene.lease.run).await.expect("receipts").len(), 3);
}

/// Case 17: the same, with another receipt. ONE-RECEIPT: the first one stands.
#[tokio::test]
async fn case_17_another_receipt_behind_a_save_in_flight_is_an_error_of_its_own() {
    let mut scene = Scene::held_for(60_000).await;
    scene.lock().await;
    let (store, lease) = (scene.store.clone(), scene.lease.clone());
    let first = tokio::spawn(async move { store.save(&save(&lease, "submitted", "a", minute())).await });
    waiting_sessions(&mut scene.watcher, 1).await;
    let (store, lease) = (scene.store.clone(), scene.lease.clone());
    let second = tokio::spawn(async move {
        let other = document(serde_json::json!({ "did": "something else" }));
        let effects = lease_core::Effects::none();
        store
            .save(&lease_core::Save::new(&lease, Phase::Submitted, name("a"), other, effects, minute()))
            .await
    });
    waiting_sessions(&mut scene.watcher, 2).await;
    execute(&mut scene.session, "ROLLBACK").await;
    let first = first.await.expect("no panic").expect("a verdict");
    assert_eq!(first, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
    let second = second.await.expect("no panic").expect("a verdict");
    assert_eq!(second, SaveVerdict::Refused(LostReason::ReceiptConflict));
    let receipts = scene.store.receipts(scene.lease.run).await.expect("receipts");
    assert_eq!(receipts[0].body, document(serde_json::json!({ "did": "a" })));
}

/// A batch of renewals with one row locked by somebody's session: that one is not judged, and the
/// others do not wait for it.
#[tokio::test]
async fn a_batch_of_renewals_passes_over_a_locked_row() {
    let mut scene = Scene::held_for(60_000).await;
    let mut leases = vec![scene.lease.clone()];
    for number in 2..6 {
        let run = opened(&scene.store, number, &format!("run {number}")).await;
        leases.push(granted(&scene.store, run, "a#1", minute()).await);
    }
    scene.lock().await;
    let before = tokio::time::Instant::now();
    let verdicts = scene.store.renew_many(&leases, minute()).await.expect("verdicts");
    assert!(before.elapsed() < Duration::from_secs(5));
    assert_eq!(verdicts[0], RenewVerdict::NotJudged);
    assert!(verdicts[1..].iter().all(|verdict| *verdict == RenewVerdict::Renewed { yield_asked: false }));
    execute(&mut scene.session, "ROLLBACK").await;
    let verdicts = scene.store.renew_many(&leases, minute()).await.expect("verdicts");
    assert_eq!(verdicts[0], RenewVerdict::Renewed { yield_asked: false });
    assert_eq!(scene.store.standing(&scene.lease).await.expect("an answer"), Standing::Held);
}

/// "One row changed" is not yet "I hold it": a lease so short that it is over when the statement ends
/// is never reported as held. The session's trigger makes the statement slow.
#[tokio::test]
async fn truth_a_lease_that_ran_out_within_its_own_statement_is_not_reported_as_held() {
    let mut scene = Scene::held_for(60_000).await;
    let slow = "CREATE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql
            AS 'BEGIN PERFORM pg_catalog.pg_sleep(0.05); RETURN NULL; END';
        CREATE TRIGGER dawdle AFTER UPDATE ON lease.runs FOR EACH ROW EXECUTE FUNCTION public.dawdle();
        CREATE FUNCTION public.dawdle_before() RETURNS trigger LANGUAGE plpgsql
            AS 'BEGIN PERFORM pg_catalog.pg_sleep(0.05); RETURN NEW; END';
        CREATE TRIGGER dawdle_before BEFORE UPDATE ON lease.runs
            FOR EACH ROW EXECUTE FUNCTION public.dawdle_before();";
    execute(&mut scene.session, slow).await;
    let saved = scene.store.save(&save(&scene.lease, "submitted", "a", ttl(20))).await.expect("a verdict");
    assert!(matches!(&saved, SaveVerdict::Saved(AfterSave::Lost(LostReason::Expired { .. }))), "{saved:?}");
    let claimed = scene.store.claim(&claim(scene.lease.run, "b#1", ttl(20))).await.expect("a verdict");
    assert!(matches!(claimed, ClaimVerdict::Lapsed { fence } if fence.get() == 2), "{claimed:?}");
    let lease = granted(&scene.store, scene.lease.run, "c#1", minute()).await;
    let renewed = scene.store.renew(&lease, ttl(20)).await.expect("a verdict");
    assert!(matches!(&renewed, RenewVerdict::Refused(why) if expired(why)), "{renewed:?}");
}
