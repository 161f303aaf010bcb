//! What a step is given: the one document of its phase, and beside it who asks.
//!
//! The document's bytes are the same on every attempt of the phase, because a portal binds an
//! idempotency key to the body that came with it. So nothing that differs between attempts (the
//! fencing token, a time, a count of tries) is part of it.

use std::sync::Arc;

use lease_core::{Document, FencingToken, Job, LeaseId, PhaseName, Receipt, RunId, RunKey};
use serde_json::{Value, json};

/// One phase to be done, as its step sees it.
#[derive(Debug, Clone)]
pub struct StepRequest {
    run: RunId,
    key: RunKey,
    phase: PhaseName,
    fence: FencingToken,
    idempotency_key: String,
    document: Arc<str>,
    input: Document,
    receipts: Vec<Receipt>,
}

impl StepRequest {
    /// The request for the phase that a claimed run is to do next. `None` when no phase is left, or
    /// when `receipts` are not those of the phases saved so far, in order: then the document would
    /// not be the one that earlier attempts were given.
    #[must_use]
    pub fn new(lease: &LeaseId, job: &Job, receipts: Vec<Receipt>) -> Option<Self> {
        let phase = job.plan.phases.next_after(&job.phase)?.clone();
        let saved = &job.plan.phases.as_slice()[..job.plan.phases.saved_count(&job.phase)?];
        if !receipts.iter().map(|receipt| &receipt.phase).eq(saved) {
            return None;
        }
        let idempotency_key = job.idempotency_key(lease.run, &phase);
        let document = json!({
            "run": lease.run.to_string(),
            "key": job.key.as_str(),
            "phase": phase.as_str(),
            "idempotency_key": idempotency_key,
            "input": job.input.fields(),
            "receipts": receipts.iter().map(shown).collect::<Vec<Value>>(),
        });
        Some(Self {
            run: lease.run,
            key: job.key.clone(),
            phase,
            fence: lease.fence,
            idempotency_key,
            document: document.to_string().into(),
            input: job.input.clone(),
            receipts,
        })
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The run's key: the supplier's.
    #[must_use]
    pub fn key(&self) -> &RunKey {
        &self.key
    }

    /// The phase to be done.
    #[must_use]
    pub fn phase(&self) -> &PhaseName {
        &self.phase
    }

    /// The number of the claim that asks.
    #[must_use]
    pub fn fence(&self) -> FencingToken {
        self.fence
    }

    /// The same on every attempt of this phase, until a retry asks for a new one.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// The phase's document as compact JSON with sorted keys: `run`, `key`, `phase`,
    /// `idempotency_key`, `input`, and the `receipts` so far as `show` prints them.
    #[must_use]
    pub fn document(&self) -> &Arc<str> {
        &self.document
    }

    /// What was submitted.
    #[must_use]
    pub fn input(&self) -> &Document {
        &self.input
    }

    /// The receipts of the phases saved so far, in order.
    #[must_use]
    pub fn receipts(&self) -> &[Receipt] {
        &self.receipts
    }
}

fn shown(receipt: &Receipt) -> Value {
    json!({
        "phase": receipt.phase.as_str(),
        "fence": receipt.fence.get(),
        "saved_at": receipt.saved_at.to_string(),
        "body": receipt.body.fields(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::testing;

    #[test]
    fn the_document_has_the_same_bytes_on_every_attempt_of_a_phase() {
        let (lease, mut job) = testing::granted(1, "registered", &["validated"]);
        let receipts = testing::receipts(&["validated"]);
        let first = StepRequest::new(&lease, &job, receipts.clone()).unwrap();
        // Another worker, a higher number, and tries and losses behind it.
        let later = LeaseId {
            run: lease.run,
            owner: lease_core::OwnerId::from_stored("other").unwrap(),
            fence: FencingToken::new(9).unwrap(),
        };
        job.losses = 2;
        job.failures = 3;
        let again = StepRequest::new(&later, &job, receipts).unwrap();
        assert_eq!(first.document(), again.document());
        assert_eq!(first.idempotency_key(), again.idempotency_key());
        assert_eq!(again.fence().get(), 9);
    }

    #[test]
    fn the_document_says_run_key_phase_input_and_receipts() {
        let (lease, job) = testing::granted(4, "registered", &["validated"]);
        let request = StepRequest::new(&lease, &job, testing::receipts(&["validated"])).unwrap();
        let run = lease.run;
        let expected = format!(
            r#"{{"idempotency_key":"{run}:registered","input":{},"key":"S-1","phase":"registered","receipts":[{{"body":{{"of":"validated"}},"fence":1,"phase":"validated","saved_at":"1970-01-01T00:00:00.000001Z"}}],"run":"{run}"}}"#,
            job.input
        );
        assert_eq!(&**request.document(), expected);
    }

    #[test]
    fn a_retry_with_a_new_key_has_another_idempotency_key() {
        let (lease, mut job) = testing::granted(1, "validated", &[]);
        let first = StepRequest::new(&lease, &job, Vec::new()).unwrap();
        assert_eq!(first.idempotency_key(), format!("{}:validated", lease.run));
        job.key_epoch = 2;
        let second = StepRequest::new(&lease, &job, Vec::new()).unwrap();
        assert_eq!(second.idempotency_key(), format!("{}:validated:2", lease.run));
    }

    /// Case 25: a number past 2^53 reaches the step digit for digit.
    #[test]
    fn case_25_numbers_reach_the_step_digit_for_digit() {
        let (lease, mut job) = testing::granted(1, "validated", &[]);
        job.input = Document::from_json(br#"{"n":9007199254740993,"d":0.10}"#).unwrap();
        let request = StepRequest::new(&lease, &job, Vec::new()).unwrap();
        assert!(request.document().contains(r#""input":{"d":0.10,"n":9007199254740993}"#));
    }

    #[test]
    fn resume_receipts_that_are_not_those_of_the_saved_phases_make_no_request() {
        let (lease, job) = testing::granted(1, "registered", &["validated"]);
        assert!(StepRequest::new(&lease, &job, Vec::new()).is_none());
        assert!(StepRequest::new(&lease, &job, testing::receipts(&["registered"])).is_none());
        let (lease, done) = testing::granted(1, "", &["validated", "registered", "purchasing_enabled"]);
        let all = testing::receipts(&["validated", "registered", "purchasing_enabled"]);
        assert!(StepRequest::new(&lease, &done, all).is_none());
    }
}
