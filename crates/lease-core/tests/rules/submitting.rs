//! Submits: one run for one key, and one plan for one name and version.

use lease_core::SubmitVerdict;
use lease_core::transition::{open, submit};
use serde_json::json;

use crate::world::{self, World, at, plan};

/// Case 35, as far as the rules go: the second of two submits finds the first one's run.
#[test]
fn case_35_the_same_content_again_is_the_run_that_is_there_and_other_content_is_a_conflict() {
    let world = World::new();
    let there = Some(&world.run);
    let registered = Some(world.run.plan.id.digest);
    let same = world::submit("key", &plan("does"), json!({"n": 1}));
    assert_eq!(submit(there, registered, &same), SubmitVerdict::Existing { run: world.run.id });
    let conflict = |content_differs| {
        let plan = world.run.plan.id.clone();
        SubmitVerdict::KeyConflict { run: world.run.id, plan, content_differs }
    };
    let other = world::submit("key", &plan("does"), json!({"n": 2}));
    assert_eq!(submit(there, registered, &other), conflict(true));
    let elsewhere = world::submit("key", &plan("does more"), json!({"n": 1}));
    assert_eq!(submit(there, registered, &elsewhere), conflict(false));
}

/// Case 34: another content under a name and version that runs already use.
#[test]
fn case_34_another_plan_under_a_name_and_version_in_use_is_refused_with_the_digest_in_use() {
    let request = world::submit("new", &plan("does more"), json!({}));
    let registered = plan("does").id.digest;
    assert_eq!(submit(None, Some(registered), &request), SubmitVerdict::PlanConflict { registered });
    assert_eq!(submit(None, Some(request.plan.id.digest), &request), SubmitVerdict::Opened);
    assert_eq!(submit(None, None, &request), SubmitVerdict::Opened);
}

#[test]
fn a_run_is_opened_due_now_with_nothing_saved_and_never_claimed() {
    let request = world::submit("key", &plan("does"), json!({"n": 1}));
    let run = open(&request, at(7));
    assert_eq!((run.due_at, run.submitted_at), (at(7), at(7)));
    assert_eq!((run.hold.fence(), &run.mark, &run.error), (None, &None, &None));
    assert_eq!((run.losses, run.failures, run.key_epoch, run.paused), (0, 0, 0, false));
    assert_eq!(run.input_digest, request.input_digest());
    assert_eq!(run.phase.as_str(), "submitted");
}
