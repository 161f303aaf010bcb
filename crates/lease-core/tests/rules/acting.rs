//! The operators' table, cell by cell: each state of a run with each action, its answer and
//! everything it writes.
//!
//! The states come out of the rules themselves. Every pair of a state and an action stands in
//! exactly one line of the table; the test checks that too.

use lease_core::transition::act;
use lease_core::{Action, Due, FencingToken, Hold, IdempotencyKey, OperatorVerdict, Refusal, Who};

use crate::operators_table::TABLE;
use crate::shown::writes;
use crate::world::{START, TTL, World, at, fence, later, name, owner, who};

/// Every state, 100 s after the run was submitted. All but `never` have phase `a` saved by claim 1,
/// and claim 2 after it where the state needs a holder.
fn states() -> Vec<(&'static str, World)> {
    let never = World::new();
    let mut free = World::new();
    let first = free.granted("a");
    let _ = free.save(&first, "submitted", "a", "one");
    let _ = free.release(&first, "a", Due::Now);
    let mut held = free.clone();
    held.pass(50);
    let second = held.granted("b");
    let mut lapsed = free.clone();
    let _ = lapsed.granted("b");
    let mut tried = free.clone();
    let again = tried.granted("b");
    // A failed try is on the count of every state below, so that starting anew shows.
    tried.run.failures = 1;
    let mut waiting = tried.clone();
    let _ = waiting.release(&again, "a", Due::Approval);
    let mut waiting_for_c = held.clone();
    let _ = waiting_for_c.act(&Action::Pause);
    let _ = waiting_for_c.save(&second, "a", "b", "two");
    let _ = waiting_for_c.release(&second, "b", Due::Approval);
    let mut approved = waiting.clone();
    let _ = approved.act(&approve("b", "ops#1"));
    let mut completed = held.clone();
    let _ = completed.save(&second, "a", "b", "two");
    let _ = completed.save(&second, "b", "c", "three");
    let mut failed = tried.clone();
    let _ = failed.fail(&again, "a");
    let mut rejected = waiting.clone();
    let _ = rejected.act(&Action::Reject { phase: name("b") });
    let mut set_aside = free.clone();
    set_aside.run.losses = 2;
    let _ = set_aside.granted("b");
    set_aside.pass(TTL);
    let _ = set_aside.claim("d");
    let mut failed_paused = tried.clone();
    let _ = failed_paused.act(&Action::Pause);
    let _ = failed_paused.fail(&again, "a");
    let mut states = vec![
        ("never", never.clone()),
        ("never, paused", paused(never)),
        ("free", free.clone()),
        ("free, paused", paused(free)),
        ("held", held.clone()),
        ("held, paused", paused(held.clone())),
        ("lapsed", lapsed.clone()),
        ("lapsed, paused", paused(lapsed)),
        ("revoked", acted(&held, &Action::Revoke { fence: fence(2) })),
        ("waiting", waiting.clone()),
        ("waiting, paused", paused(waiting)),
        ("waiting for c", waiting_for_c),
        ("approved", approved),
        ("completed", completed),
        ("failed", failed),
        ("failed, paused", failed_paused),
        ("rejected", rejected),
        ("set aside", set_aside),
        ("cancelled", acted(&held, &Action::Cancel)),
    ];
    for (_, world) in &mut states {
        world.now = at(START + 100);
    }
    states
}

fn acted(world: &World, action: &Action) -> World {
    let mut world = world.clone();
    assert_eq!(world.act(action), OperatorVerdict::Done);
    world
}

fn paused(world: World) -> World {
    acted(&world, &Action::Pause)
}

fn approve(phase: &str, by: &str) -> Action {
    Action::Approve { phase: name(phase), owner: owner(by) }
}

fn actions() -> Vec<(&'static str, Action)> {
    vec![
        ("approve a", approve("a", "ops#1")),
        ("approve b", approve("b", "ops#1")),
        ("approve b as another", approve("b", "ops#2")),
        ("approve c", approve("c", "ops#1")),
        ("reject b", Action::Reject { phase: name("b") }),
        ("reject c", Action::Reject { phase: name("c") }),
        ("cancel", Action::Cancel),
        ("retry", Action::Retry(IdempotencyKey::Same)),
        ("retry anew", Action::Retry(IdempotencyKey::New)),
        ("pause", Action::Pause),
        ("resume", Action::Resume),
        ("revoke 1", Action::Revoke { fence: fence(1) }),
        ("revoke 2", Action::Revoke { fence: fence(2) }),
    ]
}

