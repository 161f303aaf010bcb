//! Claiming the next runs: which ones, in which order, and when to ask again.
//!
//! Clauses for LIVENESS, ONE-HOLDER and FENCE-UP.

use std::time::Duration;

use lease_core::{Action, ClaimVerdict, Claimed, Due, RunId};

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::all;
use super::words::*;

async fn claim_next(scene: &Scene<'_>, owners: &[&str]) -> Claimed {
    judged(scene.store.claim_next(&next(owners)).await)
}

fn runs(claimed: &Claimed) -> Vec<RunId> {
    claimed.grants.iter().map(|grant| grant.lease.run).collect()
}

/// LIVENESS: higher priority first, then the longest due; no more than there are owners, each owner
/// once.
pub async fn the_queue_goes_by_priority_and_then_by_the_time_due(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    // In the order they are to be claimed; opened in another one.
    for (number, level) in [(5, -1), (3, 0), (4, 0), (1, 16), (2, 3)] {
        let mut submit = submit(number, &format!("run {number}"));
        submit.priority = priority(level);
        scene.open(&submit).await;
        scene.elapse(BLINK).await;
    }
    let first = claim_next(&scene, &["w#1", "w#2"]).await;
    assert_eq!(runs(&first), [id(1), id(2)]);
    let owners: Vec<_> = first.grants.iter().map(|grant| grant.lease.owner.as_str()).collect();
    assert_eq!(owners, ["w#1", "w#2"]);
    assert_eq!((first.next_due_in, first.next_lapse_in), (None, None), "no slot stayed free");
    let rest = claim_next(&scene, &["w#3", "w#4", "w#5", "w#6"]).await;
    assert_eq!(runs(&rest), [id(3), id(4), id(5)]);
    for grant in first.grants.iter().chain(&rest.grants) {
        assert_eq!((grant.lease.fence, &grant.job.phase), (fence(1), &phase("submitted")));
        scene.hold(&grant.lease).await;
    }
}

/// LIVENESS: among runs that fell due at different times, the one that is due longest goes first.
pub async fn a_retry_that_fell_due_later_comes_later(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let (early, late) = (scene.run(1, "early").await, scene.run(2, "late").await);
    for (run, delay) in [(early, 20), (late, 10)] {
        let lease = scene.granted(run, "w#1").await;
        scene.released(&lease, "submitted", later(seconds(delay))).await;
    }
    scene.elapse(seconds(20)).await;
    assert_eq!(runs(&claim_next(&scene, &["w#1", "w#2", "w#3"]).await), [late, early]);
}

/// What is held, paused, waiting, finished, not due, excepted or of an unknown plan is passed over.
pub async fn the_queue_holds_only_what_may_be_claimed(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let _held = scene.granted(scene.run(1, "held").await, "w#1").await;
    scene.done(scene.run(2, "paused").await, &Action::Pause).await;
    let waiting = scene.granted(scene.run(3, "waiting").await, "w#1").await;
    scene.released(&waiting, "submitted", Due::Approval).await;
    scene.done(scene.run(4, "cancelled").await, &Action::Cancel).await;
    let not_due = scene.granted(scene.run(5, "not due").await, "w#1").await;
    scene.released(&not_due, "submitted", later(seconds(5))).await;
    let mut other_plan = submit(6, "other plan");
    other_plan.plan = plan_of("other", 1, "");
    scene.open(&other_plan).await;
    let excepted = scene.run(7, "excepted").await;
    let mut claim = next(&["w#2", "w#3"]);
    claim.except = vec![excepted];
    assert_eq!(judged(scene.store.claim_next(&claim).await).grants, []);
    scene.elapse(seconds(5)).await;
    assert_eq!(runs(&judged(scene.store.claim_next(&claim).await)), [not_due.run]);
    assert_eq!(runs(&claim_next(&scene, &["w#4", "w#5"]).await), [excepted]);
    let mut stranger = next(&["w#6", "w#7"]);
    stranger.plans = vec![other_plan.plan.id.digest, plan_of("third", 1, "").id.digest];
    assert_eq!(runs(&judged(scene.store.claim_next(&stranger).await)), [other_plan.id]);
    stranger.plans.clear();
    assert_eq!(judged(scene.store.claim_next(&stranger).await), Claimed::default());
}

/// LIVENESS: at the very instant a lease runs out its run is in the queue again.
pub async fn liveness_a_lapsed_run_is_claimed_by_the_next_who_asks(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    scene.elapse(TTL - BLINK).await;
    assert_eq!(claim_next(&scene, &["w#2"]).await.grants, []);
    scene.elapse(BLINK).await;
    let claimed = claim_next(&scene, &["w#2"]).await;
    let [grant] = &claimed.grants[..] else { panic!("{claimed:?}") };
    assert_eq!((grant.lease.fence, &grant.job.phase, grant.job.losses), (fence(2), &phase("a"), 1));
}

