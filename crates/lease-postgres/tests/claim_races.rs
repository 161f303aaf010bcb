//! Races for a run, on the server's real clock.

mod support;

use std::time::Duration;

use lease_core::{
    AfterSave, Attempt, AttemptOutcome, ClaimVerdict, LeaseId, LeaseStore as _, ReleaseVerdict,
    RunReader as _, SaveVerdict,
};
use lease_postgres::PgStore;
use support::scene::{Scene, while_waiting};
use support::words::{claim, claim_next, granted, minute, opened, phase, release, save, ttl};
use support::{Deadline, execute, value, waiting_sessions};

/// LIVENESS: a claim that waited past the expiry is granted, and closes the attempt that lapsed.
#[tokio::test]
async fn a_claim_behind_a_row_lock_held_past_the_expiry_is_granted() {
    let mut scene = Scene::held_for(300).await;
    scene.lock().await;
    let verdict = while_waiting!(
        scene,
        async |store: PgStore, lease: LeaseId| store.claim(&claim(lease.run, "b#1", minute())).await,
        {
            scene.past_expiry().await;
            execute(&mut scene.session, "ROLLBACK").await;
        }
    );
    let ClaimVerdict::Granted(grant) = verdict else { panic!("{verdict:?}") };
    assert_eq!((grant.lease.fence.get(), grant.job.losses), (2, 1));
    let attempts = scene.store.attempts(scene.lease.run).await.expect("attempts");
    let outcomes: Vec<_> = attempts.iter().map(Attempt::outcome).collect();
    assert_eq!(outcomes, [Some(AttemptOutcome::Superseded), None]);
}

/// Case 8, on the real clock: FENCE-UP, ONE-HOLDER.
#[tokio::test]
async fn case_8_twenty_workers_claim_one_lapsed_run_at_the_same_instant() {
    let mut scene = Scene::held_for(50).await;
    scene.past_expiry().await;
    scene.lock().await;
    let claims: Vec<_> = (0..20)
        .map(|number| {
            let (store, run) = (scene.store.clone(), scene.lease.run);
            tokio::spawn(async move { store.claim(&claim(run, &format!("w#{number}"), minute())).await })
        })
        .collect();
    waiting_sessions(&mut scene.watcher, 20).await;
    execute(&mut scene.session, "ROLLBACK").await;
    let (mut winners, mut losers) = (Vec::new(), Vec::new());
    for claim in claims {
        match claim.await.expect("no panic").expect("a verdict") {
            ClaimVerdict::Granted(grant) => winners.push(grant.lease),
            ClaimVerdict::Busy { owner, fence, .. } => losers.push((owner, fence)),
            ClaimVerdict::NotDue { .. }
            | ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::Finished(_)
            | ClaimVerdict::UnknownPlan(_)
            | ClaimVerdict::SetAside(_)
            | ClaimVerdict::Lapsed { .. }
            | ClaimVerdict::Gone => panic!("neither granted nor busy"),
        }
    }
    assert_eq!((winners.len(), losers.len()), (1, 19));
    assert_eq!(winners[0].fence, scene.lease.fence.next().expect("numbers go on"));
    assert!(losers.iter().all(|(owner, fence)| *owner == winners[0].owner && *fence == winners[0].fence));
}

/// Case 28, RESUME: a claim waits on the row while the holder saves and releases; the new holder goes
/// on after that phase.
#[tokio::test]
async fn case_28_a_claim_behind_a_save_and_a_release_goes_on_after_that_phase() {
    let mut scene = Scene::held_for(60_000).await;
    scene.lock().await;
    let (store, lease) = (scene.store.clone(), scene.lease.clone());
    let saving = tokio::spawn(async move { store.save(&save(&lease, "submitted", "a", minute())).await });
    waiting_sessions(&mut scene.watcher, 1).await;
    let (store, lease) = (scene.store.clone(), scene.lease.clone());
    let releasing = tokio::spawn(async move { store.release(&release(&lease, "a")).await });
    waiting_sessions(&mut scene.watcher, 2).await;
    let (store, run) = (scene.store.clone(), scene.lease.run);
    let claiming = tokio::spawn(async move { store.claim(&claim(run, "b#1", minute())).await });
    waiting_sessions(&mut scene.watcher, 3).await;
    execute(&mut scene.session, "ROLLBACK").await;
    let saved = saving.await.expect("no panic").expect("a verdict");
    assert_eq!(saved, SaveVerdict::Saved(AfterSave::Held { yield_asked: false }));
    let released = releasing.await.expect("no panic").expect("a verdict");
    assert_eq!(released, ReleaseVerdict::Released);
    let claimed = claiming.await.expect("no panic").expect("a verdict");
    let ClaimVerdict::Granted(grant) = claimed else { panic!("{claimed:?}") };
    assert_eq!((grant.job.phase.clone(), grant.lease.fence.get()), (phase("a"), 2));
    assert_eq!(scene.store.receipts(scene.lease.run).await.expect("receipts").len(), 1);
    let attempts = scene.store.attempts(scene.lease.run).await.expect("attempts");
    let outcomes: Vec<_> = attempts.iter().map(Attempt::outcome).collect();
    assert_eq!(outcomes, [Some(AttemptOutcome::Yielded), None]);
}

