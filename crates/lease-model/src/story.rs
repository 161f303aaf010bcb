//! A path as a story, a line for each step.

use std::fmt::Write as _;

use stateright::Path;

use crate::message::{After, Answer, Ending, Holder, Message, Request, Why};
use crate::model::{Action, Doing, State};

/// What happened, step by step, with the tick of the clock before each.
#[must_use]
pub fn story(path: Path<State, Action>) -> String {
    let mut text = String::new();
    let steps = path.into_vec();
    for pair in steps.windows(2) {
        let [(before, Some(action)), (after, _)] = pair else { continue };
        if *action == Action::Tick {
            continue;
        }
        let _always_fits = writeln!(text, "  {}  {}", before.now, told(action, before, after));
    }
    text
}

fn told(action: &Action, before: &State, after: &State) -> String {
    match action {
        Action::Tick => "the clock goes on".to_owned(),
        Action::Send(worker, request) => format!("worker {worker} sends: {}", asked(request)),
        Action::GiveUpWaiting(worker) => format!("worker {worker} gives up waiting for the answer"),
        Action::Stop(worker) => format!("worker {worker} stops at its deadline"),
        Action::Crash(worker) => format!("worker {worker} dies"),
        Action::Deliver(message) => match message.answer {
            Some(answer) => format!("worker {} hears: {}", message.worker, answered(answer)),
            None => format!(
                "the store judges of worker {}: {}{}",
                message.worker,
                asked(&message.request),
                heard(message, after)
            ),
        },
        Action::DeliverTwice(message) => {
            let row = if before.tables == after.tables { "; nothing changes" } else { "" };
            format!("a copy of worker {}'s request arrives: {}{row}", message.worker, asked(&message.request))
        }
        Action::Lose(message) => {
            format!("worker {}'s request is lost: {}", message.worker, asked(&message.request))
        }
        Action::Cancel => "an operator cancels the run".to_owned(),
        Action::Revoke => "an operator takes the lease away".to_owned(),
        Action::Restore => "the store is set back to how it began".to_owned(),
    }
}

/// What can be seen of the answer: on its way, or in what its worker does next.
fn heard(message: &Message, after: &State) -> String {
    let same = |there: &&Message| {
        there.answer.is_some() && (there.worker, there.sent_at) == (message.worker, message.sent_at)
    };
    if let Some(Message { answer: Some(answer), .. }) = after.network.iter().find(same) {
        return format!(": {}", answered(*answer));
    }
    match after.workers[usize::from(message.worker)].doing {
        Doing::Idle => ", and it is idle after that".to_owned(),
        Doing::Holding(held) => {
            format!(", and it holds {} until {} by its own clock", lease(held.holder), held.deadline)
        }
        Doing::Saving(_) => ", and it saves on".to_owned(),
        Doing::Ending(..) => ", and it goes on ending its lease".to_owned(),
        Doing::Lost(holder) => format!(", and it knows that {} is lost", lease(holder)),
    }
}

fn asked(request: &Request) -> String {
    match request {
        Request::Claim(owner) => format!("claim as owner {owner}"),
        Request::Renew(holder) => format!("renew {}", lease(*holder)),
        Request::Save(holder, from) => format!("save phase {} with {}", from + 1, lease(*holder)),
        Request::End(holder, _, Ending::Yield) => format!("release {}", lease(*holder)),
        Request::End(holder, _, Ending::Retry) => format!("release {} for a tick", lease(*holder)),
        Request::End(holder, _, Ending::Fail) => format!("fail the run with {}", lease(*holder)),
        Request::MarkBlocked(holder) => format!("note that {} was turned away", lease(*holder)),
    }
}

fn answered(answer: Answer) -> String {
    match answer {
        Answer::Granted(fence, phase) => format!("granted, number {fence}, {phase} phases saved"),
        Answer::Busy => "busy".to_owned(),
        Answer::NotDue => "not due yet".to_owned(),
        Answer::Finished => "the run has ended".to_owned(),
        Answer::SetAside => "set aside, with too many leases lost".to_owned(),
        Answer::Renewed => "renewed".to_owned(),
        Answer::Saved(after) => format!("saved{}", beside(after)),
        Answer::AlreadySaved(after) => format!("saved before{}", beside(after)),
        Answer::Ended => "ended".to_owned(),
        Answer::AlreadyEnded => "ended before".to_owned(),
        Answer::Recorded => "noted".to_owned(),
        Answer::HadEnded => "it had ended otherwise".to_owned(),
        Answer::Refused(why) => format!("refused, {}", reason(why)),
        Answer::Undone => "undone by a constraint".to_owned(),
    }
}

fn beside(after: After) -> String {
    match after {
        After::Held => String::new(),
        After::Completed => ", the run is completed".to_owned(),
        After::Lost(why) => format!(", but the lease is lost: {}", reason(why)),
    }
}

fn reason(why: Why) -> String {
    match why {
        Why::Superseded(fence) => format!("superseded by number {fence}"),
        Why::Finished => "the run has ended".to_owned(),
        Why::Revoked => "taken away".to_owned(),
        Why::Released => "released".to_owned(),
        Why::Expired => "run out".to_owned(),
        Why::Forgotten => "the store has forgotten it".to_owned(),
        Why::PhaseConflict => "the run stands at another phase".to_owned(),
        Why::ReceiptConflict => "saved with another receipt".to_owned(),
    }
}

fn lease(holder: Holder) -> String {
    format!("number {} of owner {}", holder.fence, holder.owner)
}
