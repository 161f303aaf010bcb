//! Claiming a run. Keeps FENCE-UP, ONE-HOLDER, RESUME and the limit on losses.

use super::{AttemptChange, Decision};
use crate::attempt::Attempt;
use crate::digest::Digest;
use crate::failure::{Failure, FailureKind};
use crate::fence::FencingToken;
use crate::ids::Priority;
use crate::lease::LeaseId;
use crate::request::Claim;
use crate::run::{Hold, LeaseEnd, Run, Status};
use crate::timestamp::Timestamp;
use crate::verdict::{ClaimVerdict, Grant, Job};

/// The place of a claimable run in the queue: sorts with the first to be claimed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    priority: std::cmp::Reverse<Priority>,
    due_at: Timestamp,
    id: crate::ids::RunId,
}

/// Whether `claim_next` may take this run now, and where it stands in the queue.
#[must_use]
pub fn claimable(run: &Run, plans: &[Digest], now: Timestamp) -> Option<Candidate> {
    let free = match &run.hold {
        Hold::Held { expires_at, .. } => *expires_at <= now,
        Hold::Never | Hold::Ended { .. } => true,
    };
    let fits = run.status == Status::Open && !run.paused && plans.contains(&run.plan.id.digest);
    (fits && free && run.due_at <= now).then_some(Candidate {
        priority: std::cmp::Reverse(run.priority),
        due_at: run.due_at,
        id: run.id,
    })
}

/// Claims a run, or says why not. A run that has lost one lease too many, or has no number left, is
/// set aside as failed instead.
pub fn claim(run: &Run, request: &Claim, now: Timestamp) -> Decision<ClaimVerdict> {
    if let Some(refusal) = refusal(run, request, now) {
        return Decision::unchanged(refusal);
    }
    let lapsed = matches!(run.hold, Hold::Held { .. });
    let losses = run.losses + u32::from(lapsed);
    if losses > request.loss_limit.get() {
        let message = format!("its lease ran out {losses} times in a row at this phase");
        return set_aside(run, FailureKind::SET_ASIDE, &message, losses);
    }
    let Some(fence) = FencingToken::after(run.hold.fence()) else {
        let message = "its fencing token stands at the top of its range, so it cannot be claimed again";
        return set_aside(run, FailureKind::FENCE_EXHAUSTED, message, losses);
    };
    let claimed = Run {
        hold: Hold::Held {
            fence,
            owner: request.owner.clone(),
            expires_at: now.plus(request.ttl.as_duration()),
        },
        losses,
        ..run.clone()
    };
    let grant = Grant {
        lease: LeaseId { run: run.id, owner: request.owner.clone(), fence },
        job: Job {
            key: run.key.clone(),
            plan: run.plan.clone(),
            phase: run.phase.clone(),
            losses,
            failures: run.failures,
            key_epoch: run.key_epoch,
            input: run.input.clone(),
        },
    };
    let mut attempts: Vec<_> = run.hold.fence().map(AttemptChange::SupersedeUpTo).into_iter().collect();
    attempts.push(AttemptChange::Open(Attempt::open(fence, request.owner.clone(), now, run.phase.clone())));
    Decision::changed(ClaimVerdict::Granted(Box::new(grant)), claimed, attempts)
}

fn refusal(run: &Run, request: &Claim, now: Timestamp) -> Option<ClaimVerdict> {
    if let Some(ending) = run.status.ending() {
        return Some(ClaimVerdict::Finished(ending));
    }
    if !request.plans.contains(&run.plan.id.digest) {
        return Some(ClaimVerdict::UnknownPlan(run.plan.id.clone()));
    }
    if let Hold::Held { owner, fence, expires_at } = &run.hold
        && now < *expires_at
    {
        let remaining = expires_at.since(now);
        return Some(ClaimVerdict::Busy { owner: owner.clone(), fence: *fence, remaining });
    }
    if let (Status::Waiting, Some(phase)) = (run.status, run.next_phase()) {
        return Some(ClaimVerdict::Waiting { phase: phase.clone() });
    }
    if run.paused {
        return Some(ClaimVerdict::Paused);
    }
    (now < run.due_at).then(|| ClaimVerdict::NotDue { due_in: run.due_at.since(now) })
}

fn set_aside(run: &Run, kind: &str, message: &str, losses: u32) -> Decision<ClaimVerdict> {
    let Some(phase) = run.next_phase() else {
        return Decision::unchanged(ClaimVerdict::Finished(crate::loss::Ending::Completed));
    };
    let failure = Failure::new(phase.clone(), kind, message, losses.saturating_add(run.failures));
    let failed = Run {
        status: Status::Failed,
        hold: run.hold.clone().ended(LeaseEnd::Lapsed),
        losses,
        error: Some(failure.clone()),
        ..run.clone()
    };
    let attempts = run.hold.fence().map(AttemptChange::SupersedeUpTo).into_iter().collect();
    Decision::changed(ClaimVerdict::SetAside(failure), failed, attempts)
}
