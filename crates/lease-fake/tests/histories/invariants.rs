//! The invariants, each a function of its own, by the names that the protocol gives them.
//!
//! Those about answers take the ledger as it stood before the answer; those about tables take it as
//! it stands after. None of them asks the rules.

use lease_core::{
    AfterSave, AttemptOutcome, BlockedVerdict, ClaimVerdict, Fail, FailVerdict, FencingToken, Hold, Job,
    LeaseId, Loss, LostReason, OwnerId, PhaseName, Refused, Release, ReleaseVerdict, RenewVerdict, Save,
    SaveVerdict, Status, Timestamp,
};
use lease_fake::Stored;

use crate::ledger::{Lease, Ledger, PHASES};

/// FENCE-UP: a claim gets the number after the last one.
pub(crate) fn fence_up(ledger: &Ledger, given: FencingToken) {
    assert_eq!(given.get(), ledger.fence() + 1, "FENCE-UP: {ledger:?}");
}

/// FENCE-UP: nothing but claims and approvals moves the number.
pub(crate) fn fence_up_in_the_table(ledger: &Ledger, stored: &Stored) {
    let number = stored.run.hold.fence().map_or(0, FencingToken::get);
    assert_eq!(number, ledger.fence(), "FENCE-UP: {:?}", stored.run);
}

/// ONE-HOLDER: nobody gets a run while somebody may save it.
pub(crate) fn one_holder(ledger: &Ledger, at: Timestamp) {
    assert!(!ledger.live(at), "ONE-HOLDER: granted over a live lease: {ledger:?}");
}

/// ONE-HOLDER: the table names the one who may save, and nobody else.
pub(crate) fn one_holder_in_the_table(ledger: &Ledger, stored: &Stored) {
    let expected = match (&ledger.lease, ledger.owner()) {
        (Lease::Never, _) | (_, None) => Hold::Never,
        (Lease::Until(expires_at), Some(owner)) => {
            Hold::Held { fence: token(ledger), owner: owner.clone(), expires_at: *expires_at }
        }
        (Lease::Ended(how), Some(owner)) => {
            Hold::Ended { fence: token(ledger), owner: owner.clone(), how: *how }
        }
    };
    assert_eq!(stored.run.hold, expected, "ONE-HOLDER");
}

fn token(ledger: &Ledger) -> FencingToken {
    FencingToken::new(ledger.fence()).expect("a claim's number")
}

/// NO-LATE-SAVE: what takes effect does so under the current number and before the expiry.
pub(crate) fn no_late_save(ledger: &Ledger, lease: &LeaseId, at: Timestamp) {
    assert!(ledger.holds(lease, at), "NO-LATE-SAVE: {lease:?} at {at}: {ledger:?}");
}

/// NO-LAZARUS: a lease that was refused as lapsed, or has run out, is not renewed.
pub(crate) fn no_lazarus(ledger: &Ledger, lease: &LeaseId, at: Timestamp) {
    assert!(ledger.holds(lease, at), "NO-LAZARUS: {lease:?} at {at}: {ledger:?}");
    assert!(!ledger.lapsed.contains(&lease.fence.get()), "NO-LAZARUS: {lease:?} was refused: {ledger:?}");
}

/// IN-ORDER: a save starts from the last phase and saves the next one of the list.
pub(crate) fn in_order(ledger: &Ledger, save: &Save) {
    let step = (save.from().as_str(), save.to().as_str());
    let expected = (PHASES[ledger.saved.len()], PHASES[ledger.saved.len() + 1]);
    assert_eq!(step, expected, "IN-ORDER: {ledger:?}");
}

/// ONE-RECEIPT: one receipt for each saved phase, in the list's order, with the number that saved
/// it; numbers do not fall.
pub(crate) fn one_receipt(ledger: &Ledger, stored: &Stored) {
    let receipts: Vec<(&str, u64)> =
        stored.receipts.iter().map(|receipt| (receipt.phase.as_str(), receipt.fence.get())).collect();
    let expected: Vec<(&str, u64)> =
        PHASES[1..].iter().zip(&ledger.saved).map(|(phase, saved)| (*phase, saved.fence)).collect();
    assert_eq!(receipts, expected, "ONE-RECEIPT");
    assert!(receipts.is_sorted_by_key(|(_, fence)| *fence), "ONE-RECEIPT: {receipts:?}");
}

