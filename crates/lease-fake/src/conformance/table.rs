//! The table of operator actions, cell by cell: every action in every state, paused and not.
//!
//! The expectations are the table's words, written down here once more and not computed by the
//! rules. Clauses for TRUTH and FENCE-UP.

use lease_core::{Action, Due, Hold, IdempotencyKey, OperatorVerdict, Phase, Refusal, RunId, Status};

use super::harness::Harness;
use super::scene::{Scene, judged};
use super::words::*;

/// The columns of the table. Every run stands at `a`, claimed once, but for the completed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Held,
    Lapsed,
    Waiting,
    Completed,
    Failed,
    Cancelled,
}

/// Each column, with whether a run in it can be paused.
const STATES: [(State, &[bool]); 7] = [
    (State::Free, &[false, true]),
    (State::Held, &[false, true]),
    (State::Lapsed, &[false, true]),
    (State::Waiting, &[false, true]),
    (State::Completed, &[false]),
    (State::Failed, &[false, true]),
    (State::Cancelled, &[false]),
];

fn actions() -> Vec<Action> {
    let approve = |phase| Action::Approve { phase: name(phase), owner: owner("o#1") };
    let reject = |phase| Action::Reject { phase: name(phase) };
    vec![
        approve("a"),
        approve("b"),
        approve("c"),
        reject("a"),
        reject("b"),
        reject("c"),
        Action::Cancel,
        Action::Retry(IdempotencyKey::Same),
        Action::Pause,
        Action::Resume,
        Action::Revoke { fence: fence(1) },
        Action::Revoke { fence: fence(9) },
    ]
}

async fn bring_to(scene: &Scene<'_>, run: RunId, state: State, paused: bool) {
    let lease = scene.granted(run, "w#1").await;
    scene.saved(&lease, "submitted", "a").await;
    if paused {
        scene.done(run, &Action::Pause).await;
    }
    match state {
        State::Free => scene.released(&lease, "a", Due::Now).await,
        State::Held => {}
        State::Lapsed => scene.lapse().await,
        State::Waiting => scene.released(&lease, "a", Due::Approval).await,
        State::Completed => {
            scene.saved(&lease, "a", "b").await;
            scene.saved(&lease, "b", "c").await;
        }
        State::Failed => {
            let _ = scene.fail(&lease, "a").await;
        }
        State::Cancelled => scene.done(run, &Action::Cancel).await,
    }
}

fn status(state: State) -> Status {
    match state {
        State::Free | State::Held | State::Lapsed => Status::Open,
        State::Waiting => Status::Waiting,
        State::Completed => Status::Completed,
        State::Failed => Status::Failed,
        State::Cancelled => Status::Cancelled,
    }
}

/// What the table says of one cell.
fn expected(state: State, paused: bool, action: &Action) -> OperatorVerdict {
    let refused = OperatorVerdict::Refused;
    let by_status = || refused(Refusal::Status(status(state)));
    match action {
        Action::Approve { phase, .. } | Action::Reject { phase } => {
            let saved = phase.as_str() == "a" || state == State::Completed;
            match (saved, state, phase.as_str()) {
                (true, ..) => refused(Refusal::PhaseSaved),
                (false, State::Waiting, "b") => OperatorVerdict::Done,
                (false, State::Waiting, _) => refused(Refusal::WaitsFor(name("b"))),
                (false, ..) => by_status(),
            }
        }
        Action::Cancel => match state {
            State::Free | State::Held | State::Lapsed | State::Waiting => OperatorVerdict::Done,
            State::Cancelled => OperatorVerdict::AlreadySo,
            State::Completed | State::Failed => by_status(),
        },
        Action::Retry(_) => {
            if state == State::Failed {
                OperatorVerdict::Done
            } else {
                by_status()
            }
        }
        Action::Pause => match state {
            State::Completed | State::Failed | State::Cancelled => by_status(),
            State::Free | State::Held | State::Lapsed | State::Waiting if paused => {
                OperatorVerdict::AlreadySo
            }
            State::Free | State::Held | State::Lapsed | State::Waiting => OperatorVerdict::Done,
        },
        Action::Resume => match state {
            State::Completed | State::Cancelled => by_status(),
            State::Free | State::Held | State::Lapsed | State::Waiting | State::Failed => {
                if paused {
                    OperatorVerdict::Done
                } else {
                    OperatorVerdict::AlreadySo
                }
            }
        },
        Action::Revoke { fence: seen } => match state {
            State::Held | State::Lapsed if *seen == fence(1) => OperatorVerdict::Done,
            State::Held | State::Lapsed => {
                refused(Refusal::OtherFence { fence: fence(1), owner: owner("w#1") })
            }
            State::Free | State::Waiting => refused(Refusal::NotHeld),
            State::Completed | State::Failed | State::Cancelled => by_status(),
        },
    }
}

/// What an action that was done leaves: status, whether paused, phase, number, whether held.
fn left(state: State, paused: bool, action: &Action) -> (Status, bool, Phase, u64, bool) {
    let held = matches!(state, State::Held | State::Lapsed);
    let at = |word| phase(word);
    match action {
        Action::Approve { .. } => (Status::Open, paused, at("b"), 2, false),
        Action::Reject { .. } => (Status::Failed, paused, at("a"), 1, false),
        Action::Cancel => (Status::Cancelled, false, at("a"), 1, false),
        Action::Retry(_) => (Status::Open, paused, at("a"), 1, false),
        Action::Pause => (status(state), true, at("a"), 1, held),
        Action::Resume => (status(state), false, at("a"), 1, held),
        Action::Revoke { .. } => (status(state), paused, at("a"), 1, false),
    }
}

/// TRUTH, FENCE-UP: every cell of the table. What is refused, or was so before, changes nothing, and
/// what is done is written down with who did it and why.
pub async fn truth_every_action_in_every_state_is_answered_as_the_table_says(harness: &dyn Harness) {
    let scene = Scene::new(harness).await;
    let mut number = 0;
    for (state, pauses) in STATES {
        for (paused, action) in pauses.iter().flat_map(|paused| actions().into_iter().map(|it| (*paused, it)))
        {
            number += 1;
            let run = scene.run(number, &format!("run {number}")).await;
            bring_to(&scene, run, state, paused).await;
            let before = scene.everything(run).await;
            assert_eq!((before.run.status, before.run.paused), (status(state), paused));
            let cell = format!("{action:?} in {state:?}, paused: {paused}");
            let verdict = scene.act(run, &action).await;
            assert_eq!(verdict, expected(state, paused, &action), "{cell}");
            let after = scene.everything(run).await;
            if verdict != OperatorVerdict::Done {
                assert_eq!(after, before, "{cell}");
                continue;
            }
            let held = matches!(after.run.hold, Hold::Held { .. });
            let fence = after.run.hold.fence().map_or(0, lease_core::FencingToken::get);
            let stands = (after.run.status, after.run.paused, after.run.phase.clone(), fence, held);
            assert_eq!(stands, left(state, paused, &action), "{cell}");
            let logged = after.actions.last().expect("the action is logged");
            assert_eq!(after.actions.len(), before.actions.len() + 1, "{cell}");
            assert_eq!((logged.action.as_str(), logged.by.as_str()), (action.word(), "olga"), "{cell}");
            assert_eq!(logged.reason.as_deref(), Some("because"), "{cell}");
            assert_eq!(logged.at, scene.view(run).await.now, "{cell}");
        }
    }
    let nowhere = judged(scene.store.act(id(9_999), &Action::Cancel, &who()).await);
    assert_eq!(nowhere, OperatorVerdict::Gone);
}
