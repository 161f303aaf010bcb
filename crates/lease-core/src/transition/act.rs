//! What operators do to a run: the table of [`crate::operator`] as a function.

use serde_json::{Map, Value, json};

use super::{AttemptChange, Change, Decision};
use crate::attempt::{Attempt, AttemptOutcome};
use crate::digest::{Digest, Hasher};
use crate::document::Document;
use crate::failure::{Failure, FailureKind};
use crate::fence::FencingToken;
use crate::operator::{Action, IdempotencyKey, OperatorVerdict, Refusal, Who};
use crate::owner::OwnerId;
use crate::phase::{Phase, PhaseName};
use crate::reader::OperatorAction;
use crate::receipt::Receipt;
use crate::run::{Hold, LeaseEnd, PhaseMark, Run, Status};
use crate::timestamp::Timestamp;

/// A run as an action leaves it, or why it does not fit.
type Acted = Result<Change, OperatorVerdict>;

/// Acts on a run.
pub fn act(run: &Run, action: &Action, who: &Who, now: Timestamp) -> Decision<OperatorVerdict> {
    let acted = match action {
        Action::Approve { phase, owner } => approve(run, phase, owner, who, now),
        Action::Reject { phase } => reject(run, phase, who),
        Action::Cancel => cancel(run, who),
        Action::Retry(key) => retry(run, *key, now),
        Action::Pause => pause(run),
        Action::Resume => resume(run),
        Action::Revoke { fence } => revoke(run, *fence, who),
    };
    match acted {
        Err(verdict) => Decision::unchanged(verdict),
        Ok(mut change) => {
            change.action = Some(OperatorAction {
                at: now,
                action: action.word().to_owned(),
                by: who.by().to_owned(),
                reason: who.reason().map(str::to_owned),
            });
            Decision { verdict: OperatorVerdict::Done, change: Some(Box::new(change)) }
        }
    }
}

fn approve(run: &Run, phase: &PhaseName, owner: &OwnerId, who: &Who, now: Timestamp) -> Acted {
    let saved_by_this = run.phase == Phase::Saved(phase.clone())
        && run.mark.as_ref().is_some_and(|mark| mark.owner == *owner);
    if saved_by_this {
        return Err(OperatorVerdict::AlreadySo);
    }
    waits_for(run, phase)?;
    let fence =
        FencingToken::after(run.hold.fence()).ok_or(OperatorVerdict::Refused(Refusal::FenceExhausted))?;
    let (words, digest) = approval(phase, who);
    let completes = run.plan.phases.is_last(phase);
    let approved = Run {
        phase: Phase::Saved(phase.clone()),
        mark: Some(PhaseMark { fence, owner: owner.clone(), digest }),
        losses: 0,
        failures: 0,
        status: if completes { Status::Completed } else { Status::Open },
        paused: run.paused && !completes,
        hold: Hold::Ended { fence, owner: owner.clone(), how: LeaseEnd::Completed },
        due_at: now,
        ..run.clone()
    };
    let mut attempts: Vec<_> = run.hold.fence().map(AttemptChange::SupersedeUpTo).into_iter().collect();
    let attempt = Attempt::open(fence, owner.clone(), now, run.phase.clone());
    attempts.push(AttemptChange::Open(attempt));
    attempts.push(AttemptChange::End {
        fence,
        outcome: AttemptOutcome::Completed,
        reason: Some(words.clone()),
    });
    let receipt = Receipt { phase: phase.clone(), fence, body: words, saved_at: now };
    Ok(Change { run: approved, receipt: Some(receipt), attempts, action: None })
}

fn reject(run: &Run, phase: &PhaseName, who: &Who) -> Acted {
    waits_for(run, phase)?;
    let failure = rejection(phase, who, run.failures.saturating_add(1));
    Ok(plain(Run { status: Status::Failed, error: Some(failure), ..run.clone() }))
}

fn cancel(run: &Run, who: &Who) -> Acted {
    match run.status {
        Status::Open | Status::Waiting => {}
        Status::Cancelled => return Err(OperatorVerdict::AlreadySo),
        Status::Completed | Status::Failed => return Err(status_refused(run)),
    }
    let cancelled = Run {
        status: Status::Cancelled,
        paused: false,
        hold: run.hold.clone().ended(LeaseEnd::Cancelled),
        ..run.clone()
    };
    Ok(with_end(run, cancelled, AttemptOutcome::Cancelled, who))
}

fn retry(run: &Run, key: IdempotencyKey, now: Timestamp) -> Acted {
    if run.status != Status::Failed {
        return Err(status_refused(run));
    }
    let key_epoch = match key {
        IdempotencyKey::Same => run.key_epoch,
        IdempotencyKey::New => run.key_epoch.saturating_add(1),
    };
    let opened = Run {
        status: Status::Open,
        losses: 0,
        failures: 0,
        due_at: now,
        key_epoch,
        error: None,
        ..run.clone()
    };
    Ok(plain(opened))
}