/// LIVENESS: a locked attempt takes no place among the runs that are looked at, however few are wanted.
#[tokio::test]
async fn liveness_a_locked_attempt_hides_no_lapsed_run_from_the_only_free_slot() {
    let mut scene = Scene::held_for(50).await;
    let mut others = Vec::new();
    for number in 2..=4_u128 {
        let other = opened(&scene.store, number, &format!("K-{number}")).await;
        let _lapses = granted(&scene.store, other, "a#2", ttl(50)).await;
        others.push(other);
    }
    scene.past_expiry().await;
    let others_lapsed = "SELECT bool_and(lease_expires_at < clock_timestamp()) FROM lease.runs";
    let deadline = Deadline::new();
    while !value::<bool>(&mut scene.watcher, others_lapsed).await {
        deadline.pause().await;
    }
    scene.begin("SELECT FROM lease.attempts WHERE run_id = $run FOR UPDATE").await;
    for other in others {
        let claimed = scene.store.claim_next(&claim_next(&["b#1"], minute())).await.expect("no wait");
        let runs: Vec<_> = claimed.grants.iter().map(|grant| grant.lease.run).collect();
        assert_eq!(runs, [other]);
    }
    execute(&mut scene.session, "ROLLBACK").await;
}

/// LIVENESS, TRUTH: a lapsed run whose attempt is missing, as after a restore in part, is claimed, and
/// its attempt is written down as superseded.
#[tokio::test]
async fn liveness_a_lapsed_run_without_its_attempt_is_claimed() {
    let mut scene = Scene::held_for(50).await;
    scene.past_expiry().await;
    execute(&mut scene.session, "DELETE FROM lease.attempts").await;
    let claimed = scene.store.claim_next(&claim_next(&["b#1"], minute())).await.expect("an answer");
    assert_eq!(claimed.grants[0].lease.fence.get(), 2);
    let attempts = scene.store.attempts(scene.lease.run).await.expect("attempts");
    let outcomes: Vec<_> = attempts.iter().map(Attempt::outcome).collect();
    assert_eq!(outcomes, [Some(AttemptOutcome::Superseded), None]);
}

/// LIVENESS: `claim_next` waits for no attempt's row either. One run's locked attempt costs the others
/// nothing, and that run is claimed once the lock is gone.
#[tokio::test]
async fn liveness_an_attempt_that_somebody_has_locked_holds_up_no_other_run() {
    let mut scene = Scene::held_for(50).await;
    let other = opened(&scene.store, 2, "K-2").await;
    let _lapses = granted(&scene.store, other, "a#2", ttl(50)).await;
    scene.past_expiry().await;
    scene.begin("SELECT FROM lease.attempts WHERE run_id = $run FOR UPDATE").await;
    let deadline = Deadline::new();
    let claimed = loop {
        let claimed = scene.store.claim_next(&claim_next(&["b#1", "b#2"], minute())).await.expect("no wait");
        if !claimed.grants.is_empty() {
            break claimed;
        }
        deadline.pause().await;
    };
    let runs: Vec<_> = claimed.grants.iter().map(|grant| grant.lease.run).collect();
    assert_eq!(runs, [other]);
    assert_eq!(
        claimed.next_lapse_in,
        Some(Duration::ZERO),
        "the one that was passed over can be had any time"
    );
    execute(&mut scene.session, "ROLLBACK").await;
    let claimed = scene.store.claim_next(&claim_next(&["b#3"], minute())).await.expect("an answer");
    assert_eq!((claimed.grants[0].lease.run, claimed.grants[0].lease.fence.get()), (scene.lease.run, 2));
    let attempts = scene.store.attempts(scene.lease.run).await.expect("attempts");
    assert_eq!(attempts[0].outcome(), Some(AttemptOutcome::Superseded));
}