/// ALL-OR-NOTHING: phase, receipts, effects and completion are those of the saves that landed.
pub(crate) fn all_or_nothing(ledger: &Ledger, stored: &Stored) {
    assert_eq!(stored.run.phase, ledger.phase(), "ALL-OR-NOTHING: the phase");
    let complete = ledger.saved.len() == PHASES.len() - 1;
    assert_eq!(stored.run.status == Status::Completed, complete, "ALL-OR-NOTHING: the completion");
    let effects: Vec<u64> = stored.effects.iter().map(|effect| effect.fence.get()).collect();
    let expected: Vec<u64> =
        ledger.saved.iter().flat_map(|saved| std::iter::repeat_n(saved.fence, saved.effects)).collect();
    assert_eq!(effects, expected, "ALL-OR-NOTHING: the effects");
    let digest = stored.run.mark.as_ref().map(|mark| (mark.fence.get(), &mark.owner));
    assert_eq!(digest, ledger.saved.last().map(|saved| (saved.fence, &saved.owner)), "ALL-OR-NOTHING");
}

/// RESUME: a claim goes on after the last saved phase.
pub(crate) fn resume(ledger: &Ledger, job: &Job) {
    assert_eq!(job.phase, ledger.phase(), "RESUME: {ledger:?}");
    assert_eq!(job.next_phase().cloned(), ledger.next_phase(), "RESUME: {ledger:?}");
}

/// TRUTH: a claim is told what stands on the run.
pub(crate) fn truth_of_a_claim(ledger: &Ledger, verdict: &ClaimVerdict, limit: u32, at: Timestamp) {
    let lapsed = matches!(ledger.lease, Lease::Until(_)) && !ledger.live(at);
    let losses = ledger.losses + u32::from(lapsed);
    let free = ledger.status == Status::Open && !ledger.paused && !ledger.live(at) && ledger.due_at <= at;
    let told = match verdict {
        ClaimVerdict::Granted(grant) => {
            let counts = (grant.job.losses, grant.job.failures);
            free && losses <= limit && counts == (losses, ledger.failures)
        }
        ClaimVerdict::SetAside(_) => free && limit < losses,
        ClaimVerdict::Busy { owner, fence, remaining } => {
            ledger.remaining(at) == Some(*remaining)
                && (fence.get(), Some(owner)) == (ledger.fence(), ledger.owner())
        }
        ClaimVerdict::Waiting { phase } => {
            ledger.status == Status::Waiting && Some(phase) == ledger.next_phase().as_ref()
        }
        ClaimVerdict::Paused => ledger.status == Status::Open && ledger.paused && !ledger.live(at),
        ClaimVerdict::NotDue { due_in } => {
            ledger.status == Status::Open && at < ledger.due_at && ledger.due_at.since(at) == *due_in
        }
        ClaimVerdict::Finished(ending) => ledger.ending() == Some(*ending),
        ClaimVerdict::UnknownPlan(_) | ClaimVerdict::Lapsed { .. } | ClaimVerdict::Gone => false,
    };
    assert!(told, "TRUTH: {verdict:?} at {at}: {ledger:?}");
}

/// TRUTH: a renewal says whether the run is paused, and is refused with the actual reason.
pub(crate) fn truth_of_a_renewal(ledger: &Ledger, lease: &LeaseId, verdict: &RenewVerdict, at: Timestamp) {
    match verdict {
        RenewVerdict::Renewed { yield_asked } => assert_eq!(*yield_asked, ledger.paused, "TRUTH"),
        RenewVerdict::Refused(why) => truth_of_a_refusal(ledger, lease, why, at),
        RenewVerdict::NotJudged => {}
    }
}

/// TRUTH: whoever is turned away is told the actual reason.
pub(crate) fn truth_of_a_refusal(ledger: &Ledger, lease: &LeaseId, why: &LostReason, at: Timestamp) {
    let actual = ledger.reason(lease, at);
    assert_eq!(Some(why), actual.as_ref(), "TRUTH: {lease:?} at {at}: {ledger:?}");
}

