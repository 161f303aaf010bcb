//! How a lease stands: every reason, the most telling first, and the exact instant of each.

use std::time::Duration;

use lease_core::{Action, Due, Ending, Hold, IdempotencyKey, LeaseId, LostReason, Standing};

use crate::world::{self, World, fence, later, name, owner};

fn lost(why: LostReason) -> Standing {
    Standing::Lost(why)
}

#[test]
fn no_late_save_a_lease_is_held_before_its_expiry_and_expired_from_it_on() {
    let mut world = World::new();
    let lease = world.granted("a");
    assert_eq!(world.standing(&lease), Standing::Held);
    world.now = world.now.plus(Duration::from_micros(59_999_999));
    assert_eq!(world.standing(&lease), Standing::Held);
    for micros in [0, 1] {
        world.now = world.now.plus(Duration::from_micros(1));
        let late_by = Some(Duration::from_micros(micros));
        assert_eq!(world.standing(&lease), lost(LostReason::Expired { late_by }));
    }
}

#[test]
fn truth_superseded_names_the_number_and_the_owner_of_the_claim_that_has_the_run() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(60);
    let _ = world.granted("b");
    let by = |fence, by_owner| lost(LostReason::Superseded { by_fence: fence, by_owner });
    assert_eq!(world.standing(&lease), by(fence(2), owner("b")));
    let _ = world.act(&Action::Cancel);
    assert_eq!(
        world.standing(&lease),
        by(fence(2), owner("b")),
        "more telling than that the run is cancelled"
    );
    let twin = LeaseId { owner: owner("z"), fence: fence(2), ..lease };
    assert_eq!(world.standing(&twin), by(fence(2), owner("b")), "another owner with the same number");
}

/// The store was set back to before the claim.
#[test]
fn truth_a_number_above_the_runs_own_is_forgotten_not_superseded() {
    let mut world = World::new();
    let before = world.clone();
    let lease = world.granted("a");
    assert_eq!(before.standing(&lease), lost(LostReason::Forgotten { fence: None }));
    world.pass(60);
    let ahead = LeaseId { fence: fence(2), ..lease };
    assert_eq!(world.standing(&ahead), lost(LostReason::Forgotten { fence: Some(fence(1)) }));
}

#[test]
fn truth_a_lease_of_an_ended_run_is_told_how_the_run_ended() {
    let mut world = World::new();
    let lease = world.granted("a");
    let mut cancelled = world.clone();
    let _ = cancelled.act(&Action::Cancel);
    assert_eq!(cancelled.standing(&lease), lost(LostReason::Finished(Ending::Cancelled)));
    let mut failed = world.clone();
    let _ = failed.fail(&lease, "submitted");
    assert_eq!(failed.standing(&lease), lost(LostReason::Finished(Ending::Failed)));
    for (from, to) in [("submitted", "a"), ("a", "b"), ("b", "c")] {
        let _ = world.save(&lease, from, to, to);
    }
    assert_eq!(world.standing(&lease), lost(LostReason::Finished(Ending::Completed)));
}

/// On a run that goes on, the way the lease ended is what is left to tell.
#[test]
fn truth_a_lease_that_was_ended_is_told_how_it_was() {
    let mut world = World::new();
    let lease = world.granted("a");
    for due in [Due::Now, later(5), Due::Approval] {
        let mut released = world.clone();
        let _ = released.release(&lease, "submitted", due);
        released.pass(600);
        assert_eq!(released.standing(&lease), lost(LostReason::Released));
    }
    let mut revoked = world.clone();
    let _ = revoked.act(&Action::Revoke { fence: lease.fence });
    assert_eq!(revoked.standing(&lease), lost(LostReason::Revoked));
    let retry = Action::Retry(IdempotencyKey::Same);
    let mut failed = world.clone();
    let _ = failed.fail(&lease, "submitted");
    let _ = failed.act(&retry);
    assert_eq!(failed.standing(&lease), lost(LostReason::Finished(Ending::Failed)));
    world.run.losses = world::LOSS_LIMIT;
    world.pass(60);
    let _ = world.claim("b");
    assert_eq!(world.standing(&lease), lost(LostReason::Finished(Ending::Failed)), "set aside");
    let _ = world.act(&retry);
    assert_eq!(world.standing(&lease), lost(LostReason::Expired { late_by: None }));
}

/// Rows that no history of this version leaves, but that a store may hand in.
#[test]
fn truth_leases_ended_by_completion_or_cancelling_on_an_open_run_say_so() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", Due::Approval);
    let _ = world.act(&Action::Approve { phase: name("a"), owner: owner("ops#1") });
    let approval = LeaseId { owner: owner("ops#1"), fence: fence(2), ..lease };
    assert_eq!(world.standing(&approval), lost(LostReason::Finished(Ending::Completed)));
    let Hold::Ended { fence, owner, .. } = world.run.hold.clone() else { panic!("the lease was ended") };
    world.run.hold = Hold::Ended { fence, owner, how: lease_core::LeaseEnd::Cancelled };
    assert_eq!(world.standing(&approval), lost(LostReason::Finished(Ending::Cancelled)));
}
