//! Ending a lease by its holder, and recording that a holder was turned away.
//!
//! Keeps BLOCKED-NOT-FAILED: a stale holder can neither release nor fail a run, and being turned
//! away is written on the attempt alone.

use super::{AttemptChange, Decision};
use crate::attempt::{Attempt, AttemptOutcome};
use crate::document::Document;
use crate::lease::LeaseId;
use crate::lost_reason::LostReason;
use crate::phase::Phase;
use crate::request::{Due, Fail, Release};
use crate::run::{Hold, LeaseEnd, Run, Standing, Status};
use crate::timestamp::Timestamp;
use crate::verdict::{BlockedVerdict, FailVerdict, ReleaseVerdict};

/// Ends a lease and leaves the run to the next claim: now, later, or once it is approved.
pub fn release(run: &Run, request: &Release, now: Timestamp) -> Decision<ReleaseVerdict> {
    let how = match &request.due {
        Due::Now => LeaseEnd::Yielded,
        Due::Later { .. } => LeaseEnd::Retrying,
        Due::Approval => LeaseEnd::Waiting,
    };
    if ended_so(run, &request.lease, how) {
        return Decision::unchanged(ReleaseVerdict::AlreadyReleased);
    }
    if let Some(why) = refusal(run, &request.lease, &request.from, now) {
        return Decision::unchanged(ReleaseVerdict::Refused(why));
    }
    let mut released = Run { hold: run.hold.clone().ended(how), ..run.clone() };
    let (outcome, reason) = match &request.due {
        Due::Now => (AttemptOutcome::Yielded, None),
        Due::Later { delay, failure } => {
            released.failures = run.failures.saturating_add(1);
            released.due_at = now.plus(*delay);
            (AttemptOutcome::Retrying, Some(failure.to_document()))
        }
        Due::Approval => {
            released.status = Status::Waiting;
            (AttemptOutcome::Waiting, None)
        }
    };
    let end = AttemptChange::End { fence: request.lease.fence, outcome, reason };
    Decision::changed(ReleaseVerdict::Released, released, vec![end])
}

/// Ends a lease and fails the run.
pub fn fail(run: &Run, request: &Fail, now: Timestamp) -> Decision<FailVerdict> {
    if ended_so(run, &request.lease, LeaseEnd::Failed) {
        return Decision::unchanged(FailVerdict::AlreadyFailed);
    }
    if let Some(why) = refusal(run, &request.lease, &request.from, now) {
        return Decision::unchanged(FailVerdict::Refused(why));
    }
    let failed = Run {
        status: Status::Failed,
        hold: run.hold.clone().ended(LeaseEnd::Failed),
        error: Some(request.failure.clone()),
        ..run.clone()
    };
    let end = AttemptChange::End {
        fence: request.lease.fence,
        outcome: AttemptOutcome::Failed,
        reason: Some(request.failure.to_document()),
    };
    Decision::changed(FailVerdict::Failed, failed, vec![end])
}

/// Records that the holder of `lease` was turned away. `attempt` is the one with that number.
///
/// An attempt that the next claim closed as superseded keeps the instant of that end.
pub fn mark_blocked(
    attempt: Option<&Attempt>,
    lease: &LeaseId,
    reason: &Document,
    now: Timestamp,
) -> (BlockedVerdict, Option<Attempt>) {
    let Some(attempt) = attempt.filter(|found| found.owner == lease.owner) else {
        return (BlockedVerdict::Gone, None);
    };
    let ended_at = match attempt.end {
        None => now,
        Some((AttemptOutcome::Superseded, at)) => at,
        Some((outcome, _)) => return (BlockedVerdict::AlreadyEnded(outcome), None),
    };
    let end = Some((AttemptOutcome::Blocked, ended_at));
    (BlockedVerdict::Recorded, Some(Attempt { end, reason: Some(reason.clone()), ..attempt.clone() }))
}

/// Whether this very lease has been ended in this way before.
fn ended_so(run: &Run, lease: &LeaseId, asked: LeaseEnd) -> bool {
    match &run.hold {
        Hold::Ended { fence, owner, how } => (*fence, owner, *how) == (lease.fence, &lease.owner, asked),
        Hold::Never | Hold::Held { .. } => false,
    }
}

fn refusal(run: &Run, lease: &LeaseId, from: &Phase, now: Timestamp) -> Option<LostReason> {
    match run.standing(lease, now) {
        Standing::Lost(why) => Some(why),
        Standing::Held if run.phase != *from => {
            Some(LostReason::PhaseConflict { expected: from.clone(), actual: run.phase.clone() })
        }
        Standing::Held => None,
    }
}
