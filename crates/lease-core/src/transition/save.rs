//! Saving a phase. Keeps NO-LATE-SAVE, IN-ORDER, ONE-RECEIPT and ALL-OR-NOTHING.

use super::renew::extended;
use super::{AttemptChange, Change, Decision};
use crate::attempt::AttemptOutcome;
use crate::lost_reason::LostReason;
use crate::phase::Phase;
use crate::receipt::Receipt;
use crate::request::Save;
use crate::run::{Hold, LeaseEnd, PhaseMark, Run, Standing, Status};
use crate::timestamp::Timestamp;
use crate::verdict::{AfterSave, SaveVerdict};

/// Saves a phase, if the lease is this holder's and live and the run stands where the save says.
///
/// The digest decides before anything else: a save that has landed stays landed, whatever became
/// of the lease since.
pub fn save(run: &Run, request: &Save, now: Timestamp) -> Decision<SaveVerdict> {
    let lease = request.lease();
    let standing = run.standing(lease, now);
    if let Some(mark) = landed(run, request) {
        let verdict = if mark.digest == request.digest() {
            SaveVerdict::AlreadySaved(after(run, standing))
        } else {
            SaveVerdict::Refused(LostReason::ReceiptConflict)
        };
        return Decision::unchanged(verdict);
    }
    if let Standing::Lost(why) = standing {
        return Decision::unchanged(SaveVerdict::Refused(why));
    }
    if run.phase != *request.from() || run.next_phase() != Some(request.to()) {
        let conflict =
            LostReason::PhaseConflict { expected: request.from().clone(), actual: run.phase.clone() };
        return Decision::unchanged(SaveVerdict::Refused(conflict));
    }
    let completes = run.plan.phases.is_last(request.to());
    let held = extended(lease, request.ttl(), now);
    let saved = Run {
        phase: Phase::Saved(request.to().clone()),
        mark: Some(PhaseMark { fence: lease.fence, owner: lease.owner.clone(), digest: request.digest() }),
        losses: 0,
        failures: 0,
        status: if completes { Status::Completed } else { run.status },
        paused: run.paused && !completes,
        hold: if completes { held.ended(LeaseEnd::Completed) } else { held },
        ..run.clone()
    };
    let receipt = Receipt {
        phase: request.to().clone(),
        fence: lease.fence,
        body: request.receipt().clone(),
        saved_at: now,
    };
    let end = AttemptChange::End { fence: lease.fence, outcome: AttemptOutcome::Completed, reason: None };
    let attempts = if completes { vec![end] } else { Vec::new() };
    let then = if completes { AfterSave::Completed } else { AfterSave::Held { yield_asked: run.paused } };
    Decision {
        verdict: SaveVerdict::Saved(then),
        change: Some(Box::new(Change { run: saved, receipt: Some(receipt), attempts, action: None })),
    }
}

/// The mark of the run's last save, if it was made by this claim for this phase.
fn landed<'a>(run: &'a Run, request: &Save) -> Option<&'a PhaseMark> {
    let mark = run.mark.as_ref()?;
    let same_claim = (mark.fence, &mark.owner) == (request.lease().fence, &request.lease().owner);
    let same_phase = run.phase.as_str() == request.to().as_str();
    (same_claim && same_phase).then_some(mark)
}

/// Where the lease stands beside a save that landed before. A completion by this very lease is no
/// loss.
fn after(run: &Run, standing: Standing) -> AfterSave {
    let own_completion = matches!(run.hold, Hold::Ended { how: LeaseEnd::Completed, .. });
    match standing {
        Standing::Held => AfterSave::Held { yield_asked: run.paused },
        Standing::Lost(LostReason::Finished(crate::loss::Ending::Completed)) if own_completion => {
            AfterSave::Completed
        }
        Standing::Lost(why) => AfterSave::Lost(why),
    }
}