/// TRUTH: the answer to a save is what happened to it.
pub(crate) fn truth_of_a_save(ledger: &Ledger, save: &Save, verdict: &SaveVerdict, at: Timestamp) {
    let lease = save.lease();
    let landed = ledger.landed(save);
    let same = landed.map(|last| last.digest == Some(save.digest()));
    match verdict {
        SaveVerdict::Saved(after) => {
            assert_eq!(same, None, "TRUTH: saved twice");
            let completes = ledger.saved.len() + 2 == PHASES.len();
            let held = AfterSave::Held { yield_asked: ledger.paused };
            assert_eq!(*after, if completes { AfterSave::Completed } else { held }, "TRUTH");
        }
        SaveVerdict::AlreadySaved(after) => {
            assert_eq!(same, Some(true), "TRUTH: {save:?} had not landed: {ledger:?}");
            let expected = match ledger.reason(lease, at) {
                None => AfterSave::Held { yield_asked: ledger.paused },
                Some(LostReason::Finished(lease_core::Ending::Completed)) => AfterSave::Completed,
                Some(why) => AfterSave::Lost(why),
            };
            assert_eq!(*after, expected, "TRUTH");
        }
        SaveVerdict::EffectRefused { .. } => assert!(ledger.holds(lease, at), "TRUTH: {ledger:?}"),
        SaveVerdict::Refused(LostReason::ReceiptConflict) => assert_eq!(same, Some(false), "TRUTH"),
        SaveVerdict::Refused(why @ LostReason::PhaseConflict { actual, .. }) => {
            assert!(ledger.holds(lease, at), "TRUTH: {why}: {ledger:?}");
            assert_eq!(*actual, ledger.phase(), "TRUTH");
            let next = ledger.next_phase();
            assert!(*save.from() != ledger.phase() || Some(save.to()) != next.as_ref(), "TRUTH: {save:?}");
        }
        SaveVerdict::Refused(why) => truth_of_a_refusal(ledger, lease, why, at),
    }
}

/// TRUTH: a release is done, was done as asked, or is refused with the actual reason.
pub(crate) fn truth_of_a_release(
    ledger: &Ledger,
    release: &Release,
    verdict: &ReleaseVerdict,
    at: Timestamp,
) {
    let how = match release.due {
        lease_core::Due::Now => lease_core::LeaseEnd::Yielded,
        lease_core::Due::Later { .. } => lease_core::LeaseEnd::Retrying,
        lease_core::Due::Approval => lease_core::LeaseEnd::Waiting,
    };
    let so_before = ledger.is_newest(&release.lease) && ledger.lease == Lease::Ended(how);
    match verdict {
        ReleaseVerdict::Released => assert_eq!(release.from, ledger.phase(), "TRUTH"),
        ReleaseVerdict::AlreadyReleased => assert!(so_before, "TRUTH: {release:?}: {ledger:?}"),
        ReleaseVerdict::Refused(why) => {
            assert!(!so_before, "TRUTH: {release:?} was done: {ledger:?}");
            truth_of_an_end(ledger, &release.lease, &release.from, why, at);
        }
    }
}

/// TRUTH: the same for failing a run.
pub(crate) fn truth_of_a_failing(ledger: &Ledger, fail: &Fail, verdict: &FailVerdict, at: Timestamp) {
    let failed = Lease::Ended(lease_core::LeaseEnd::Failed);
    let so_before = ledger.is_newest(&fail.lease) && ledger.lease == failed;
    match verdict {
        FailVerdict::Failed => assert_eq!(fail.from, ledger.phase(), "TRUTH"),
        FailVerdict::AlreadyFailed => assert!(so_before, "TRUTH: {fail:?}: {ledger:?}"),
        FailVerdict::Refused(why) => {
            assert!(!so_before, "TRUTH: {fail:?} was done: {ledger:?}");
            truth_of_an_end(ledger, &fail.lease, &fail.from, why, at);
        }
    }
}

fn truth_of_an_end(
    ledger: &Ledger,
    lease: &LeaseId,
    from: &lease_core::Phase,
    why: &LostReason,
    at: Timestamp,
) {
    if let LostReason::PhaseConflict { .. } = why {
        assert!(ledger.holds(lease, at) && *from != ledger.phase(), "TRUTH: {why}: {ledger:?}");
    } else {
        truth_of_a_refusal(ledger, lease, why, at);
    }
}

