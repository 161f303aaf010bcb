//! One run as a store keeps it, written by the rules alone, and a clock that is a number.
//!
//! Applies a decision as `Change` says: all of it or nothing, ends only to attempts that never
//! ended.

use std::time::Duration;

use lease_core::transition::{self, AttemptChange, Decision};
use lease_core::{
    Action, Attempt, AttemptOutcome, BlockedVerdict, Claim, ClaimVerdict, Document, Due, Effects, Fail,
    FailVerdict, Failure, FailureKind, FencingToken, Grant, LeaseId, Loss, LossLimit, LostReason,
    OperatorAction, OperatorVerdict, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName, PlanVersion,
    Priority, Receipt, Refused, Release, ReleaseVerdict, RenewVerdict, Run, RunId, RunKey, Save, SaveVerdict,
    Standing, Submit, Timestamp, Ttl, Who,
};
use serde_json::json;

/// The clock when the run is submitted, in seconds.
pub(crate) const START: i64 = 1_000;
/// The TTL of every lease, in seconds.
pub(crate) const TTL: u64 = 60;
/// How many losses a claim puts up with.
pub(crate) const LOSS_LIMIT: u32 = 2;

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) run: Run,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) actions: Vec<OperatorAction>,
}

impl World {
    /// A run of the phases `a`, `b`, `c`, just submitted.
    pub(crate) fn new() -> Self {
        let now = at(START);
        let run = transition::open(&submit("key", &plan("does"), json!({"n": 1})), now);
        Self { now, run, receipts: Vec::new(), attempts: Vec::new(), actions: Vec::new() }
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    pub(crate) fn write<V>(&mut self, decision: Decision<V>) -> V {
        if let Some(change) = decision.change {
            self.run = change.run;
            self.receipts.extend(change.receipt);
            self.actions.extend(change.action);
            for attempt in change.attempts {
                self.write_attempt(attempt);
            }
        }
        decision.verdict
    }

    fn write_attempt(&mut self, change: AttemptChange) {
        let now = self.now;
        match change {
            AttemptChange::Open(attempt) => self.attempts.push(attempt),
            AttemptChange::End { fence, outcome, reason } => {
                for attempt in self.attempts.iter_mut().filter(|found| found.fence == fence) {
                    if let Some(ended) = attempt.ended(outcome, reason.clone(), now) {
                        *attempt = ended;
                    }
                }
            }
            AttemptChange::SupersedeUpTo(fence) => {
                let open = self.attempts.iter_mut().filter(|found| found.end.is_none());
                for attempt in open.filter(|found| found.fence <= fence) {
                    attempt.end = Some((AttemptOutcome::Superseded, now));
                }
            }
        }
    }

    pub(crate) fn claim(&mut self, by: &str) -> ClaimVerdict {
        self.write(transition::claim(&self.run, &claim(&self.run, by), self.now))
    }

    pub(crate) fn granted(&mut self, by: &str) -> LeaseId {
        job_of(self.claim(by)).lease
    }

    pub(crate) fn renew(&mut self, lease: &LeaseId) -> RenewVerdict {
        self.write(transition::renew(&self.run, lease, ttl(), self.now))
    }

    pub(crate) fn save(&mut self, lease: &LeaseId, from: &str, to: &str, note: &str) -> SaveVerdict {
        self.write(transition::save(&self.run, &save(lease, from, to, note), self.now))
    }

    pub(crate) fn release(&mut self, lease: &LeaseId, from: &str, due: Due) -> ReleaseVerdict {
        self.write(transition::release(&self.run, &release(lease, from, due), self.now))
    }

    pub(crate) fn fail(&mut self, lease: &LeaseId, from: &str) -> FailVerdict {
        self.write(transition::fail(&self.run, &fail(lease, from), self.now))
    }

    pub(crate) fn act(&mut self, action: &Action) -> OperatorVerdict {
        self.write(transition::act(&self.run, action, &who(), self.now))
    }

    pub(crate) fn block(&mut self, lease: &LeaseId) -> BlockedVerdict {
        let place = self.attempts.iter().position(|found| found.fence == lease.fence);
        let attempt = place.map(|index| &self.attempts[index]);
        let (verdict, changed) = transition::mark_blocked(attempt, lease, &loss(), self.now);
        if let (Some(index), Some(changed)) = (place, changed) {
            self.attempts[index] = changed;
        }
        verdict
    }

    pub(crate) fn standing(&self, lease: &LeaseId) -> Standing {
        self.run.standing(lease, self.now)
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

pub(crate) fn ttl() -> Ttl {
    Ttl::new(Duration::from_secs(TTL)).expect("a minute is a ttl")
}

pub(crate) fn owner(name: &str) -> OwnerId {
    OwnerId::from_stored(name).expect("a short name")
}

pub(crate) fn fence(value: u64) -> FencingToken {
    FencingToken::new(value).expect("a number in range")
}

pub(crate) fn name(phase: &str) -> PhaseName {
    PhaseName::new(phase).expect("a phase name")
}

pub(crate) fn phase(word: &str) -> Phase {
    Phase::new(word).expect("a phase")
}

pub(crate) fn who() -> Who {
    Who::new("ops", Some("why".to_owned())).expect("a short name and reason")
}

pub(crate) fn plan(meaning: &str) -> Plan {
    let phases = PhaseList::from_names(["a", "b", "c"]).expect("three phases");
    let version = PlanVersion::new(1).expect("a version");
    Plan::new(PlanName::new("plan").expect("a plan name"), version, phases, meaning)
}

pub(crate) fn document(value: serde_json::Value) -> Document {
    Document::from_value(value).expect("a small object")
}

pub(crate) fn submit(key: &str, plan: &Plan, input: serde_json::Value) -> Submit {
    Submit {
        id: RunId::new(uuid::Uuid::from_u128(1)),
        key: RunKey::new(key).expect("a short key"),
        plan: plan.clone(),
        priority: Priority::default(),
        input: document(input),
    }
}

pub(crate) fn claim(run: &Run, by: &str) -> Claim {
    Claim {
        run: run.id,
        owner: owner(by),
        ttl: ttl(),
        plans: vec![run.plan.id.digest],
        loss_limit: LossLimit::new(LOSS_LIMIT).expect("above zero"),
    }
}

pub(crate) fn save(lease: &LeaseId, from: &str, to: &str, note: &str) -> Save {
    let receipt = document(json!({"note": note}));
    Save::new(lease, phase(from), name(to), receipt, Effects::none(), ttl())
}

pub(crate) fn release(lease: &LeaseId, from: &str, due: Due) -> Release {
    Release { lease: lease.clone(), from: phase(from), due }
}

pub(crate) fn later(seconds: u64) -> Due {
    Due::Later { delay: Duration::from_secs(seconds), failure: failure() }
}

pub(crate) fn fail(lease: &LeaseId, from: &str) -> Fail {
    Fail { lease: lease.clone(), from: phase(from), failure: failure() }
}

pub(crate) fn failure() -> Failure {
    Failure::new(name("b"), FailureKind::STEP, "said no", 2)
}

pub(crate) fn loss() -> Document {
    let why = LostReason::Expired { late_by: None };
    Loss::before_save(Refused::Save, name("b"), why).to_document()
}

pub(crate) fn job_of(verdict: ClaimVerdict) -> Grant {
    let ClaimVerdict::Granted(grant) = verdict else { panic!("not granted: {verdict:?}") };
    *grant
}
