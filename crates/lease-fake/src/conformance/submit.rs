//! Opening runs: one per key, and one plan per name and version.
//!
//! Clauses for TRUTH.

use lease_core::{Hold, Phase, PlanVerdict, Status, Submit, SubmitVerdict};
use serde_json::json;

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::together::{all, both};
use super::words::*;

async fn ask(scene: &Scene<'_>, submit: &Submit) -> SubmitVerdict {
    judged(scene.store.submit(submit).await)
}

/// A run that is opened carries what was submitted, is due at once and was never claimed.
pub async fn a_submit_opens_a_run_that_is_due_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let mut submit = submit(7, "Müller & Søn \"1\"");
    submit.priority = priority(-16);
    submit.input = document(json!({"big": 9_007_199_254_740_993_u64, "text": "e\u{301}"}));
    let run = scene.open(&submit).await;
    let view = scene.view(run).await;
    assert_eq!((view.run.id, &view.run.key, &view.run.plan), (id(7), &submit.key, &submit.plan));
    assert_eq!((view.run.priority, &view.run.input), (submit.priority, &submit.input));
    assert_eq!(view.run.input_digest, submit.input_digest());
    assert_eq!((view.run.submitted_at, view.run.due_at), (view.now, view.now));
    assert_eq!((&view.run.phase, &view.run.hold), (&Phase::Submitted, &Hold::Never));
    assert_eq!((view.run.status, view.run.paused, view.run.mark), (Status::Open, false, None));
    assert_eq!((view.run.losses, view.run.failures, view.run.key_epoch), (0, 0, 0));
    assert_eq!((view.run.error, view.last_outcome), (None, None));
}

/// The same key, plan and content: the run that is there, whatever id and priority came along,
/// however far it has got.
pub async fn the_same_submit_again_finds_the_run_that_is_there(harness: &dyn Harness) {
    let (scene, lease) = Scene::with_lease(harness, "w#1").await;
    let again = Submit { id: id(2), priority: priority(5), ..submit(2, "key") };
    let again = Submit { input: submit(1, "key").input, ..again };
    assert_eq!(ask(&scene, &again).await, SubmitVerdict::Existing { run: id(1) });
    scene.complete(&lease).await;
    let before = scene.everything(lease.run).await;
    assert_eq!(ask(&scene, &again).await, SubmitVerdict::Existing { run: id(1) });
    assert_eq!(scene.everything(lease.run).await, before);
    assert_eq!(judged(scene.store.view(id(2)).await), None);
}

/// The same key with other content or another plan is a conflict that says which, and changes
/// nothing.
pub async fn truth_the_same_key_with_something_else_is_a_conflict(harness: &dyn Harness) {
    let (scene, run) = Scene::with_run(harness).await;
    let before = scene.everything(run).await;
    let conflict = |content_differs| SubmitVerdict::KeyConflict { run, plan: plan().id, content_differs };
    let other_content = Submit { input: document(json!({"name": "other"})), ..submit(2, "key") };
    assert_eq!(ask(&scene, &other_content).await, conflict(true));
    let other_plan = Submit { plan: plan_of("plan", 2, ""), ..submit(2, "key") };
    assert_eq!(ask(&scene, &other_plan).await, conflict(false));
    let both = Submit { plan: plan_of("plan", 2, ""), ..other_content.clone() };
    assert_eq!(ask(&scene, &both).await, conflict(true));
    let edited = Submit { plan: plan_of("plan", 1, "edited"), ..submit(2, "key") };
    assert_eq!(ask(&scene, &edited).await, conflict(false), "the key's own conflict comes first");
    assert_eq!(scene.everything(run).await, before);
    assert_eq!(judged(scene.store.check_plan(&plan_of("plan", 2, "").id).await), PlanVerdict::Unused);
}

