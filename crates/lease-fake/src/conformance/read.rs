//! Reading: finding, listing and showing runs, which changes nothing.
//!
//! Clauses for TRUTH.

use lease_core::{Action, AttemptOutcome, Due, RunFilter, RunId, RunPage, RunSelector, Status, Stranded};
use uuid::Uuid;

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::words::*;

async fn find(scene: &Scene<'_>, text: &str) -> Vec<RunId> {
    let mut found = judged(scene.store.find(&RunSelector::new(text)).await);
    found.sort();
    found
}

/// A run is found by its id, by the beginning of one, or by its key.
pub async fn a_run_is_found_by_id_prefix_and_key(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let ids = ["01890a5d-ac96-774b-8000-000000000001", "01890a5d-ac96-774b-9000-000000000002"];
    let mut runs = Vec::new();
    for (number, text) in (1..).zip(ids) {
        let uuid = Uuid::try_parse(text).expect("a uuid");
        let submit = lease_core::Submit { id: RunId::new(uuid), ..submit(number, &format!("key {number}")) };
        runs.push(scene.open(&submit).await);
    }
    assert_eq!(find(&scene, ids[1]).await, [runs[1]]);
    assert_eq!(find(&scene, &ids[1].to_uppercase()).await, [runs[1]]);
    assert_eq!(find(&scene, "01890a5d-ac96-774b-8").await, [runs[0]]);
    assert_eq!(find(&scene, "01890A5D-AC96-774B-9").await, [runs[1]]);
    assert_eq!(find(&scene, "0189").await, runs, "an ambiguous beginning finds two");
    assert_eq!(find(&scene, "018").await, [], "too short for a beginning");
    assert_eq!(find(&scene, "key 2").await, [runs[1]]);
    assert_eq!(find(&scene, "key").await, [], "a key is not found by its beginning");
    assert_eq!(find(&scene, "ffff").await, []);
    assert_eq!(find(&scene, "%").await, []);
    assert_eq!(find(&scene, "____").await, [], "no pattern");
}

/// A key that looks like the beginning of another run's id is found as a key.
pub async fn a_key_is_found_before_the_beginning_of_an_id(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let uuid = Uuid::try_parse("abcd0000-0000-4000-8000-000000000001").expect("a uuid");
    scene.open(&lease_core::Submit { id: RunId::new(uuid), ..submit(1, "one") }).await;
    let named = scene.run(2, "abcd").await;
    assert_eq!(find(&scene, "abcd").await, [named]);
}

fn ids(page: &RunPage) -> Vec<RunId> {
    page.runs.iter().map(|view| view.run.id).collect()
}

/// A list comes in the order of submitting, cut at its limit with word of it, and by status, outcome
/// and key.
pub async fn a_list_is_filtered_ordered_and_cut(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    for number in [3, 1, 2, 4] {
        scene.run(number, &format!("run {number}")).await;
        scene.elapse(BLINK).await;
    }
    let held = scene.granted(id(1), "w#1").await;
    let failed = scene.granted(id(2), "w#1").await;
    let _ = scene.fail(&failed, "submitted").await;
    scene.done(id(4), &Action::Cancel).await;
    let list = async |filter: RunFilter| judged(scene.store.list(&filter).await);
    let everything = RunFilter { limit: 100, ..RunFilter::default() };
    let page = list(everything.clone()).await;
    assert_eq!((ids(&page), page.more), (vec![id(3), id(1), id(2), id(4)], false));
    assert_eq!(page.runs[2], scene.view(id(2)).await);
    for (limit, more) in [(3, true), (4, false)] {
        let page = list(RunFilter { limit, ..everything.clone() }).await;
        assert_eq!((ids(&page).len(), page.more), (usize::try_from(limit).unwrap_or(0), more));
        assert_eq!(ids(&page)[..3], [id(3), id(1), id(2)]);
    }
    let by_status = |status| RunFilter { status: Some(status), ..everything.clone() };
    assert_eq!(ids(&list(by_status(Status::Open)).await), [id(3), id(1)]);
    assert_eq!(ids(&list(by_status(Status::Failed)).await), [id(2)]);
    assert_eq!(ids(&list(by_status(Status::Completed)).await), []);
    let by_outcome = |outcome| RunFilter { last_outcome: Some(outcome), ..everything.clone() };
    assert_eq!(ids(&list(by_outcome(AttemptOutcome::Failed)).await), [id(2)]);
    scene.released(&held, "submitted", Due::Now).await;
    assert_eq!(ids(&list(by_outcome(AttemptOutcome::Yielded)).await), [id(1)]);
    let _newer = scene.granted(id(1), "w#2").await;
    let page = list(by_outcome(AttemptOutcome::Yielded)).await;
    assert_eq!(ids(&page), [], "the newest attempt is what counts");
    let by_key = RunFilter { key: Some(key("run 4")), ..everything.clone() };
    assert_eq!(ids(&list(by_key.clone()).await), [id(4)]);
    let none = RunFilter { status: Some(Status::Open), ..by_key };
    assert_eq!(list(none).await, RunPage::default());
}

/// LIVENESS: open runs whose plan no asking worker knows are told of, by plan.
pub async fn liveness_runs_of_unknown_plans_are_told_of(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let other = plan_of("other", 3, "");
    for number in 2..=3 {
        let submit = lease_core::Submit { plan: other.clone(), ..submit(number, &format!("run {number}")) };
        scene.open(&submit).await;
    }
    let stranded = async |known: &[lease_core::Digest]| {
        let mut found = judged(scene.store.stranded(known).await);
        found.sort_by(|one, other| one.plan.name.cmp(&other.plan.name));
        found
    };
    let told = |plan: &lease_core::Plan, runs| Stranded { plan: plan.id.clone(), runs };
    assert_eq!(stranded(&known()).await, [told(&other, 2)]);
    assert_eq!(stranded(&[other.id.digest]).await, [told(&plan(), 1)]);
    assert_eq!(stranded(&[]).await, [told(&other, 2), told(&plan(), 1)]);
    assert_eq!(stranded(&[other.id.digest, plan().id.digest]).await, []);
    scene.done(run, &Action::Cancel).await;
    assert_eq!(stranded(&[other.id.digest]).await, [], "ended runs wait for nobody");
}

/// All runs can be gone through by their ids, page by page, none left out and none twice.
pub async fn runs_are_gone_through_page_by_page(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    for number in [5, 1, 4, 2, 3] {
        scene.run(number, &format!("run {number}")).await;
    }
    let page = async |after: Option<u128>, limit| judged(scene.store.runs_after(after.map(id), limit).await);
    assert_eq!(page(None, 2).await, [id(1), id(2)]);
    assert_eq!(page(Some(2), 2).await, [id(3), id(4)]);
    assert_eq!(page(Some(4), 2).await, [id(5)]);
    assert_eq!(page(Some(5), 2).await, []);
    assert_eq!(page(None, 9).await.len(), 5);
}

/// What is not there is told so, and reading changes nothing.
pub async fn reading_changes_nothing(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    let before = scene.everything(lease.run).await;
    scene.elapse(seconds(1)).await;
    let _ = find(&scene, "key").await;
    let _ = scene.standing(&lease).await;
    let _ = judged(scene.store.stranded(&[]).await);
    assert_eq!(scene.everything(lease.run).await, before);
    let nobody = id(99);
    assert_eq!(judged(scene.store.view(nobody).await), None);
    assert_eq!(judged(scene.store.receipts(nobody).await), []);
    assert_eq!(judged(scene.store.attempts(nobody).await), []);
    assert_eq!(judged(scene.store.actions(nobody).await), []);
}