/// Where slots stayed free the answer says when the next run falls due and when the next lease runs
/// out, of plans that the worker knows.
pub async fn an_idle_worker_is_told_when_to_ask_again(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let empty = claim_next(&scene, &["w#1"]).await;
    assert_eq!((empty.next_due_in, empty.next_lapse_in), (None, None));
    for (number, delay) in [(1, 300), (2, 30)] {
        let lease = scene.granted(scene.run(number, &format!("later {number}")).await, "w#1").await;
        scene.released(&lease, "submitted", later(seconds(delay))).await;
    }
    let mut unknown = submit(3, "unknown");
    unknown.plan = plan_of("other", 1, "");
    scene.open(&unknown).await;
    let told = |claimed: &Claimed| (claimed.next_due_in, claimed.next_lapse_in);
    assert_eq!(told(&claim_next(&scene, &["w#1"]).await), (Some(seconds(30)), None));
    let _held = scene.granted(scene.run(4, "held").await, "w#1").await;
    scene.elapse(seconds(10)).await;
    let expected: (Option<Duration>, _) = (Some(seconds(20)), Some(TTL - seconds(10)));
    assert_eq!(told(&claim_next(&scene, &["w#1"]).await), expected);
    scene.elapse(seconds(20)).await;
    assert_eq!(runs(&claim_next(&scene, &["w#1"]).await), [id(2)]);
}

/// ONE-HOLDER: several workers that ask at the same instant share the runs out, none twice.
pub async fn one_holder_racing_workers_share_the_queue(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    for number in 1..=12 {
        scene.run(number, &format!("run {number}")).await;
    }
    let owners: Vec<String> = (0..24).map(|number| format!("w#{number}")).collect();
    let claims: Vec<_> =
        owners.chunks(4).map(|mine| next(&mine.iter().map(String::as_str).collect::<Vec<_>>())).collect();
    let answers = all(claims.iter().map(|claim| scene.store.claim_next(claim)).collect()).await;
    let mut claimed: Vec<_> = answers.into_iter().flat_map(|answer| runs(&judged(answer))).collect();
    // Where one worker has a row locked another passes it over; the next poll gets what is left.
    let owners: Vec<String> = (0..12).map(|number| format!("v#{number}")).collect();
    let owners: Vec<&str> = owners.iter().map(String::as_str).collect();
    claimed.extend(runs(&claim_next(&scene, &owners).await));
    claimed.sort();
    assert_eq!(claimed, (1..=12).map(id).collect::<Vec<_>>());
    for number in 1..=12 {
        assert_eq!(scene.view(id(number)).await.run.hold.fence(), Some(fence(1)));
    }
}

/// LIVENESS: a row that somebody has locked holds up nobody: it is passed over, and the answer says
/// that there is one, so that nobody takes the queue for empty.
pub async fn liveness_a_locked_row_is_passed_over(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let (locked, free) = (scene.run(1, "locked").await, scene.run(2, "free").await);
    let Some(lock) = scene.lock(locked).await else { return };
    let claimed = claim_next(&scene, &["w#1", "w#2"]).await;
    assert_eq!(runs(&claimed), [free]);
    assert_eq!(claimed.next_due_in, Some(Duration::ZERO), "a due run was passed over");
    lock.free().await;
    assert_eq!(runs(&claim_next(&scene, &["w#1", "w#2"]).await), [locked]);
    scene.elapse(TTL).await;
    let Some(lock) = scene.lock(locked).await else { return };
    let claimed = claim_next(&scene, &["w#3", "w#4"]).await;
    assert_eq!((runs(&claimed), claimed.next_lapse_in), (vec![free], Some(Duration::ZERO)));
    lock.free().await;
}

/// FENCE-UP: a run that was claimed from the queue is busy for a claim by name, and the other way.
pub async fn both_ways_to_claim_see_each_other(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let claimed = claim_next(&scene, &["w#1"]).await;
    let lease = &claimed.grants[0].lease;
    let busy = ClaimVerdict::Busy { owner: owner("w#1"), fence: fence(1), remaining: TTL };
    assert_eq!(scene.claim(run, "w#2").await, busy);
    scene.released(lease, "submitted", Due::Now).await;
    let _second = scene.granted(run, "w#2").await;
    assert_eq!(claim_next(&scene, &["w#3"]).await.grants, []);
    assert_eq!(scene.outcomes(run).await.len(), 2);
}
