//! Reasons kept as JSON, in words: why an attempt was blocked, what failed, what an operator said;
//! and why an action does not fit.

use lease_core::{Document, Failure, Refusal, Status};
use serde_json::Value;

/// The reason of an attempt in words. A document that this version does not know is shown as it is.
pub(crate) fn in_words(reason: &Document) -> String {
    if let Some(failure) = Failure::from_document(reason) {
        return failure.to_string();
    }
    let text = |name: &str| reason.fields().get(name).and_then(Value::as_str);
    if let (Some(refused), Some(phase), Some(why)) = (text("refused"), text("phase"), text("why")) {
        let said = |name: &str| reason.fields().get(name) == Some(&Value::Bool(true));
        let save = match (said("saved"), said("save_may_have_landed")) {
            (true, _) => "; the phase is saved",
            (false, true) => "; the save may have landed",
            (false, false) => "",
        };
        return format!("{refused} at {phase} refused: {}{save}", why_in_words(reason, why));
    }
    let said = text("reason").map_or(String::new(), |said| format!(": {said}"));
    match (text("by"), text("approved_by")) {
        (Some(by), _) => format!("by {by}{said}"),
        (None, Some(by)) => format!("approved by {by}{said}"),
        (None, None) => reason.to_json(),
    }
}

/// Why a lease was lost, from the document of a blocked attempt.
fn why_in_words(reason: &Document, why: &str) -> String {
    let shown = |name: &str| match reason.fields().get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "unknown".to_owned(),
    };
    match why {
        "superseded" => format!("superseded by claim {} of {}", shown("by_fence"), shown("by_owner")),
        "finished" => format!("the run was {}", shown("status")),
        "revoked" => "an operator took the lease away".to_owned(),
        "released" => "the lease was released by its own holder".to_owned(),
        "expired" if reason.fields().contains_key("late_by_ms") => {
            format!("the lease had run out {} ms before", shown("late_by_ms"))
        }
        "expired" => "the lease had run out".to_owned(),
        "gone" => "there is no such run".to_owned(),
        "forgotten" => {
            format!(
                "the database was set back and has forgotten this claim: its number is {}",
                shown("store_fence")
            )
        }
        "phase_conflict" => format!("the run stood at {}, not at {}", shown("actual"), shown("expected")),
        "receipt_conflict" => "this claim had saved the phase before, with another receipt".to_owned(),
        "unconfirmed" => "the database did not answer in time".to_owned(),
        "store_error" => format!("the database answered with an error: {}", shown("message")),
        other => other.to_owned(),
    }
}

/// Why an action does not fit.
pub(crate) fn refusal_in_words(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Status(Status::Open) => "the run is open".to_owned(),
        Refusal::Status(Status::Waiting) => "the run is waiting for an approval".to_owned(),
        Refusal::Status(Status::Completed) => "the run is completed".to_owned(),
        Refusal::Status(Status::Failed) => "the run is failed".to_owned(),
        Refusal::Status(Status::Cancelled) => "the run is cancelled".to_owned(),
        Refusal::WaitsFor(phase) => format!("the run waits for an approval of {}", phase.as_str()),
        Refusal::PhaseSaved => "the phase is saved already".to_owned(),
        Refusal::NotHeld => "nobody holds the run".to_owned(),
        Refusal::OtherFence { fence, owner } => {
            format!("the run is held with number {fence} by {}", owner.as_str())
        }
        Refusal::FenceExhausted => "the run has no number left".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lease_core::{
        Ending, FailureKind, FencingToken, Loss, LostReason, OwnerId, Phase, PhaseName, Refused, SaveFate,
        StoreError, Who, transition,
    };

    use super::*;

    fn phase() -> PhaseName {
        PhaseName::new("registered").unwrap()
    }

    #[test]
    fn every_loss_has_words() {
        let by_owner = OwnerId::from_stored("b#1").unwrap();
        let reasons = [
            LostReason::Superseded { by_fence: FencingToken::LAST, by_owner },
            LostReason::Finished(Ending::Cancelled),
            LostReason::Revoked,
            LostReason::Released,
            LostReason::Expired { late_by: Some(Duration::from_millis(7)) },
            LostReason::Expired { late_by: None },
            LostReason::Gone,
            LostReason::Forgotten { fence: None },
            LostReason::PhaseConflict { expected: Phase::Submitted, actual: Phase::Saved(phase()) },
            LostReason::ReceiptConflict,
            LostReason::Unconfirmed,
            LostReason::store_failed(&StoreError::Unexpected("no".into())),
        ];
        for why in reasons {
            let word = why.word();
            let words = |save| {
                in_words(
                    &Loss { refused: Refused::Save, phase: phase(), save, why: why.clone() }.to_document(),
                )
            };
            let plain = words(SaveFate::NotSaved);
            let told = plain.strip_prefix("save at registered refused: ").unwrap();
            assert!(told != word && !told.contains("unknown"), "{plain}");
            assert_eq!(words(SaveFate::Unknown), format!("{plain}; the save may have landed"));
            assert_eq!(words(SaveFate::Saved), format!("{plain}; the phase is saved"));
        }
    }

    #[test]
    fn failures_and_operators_have_words() {
        let failure = Failure::new(phase(), FailureKind::TIMEOUT, "took 15m", 2);
        assert_eq!(in_words(&failure.to_document()), "timeout failed at registered: took 15m");
        let who = Who::new("ann", Some("stuck".to_owned())).unwrap();
        assert_eq!(in_words(&transition::ended_by(&who)), "by ann: stuck");
        assert_eq!(in_words(&transition::approval(&phase(), &who).0), "approved by ann: stuck");
        assert_eq!(in_words(&Document::default()), "{}");
    }
}
