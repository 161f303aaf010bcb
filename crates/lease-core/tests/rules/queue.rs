//! Which runs `claim_next` may take, and in which order.

use lease_core::transition::{claim, claimable};
use lease_core::{Action, ClaimVerdict, Due, Priority, RunId};

use crate::world::{self, World, later, plan};

fn taken(world: &World) -> bool {
    claimable(&world.run, &[world.run.plan.id.digest], world.now).is_some()
}

/// LIVENESS, as far as one row goes: what one claim would grant, the queue offers, and nothing else
/// but the runs that a claim would set aside.
fn agrees(world: &World) {
    let verdict = claim(&world.run, &world::claim(&world.run, "next"), world.now).verdict;
    let granted = matches!(verdict, ClaimVerdict::Granted(_) | ClaimVerdict::SetAside(_));
    assert_eq!(taken(world), granted, "{verdict:?}");
}

#[test]
fn liveness_the_queue_offers_exactly_the_runs_that_a_claim_would_take() {
    let mut world = World::new();
    agrees(&world);
    let lease = world.granted("a");
    agrees(&world);
    world.pass(59);
    assert!(!taken(&world));
    world.pass(1);
    assert!(taken(&world));
    agrees(&world);
    world.pass(600);
    world.run.losses = world::LOSS_LIMIT;
    agrees(&world);
    let mut put_off = World::new();
    let other = put_off.granted("a");
    let _ = put_off.release(&other, "submitted", later(5));
    agrees(&put_off);
    put_off.pass(5);
    assert!(taken(&put_off));
    let mut paused = put_off.clone();
    let _ = paused.act(&Action::Pause);
    assert!(!taken(&paused));
    agrees(&paused);
    let mut waiting = World::new();
    let other = waiting.granted("a");
    let _ = waiting.release(&other, "submitted", Due::Approval);
    agrees(&waiting);
    let _ = put_off.act(&Action::Cancel);
    agrees(&put_off);
    assert_eq!(claimable(&World::new().run, &[plan("other").id.digest], world.now), None);
    drop(lease);
}

#[test]
fn higher_priority_goes_first_then_the_longest_due_then_the_smaller_id() {
    let offer = |priority: i32, due: u64, id: u128| {
        let mut world = World::new();
        world.run.priority = Priority::new(priority).unwrap();
        world.run.due_at = world::at(world::START - 100).plus(std::time::Duration::from_secs(due));
        world.run.id = RunId::new(uuid::Uuid::from_u128(id));
        claimable(&world.run, &[world.run.plan.id.digest], world.now).unwrap()
    };
    let first_to_last = [offer(1, 50, 9), offer(0, 10, 8), offer(0, 20, 1), offer(0, 20, 2), offer(-1, 0, 0)];
    assert!(first_to_last.is_sorted_by(|one, other| one < other));
}
