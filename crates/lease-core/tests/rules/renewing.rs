//! Renewals: NO-LAZARUS, and nothing but the expiry changes.

use std::time::Duration;

use lease_core::transition::renew;
use lease_core::{Action, LostReason, RenewVerdict};

use crate::shown::check;
use crate::world::{World, fence, owner, ttl};

#[test]
fn a_renewal_makes_the_lease_last_a_whole_ttl_from_now_and_writes_nothing_else() {
    let mut world = World::new();
    let lease = world.granted("a");
    world.pass(59);
    let renewed = RenewVerdict::Renewed { yield_asked: false };
    check(&world.run, &renew(&world.run, &lease, ttl(), world.now), &renewed, &["hold = 1 a until +119s"]);
}

#[test]
fn a_renewal_of_a_paused_run_asks_to_yield() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.act(&Action::Pause);
    assert_eq!(world.renew(&lease), RenewVerdict::Renewed { yield_asked: true });
    let _ = world.act(&Action::Resume);
    assert_eq!(world.renew(&lease), RenewVerdict::Renewed { yield_asked: false });
}

/// Case 1: nobody else has claimed, and still the lease does not come back.
#[test]
fn no_lazarus_case_1_a_lapsed_lease_is_refused_though_nobody_else_wants_the_run() {
    let mut world = World::new();
    let lease = world.granted("a");
    for late_by in [0, 1, 3_600] {
        world.pass(if late_by == 0 { 60 } else { 0 });
        let mut late = world.clone();
        late.pass(late_by);
        let expired = LostReason::Expired { late_by: Some(Duration::from_secs(late_by)) };
        check(&late.run, &renew(&late.run, &lease, ttl(), late.now), &RenewVerdict::Refused(expired), &[]);
    }
    let new = world.granted("a");
    let superseded = LostReason::Superseded { by_fence: fence(2), by_owner: owner("a") };
    assert_eq!(world.renew(&lease), RenewVerdict::Refused(superseded));
    assert_eq!(world.renew(&new), RenewVerdict::Renewed { yield_asked: false });
}