fn pause(run: &Run) -> Acted {
    match run.status {
        Status::Open | Status::Waiting if run.paused => Err(OperatorVerdict::AlreadySo),
        Status::Open | Status::Waiting => Ok(plain(Run { paused: true, ..run.clone() })),
        Status::Completed | Status::Failed | Status::Cancelled => Err(status_refused(run)),
    }
}

fn resume(run: &Run) -> Acted {
    match run.status {
        Status::Open | Status::Waiting | Status::Failed if run.paused => {
            Ok(plain(Run { paused: false, ..run.clone() }))
        }
        Status::Open | Status::Waiting | Status::Failed => Err(OperatorVerdict::AlreadySo),
        Status::Completed | Status::Cancelled => Err(status_refused(run)),
    }
}

fn revoke(run: &Run, seen: FencingToken, who: &Who) -> Acted {
    match &run.hold {
        Hold::Held { fence, .. } if *fence == seen => {}
        Hold::Held { fence, owner, .. } => {
            let other = Refusal::OtherFence { fence: *fence, owner: owner.clone() };
            return Err(OperatorVerdict::Refused(other));
        }
        Hold::Ended { fence, how: LeaseEnd::Revoked, .. } if *fence == seen => {
            return Err(OperatorVerdict::AlreadySo);
        }
        Hold::Ended { .. } | Hold::Never => match run.status.ending() {
            Some(_) => return Err(status_refused(run)),
            None => return Err(OperatorVerdict::Refused(Refusal::NotHeld)),
        },
    }
    let freed = Run { hold: run.hold.clone().ended(LeaseEnd::Revoked), ..run.clone() };
    Ok(with_end(run, freed, AttemptOutcome::Revoked, who))
}

/// Checks that the run waits for an approval of exactly this phase.
fn waits_for(run: &Run, phase: &PhaseName) -> Result<(), OperatorVerdict> {
    let waited_for = run.next_phase().filter(|_| run.status == Status::Waiting);
    if waited_for == Some(phase) {
        return Ok(());
    }
    let list = &run.plan.phases;
    let saved = list.saved_count(&run.phase).unwrap_or(0);
    if list.as_slice().iter().take(saved).any(|name| name == phase) {
        return Err(OperatorVerdict::Refused(Refusal::PhaseSaved));
    }
    match waited_for {
        Some(other) => Err(OperatorVerdict::Refused(Refusal::WaitsFor(other.clone()))),
        None => Err(status_refused(run)),
    }
}

fn status_refused(run: &Run) -> OperatorVerdict {
    OperatorVerdict::Refused(Refusal::Status(run.status))
}

/// The receipt of an approval, and the digest that marks its save.
#[must_use]
pub fn approval(phase: &PhaseName, who: &Who) -> (Document, Digest) {
    let words = in_words("approved_by", who);
    let digest =
        Hasher::new("approval").field(phase.as_str().as_bytes()).field(words.to_json().as_bytes()).finish();
    (words, digest)
}

/// The error of a run that was rejected at `phase`, the rejection counted as a try of it.
#[must_use]
pub fn rejection(phase: &PhaseName, who: &Who, attempts: u32) -> Failure {
    let message = match who.reason() {
        Some(reason) => format!("rejected by {}: {reason}", who.by()),
        None => format!("rejected by {}", who.by()),
    };
    Failure::new(phase.clone(), FailureKind::REJECTED, &message, attempts)
}

/// The reason of an attempt that an operator ended.
#[must_use]
pub fn ended_by(who: &Who) -> Document {
    in_words("by", who)
}

/// An operator's words as the reason of an attempt, and as the receipt of an approval.
fn in_words(by: &str, who: &Who) -> Document {
    let mut fields = Map::new();
    fields.insert(by.to_owned(), json!(who.by()));
    if let Some(reason) = who.reason() {
        fields.insert("reason".to_owned(), Value::from(reason));
    }
    Document::new(fields).expect("a name and a reason are short, flat and without NUL")
}

fn plain(run: Run) -> Change {
    Change { run, receipt: None, attempts: Vec::new(), action: None }
}

/// A change that also ends the lease that was held, if one was.
fn with_end(before: &Run, after: Run, outcome: AttemptOutcome, who: &Who) -> Change {
    let end = match &before.hold {
        Hold::Held { fence, .. } => {
            Some(AttemptChange::End { fence: *fence, outcome, reason: Some(ended_by(who)) })
        }
        Hold::Never | Hold::Ended { .. } => None,
    };
    Change { attempts: end.into_iter().collect(), ..plain(after) }
}