/// TRUTH: status, pause and counts on the row, and every attempt's outcome, are the actual ones.
pub(crate) fn truth_in_the_tables(ledger: &Ledger, stored: &Stored) {
    let run = &stored.run;
    assert_eq!((run.status, run.paused), (ledger.status, ledger.paused), "TRUTH");
    assert_eq!((run.losses, run.failures), (ledger.losses, ledger.failures), "TRUTH");
    assert_eq!(run.due_at, ledger.due_at, "TRUTH");
    assert_eq!(run.error.is_some(), ledger.status == Status::Failed, "TRUTH");
    let attempts: Vec<(u64, &OwnerId, Option<AttemptOutcome>)> =
        stored.attempts.iter().map(|it| (it.fence.get(), &it.owner, it.outcome())).collect();
    let expected: Vec<_> =
        (1..).zip(&ledger.claims).map(|(fence, (owner, outcome))| (fence, owner, *outcome)).collect();
    assert_eq!(attempts, expected, "TRUTH: the attempts");
}

/// BLOCKED-NOT-FAILED: only an attempt without an outcome, or a superseded one, becomes blocked.
pub(crate) fn blocked_not_failed(ledger: &Ledger, lease: &LeaseId, verdict: &BlockedVerdict) {
    let place = usize::try_from(lease.fence.get() - 1).expect("few claims");
    let attempt = ledger.claims.get(place).filter(|(owner, _)| *owner == lease.owner);
    let expected = match attempt.map(|(_, outcome)| *outcome) {
        None => BlockedVerdict::Gone,
        Some(None | Some(AttemptOutcome::Superseded)) => BlockedVerdict::Recorded,
        Some(Some(outcome)) => BlockedVerdict::AlreadyEnded(outcome),
    };
    assert_eq!(*verdict, expected, "BLOCKED-NOT-FAILED: {lease:?}: {ledger:?}");
}

/// BLOCKED-NOT-FAILED: a worker that lost its lease, and did not itself ask for the run to be
/// failed, has not failed it.
pub(crate) fn blocked_not_failed_by(lease: &LeaseId, loss: &Loss, stored: &Stored) {
    let attempt = stored.attempts.iter().find(|attempt| attempt.fence == lease.fence);
    let outcome = attempt.and_then(lease_core::Attempt::outcome);
    let asked = loss.refused == Refused::Fail;
    assert!(asked || outcome != Some(AttemptOutcome::Failed), "BLOCKED-NOT-FAILED: {lease:?}: {loss}");
}

/// TRUTH: what a worker reports as saved has its receipt, under its number.
pub(crate) fn truth_of_a_report(lease: &LeaseId, phase: &PhaseName, stored: &Stored) {
    let receipt = stored.receipts.iter().find(|receipt| receipt.phase == *phase);
    assert_eq!(receipt.map(|receipt| receipt.fence), Some(lease.fence), "TRUTH: {lease:?} saved {phase}");
}

/// SELF-STOP: while a step works, its lease is live at the store; only an operator may have taken it.
pub(crate) fn self_stop(lease: &LeaseId, stored: &Stored, now: Timestamp) {
    let run = &stored.run;
    let live = matches!(&run.hold, Hold::Held { fence, owner, expires_at }
        if (*fence, owner) == (lease.fence, &lease.owner) && now < *expires_at);
    let attempt = stored.attempts.iter().find(|attempt| attempt.fence == lease.fence);
    let outcome = attempt.and_then(lease_core::Attempt::outcome);
    let taken = matches!(outcome, Some(AttemptOutcome::Revoked | AttemptOutcome::Cancelled));
    assert!(live || taken, "SELF-STOP: {lease:?} works at {now}: {run:?}");
}

/// LIVENESS: an open, due run with no live lease, that nobody has locked, is claimed by whoever asks.
pub(crate) fn liveness(ledger: &Ledger, verdict: &ClaimVerdict, at: Timestamp) {
    let free = ledger.status == Status::Open && !ledger.paused && !ledger.live(at) && ledger.due_at <= at;
    let taken = matches!(verdict, ClaimVerdict::Granted(_) | ClaimVerdict::SetAside(_));
    assert_eq!(taken, free, "LIVENESS: {verdict:?} at {at}: {ledger:?}");
}