/// Case 34. Another content under a name and version that runs use is refused, naming the digest in
/// use; other names and versions are free.
pub async fn case_34_another_plan_under_the_same_name_and_version_is_refused(harness: &dyn Harness) {
    let (scene, _) = Scene::with_run(harness).await;
    let registered = plan().id.digest;
    let edited = plan_of("plan", 1, "edited");
    let refused = Submit { plan: edited.clone(), ..submit(2, "other") };
    assert_eq!(ask(&scene, &refused).await, SubmitVerdict::PlanConflict { registered });
    assert_eq!(judged(scene.store.view(id(2)).await), None);
    let check = async |plan: &lease_core::Plan| judged(scene.store.check_plan(&plan.id).await);
    assert_eq!(check(&edited).await, PlanVerdict::Conflict { registered });
    assert_eq!(check(&plan()).await, PlanVerdict::InUse);
    let next_version = plan_of("plan", 2, "edited");
    assert_eq!(check(&next_version).await, PlanVerdict::Unused);
    assert_eq!(check(&next_version).await, PlanVerdict::Unused, "checking registers nothing");
    let accepted = Submit { plan: next_version.clone(), ..submit(2, "other") };
    assert_eq!(ask(&scene, &accepted).await, SubmitVerdict::Opened);
    assert_eq!(check(&next_version).await, PlanVerdict::InUse);
    assert_eq!(check(&plan_of("other", 1, "edited")).await, PlanVerdict::Unused);
}

/// Case 35. The same key submitted at the same instant with the same content: one run, and all are
/// told the same one.
pub async fn case_35_racing_submits_of_the_same_open_one_run(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let input = submit(0, "key").input;
    let submits: Vec<_> =
        (1..=8).map(|number| Submit { input: input.clone(), ..submit(number, "key") }).collect();
    let answers = all(submits.iter().map(|submit| scene.store.submit(submit)).collect()).await;
    let mut opened = Vec::new();
    let mut told = Vec::new();
    for (submit, answer) in submits.iter().zip(answers) {
        let verdict = judged(answer);
        if verdict == SubmitVerdict::Opened {
            opened.push(submit.id);
        } else {
            let SubmitVerdict::Existing { run } = verdict else { panic!("{verdict:?}") };
            told.push(run);
        }
    }
    assert_eq!(opened.len(), 1, "{opened:?}");
    assert_eq!(told, vec![opened[0]; 7]);
    assert!(judged(scene.store.view(opened[0]).await).is_some());
}

/// Case 35. The same key submitted at the same instant with other content: one is opened, the other
/// is a conflict.
pub async fn case_35_racing_submits_of_different_content_conflict(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let other = Submit { input: document(json!({"name": "other"})), ..submit(2, "key") };
    let mine = submit(1, "key");
    let (one, two) = both(scene.store.submit(&mine), scene.store.submit(&other)).await;
    let (one, two) = (judged(one), judged(two));
    let conflict = |run| SubmitVerdict::KeyConflict { run, plan: plan().id, content_differs: true };
    let fine = (one == SubmitVerdict::Opened && two == conflict(id(1)))
        || (two == SubmitVerdict::Opened && one == conflict(id(2)));
    assert!(fine, "{one:?}, {two:?}");
}

/// Case 35. Two plans of one name and version submitted at the same instant, under different keys:
/// one is opened, the other refused.
pub async fn case_35_racing_plans_of_one_name_and_version_conflict(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let mine = submit(1, "one");
    let other = Submit { plan: plan_of("plan", 1, "edited"), ..submit(2, "two") };
    let (one, two) = both(scene.store.submit(&mine), scene.store.submit(&other)).await;
    let (one, two) = (judged(one), judged(two));
    let refused = |by: &Submit| SubmitVerdict::PlanConflict { registered: by.plan.id.digest };
    let fine = (one == SubmitVerdict::Opened && two == refused(&mine))
        || (two == SubmitVerdict::Opened && one == refused(&other));
    assert!(fine, "{one:?}, {two:?}");
}