fn shown(verdict: &OperatorVerdict) -> String {
    match verdict {
        OperatorVerdict::Done => "done".to_owned(),
        OperatorVerdict::AlreadySo => "already so".to_owned(),
        OperatorVerdict::Gone => "gone".to_owned(),
        OperatorVerdict::Refused(refusal) => match refusal {
            Refusal::Status(status) => format!("refused: {status}"),
            Refusal::WaitsFor(phase) => format!("refused: waits for {phase}"),
            Refusal::PhaseSaved => "refused: saved already".to_owned(),
            Refusal::NotHeld => "refused: not held".to_owned(),
            Refusal::OtherFence { fence, owner } => format!("refused: held by {fence} {owner}"),
            Refusal::FenceExhausted => "refused: no number left".to_owned(),
        },
    }
}

/// Cases 30, 31 and 32 are cells of it.
#[test]
fn each_action_on_each_state_is_answered_and_writes_as_the_table_says() {
    let mut wrong = Vec::new();
    for (state, world) in states() {
        for (word, action) in actions() {
            let cells: Vec<_> =
                TABLE.iter().filter(|(asked, on, _)| *asked == word && on.contains(&state)).collect();
            let [(_, _, expected)] = cells.as_slice() else {
                wrong.push(format!("{word} on {state} stands in the table {} times", cells.len()));
                continue;
            };
            let decision = act(&world.run, &action, &who(), world.now);
            let mut answer = vec![shown(&decision.verdict)];
            answer.extend(writes(&world.run, &decision));
            let answer = answer.join("; ");
            if answer != *expected {
                wrong.push(format!("{word} on {state}:\n  is     {answer}\n  not    {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_names_no_state_and_no_action_that_does_not_exist() {
    let (states, actions) = (states(), actions());
    for (word, on, _) in TABLE {
        assert!(actions.iter().any(|(action, _)| action == word), "{word}");
        for state in *on {
            assert!(states.iter().any(|(known, _)| known == state), "{state}");
        }
    }
}

/// Case 30: paused while a step runs, which then retries or fails; neither state is lost.
#[test]
fn case_30_a_pause_outlives_what_the_holder_does_under_it() {
    let mut world = World::new();
    let lease = world.granted("a");
    assert_eq!(world.act(&Action::Pause), OperatorVerdict::Done);
    let mut failed = world.clone();
    let _ = world.release(&lease, "submitted", later(5));
    assert!(world.run.paused);
    let _ = failed.fail(&lease, "submitted");
    assert!(failed.run.paused);
    assert_eq!(failed.act(&Action::Retry(IdempotencyKey::Same)), OperatorVerdict::Done);
    assert!(failed.run.paused);
    assert_eq!(failed.act(&Action::Resume), OperatorVerdict::Done);
    assert_eq!(failed.granted("b").fence, fence(2));
}

/// Case 31.
#[test]
fn case_31_the_first_approval_sent_twice_leaves_the_second_phase_waiting() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", Due::Approval);
    assert_eq!(world.act(&approve("a", "ops#1")), OperatorVerdict::Done);
    let lease = world.granted("b");
    let _ = world.release(&lease, "a", Due::Approval);
    assert_eq!(world.act(&approve("a", "ops#1")), OperatorVerdict::AlreadySo);
    let again = approve("a", "ops#2");
    assert_eq!(world.act(&again), OperatorVerdict::Refused(Refusal::PhaseSaved));
    assert_eq!(world.run.next_phase(), Some(&name("b")));
    assert_eq!(world.receipts.len(), 1);
}

/// Case 11: an approval is a claim, and needs a number.
#[test]
fn case_11_an_approval_with_no_number_left_is_refused_and_the_run_still_waits() {
    let mut world = World::new();
    let lease = world.granted("a");
    let _ = world.release(&lease, "submitted", Due::Approval);
    let Hold::Ended { owner, how, .. } = world.run.hold.clone() else { panic!("the lease was ended") };
    world.run.hold = Hold::Ended { fence: FencingToken::LAST, owner, how };
    let decision = act(&world.run, &approve("a", "ops#1"), &who(), world.now);
    assert_eq!(decision.verdict, OperatorVerdict::Refused(Refusal::FenceExhausted));
    assert_eq!(decision.change, None);
}

#[test]
fn an_action_without_a_reason_is_kept_without_one() {
    let quiet = Who::new("ops", None).unwrap();
    let mut world = World::new();
    let lease = world.granted("a");
    let decision = act(&world.run, &Action::Revoke { fence: lease.fence }, &quiet, world.now);
    assert_eq!(
        writes(&world.run, &decision),
        [
            "hold = 1 a ended: revoked",
            "attempt 1 ends revoked: {\"by\":\"ops\"}",
            "log revoke by ops: -, at +0s"
        ]
    );
    let _ = world.release(&lease, "submitted", Due::Approval);
    let decision = act(&world.run, &Action::Reject { phase: name("a") }, &quiet, world.now);
    let error = decision.change.and_then(|change| change.run.error).map(|error| error.message);
    assert_eq!(error.as_deref(), Some("rejected by ops"));
}
