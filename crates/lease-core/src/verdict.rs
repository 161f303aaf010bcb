//! A store's answers. Each is a closed list, so that every caller handles every one by name.

use std::time::Duration;

use crate::attempt::AttemptOutcome;
use crate::clock::Moment;
use crate::digest::Digest;
use crate::document::Document;
use crate::failure::Failure;
use crate::fence::FencingToken;
use crate::ids::{RunId, RunKey};
use crate::lease::{Lease, LeaseId};
use crate::loss::Ending;
use crate::lost_reason::LostReason;
use crate::owner::OwnerId;
use crate::phase::{Phase, PhaseName};
use crate::plan::{Plan, PlanId};
use crate::settings::LeaseSettings;

/// The answer to a submit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum SubmitVerdict {
    /// The run was opened.
    Opened,
    /// A run with this key, plan and content is there already.
    Existing {
        /// That run.
        run: RunId,
    },
    /// A run with this key is there, with another plan or other content.
    KeyConflict {
        /// That run.
        run: RunId,
        /// The plan it was submitted with.
        plan: PlanId,
        /// Whether it is the content that differs (else only the plan does).
        content_differs: bool,
    },
    /// Another plan with this name and version is in use.
    PlanConflict {
        /// The digest of that plan.
        registered: Digest,
    },
}

/// The answer to whether a plan may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum PlanVerdict {
    /// No run has used this name and version yet.
    Unused,
    /// Runs use this very plan.
    InUse,
    /// Runs use another plan under this name and version.
    Conflict {
        /// The digest of that plan.
        registered: Digest,
    },
}

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ClaimVerdict {
    /// The run is this owner's until the lease runs out.
    Granted(Box<Grant>),
    /// Somebody else holds it.
    Busy {
        /// Who.
        owner: OwnerId,
        /// With which number.
        fence: FencingToken,
        /// For how long at least.
        remaining: Duration,
    },
    /// Its time has not come.
    NotDue {
        /// When it will.
        due_in: Duration,
    },
    /// It waits for an approval.
    Waiting {
        /// Of this phase.
        phase: PhaseName,
    },
    /// It is paused.
    Paused,
    /// It has ended.
    Finished(Ending),
    /// This worker does not know its plan.
    UnknownPlan(PlanId),
    /// It lost one lease too many, or has no number left: this claim failed it.
    SetAside(Failure),
    /// It was granted, but the lease ran out before the answer was ready. The number is used up.
    Lapsed {
        /// The number it got.
        fence: FencingToken,
    },
    /// There is no such run.
    Gone,
}

/// A granted claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// What the store will match the holder by.
    pub lease: LeaseId,
    /// What is to be done.
    pub job: Job,
}

/// What the holder of a run needs to know to go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The caller's key.
    pub key: RunKey,
    /// The plan it was submitted with.
    pub plan: Plan,
    /// The phase saved last, which this claim goes on from.
    pub phase: Phase,
    /// Leases that ran out at this phase, the last one included.
    pub losses: u32,
    /// Tries of the next phase that failed so far.
    pub failures: u32,
    /// How often an operator asked for a new idempotency key.
    pub key_epoch: u32,
    /// What was submitted.
    pub input: Document,
}

/// The answer to a claim of the next runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Claimed {
    /// The runs that are now this worker's.
    pub grants: Vec<Grant>,
    /// The runs that this claim set aside as failed.
    pub set_aside: Vec<(RunId, RunKey, Failure)>,
    /// Where slots stayed free: until the next known run falls due, if one will; zero where one is
    /// due and was passed over because somebody has its row locked.
    pub next_due_in: Option<Duration>,
    /// Where slots stayed free: until the next lease on a known run would run out; zero where one has
    /// and the run was passed over.
    pub next_lapse_in: Option<Duration>,
}

/// The answer to a renewal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum RenewVerdict {
    /// The lease lasts a whole TTL from now.
    Renewed {
        /// The run was paused: stop before the next phase.
        yield_asked: bool,
    },
    /// Nothing was judged, because somebody has the row locked or it cannot be read. The lease runs
    /// on as it was; asked for alone, it is waited for.
    NotJudged,
    /// The lease is lost.
    Refused(LostReason),
}

/// Where the lease stands after a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterSave {
    /// It is still held.
    Held {
        /// The run was paused: stop before the next phase.
        yield_asked: bool,
    },
    /// That was the last phase: the run is completed and the lease ended.
    Completed,
    /// It is lost, though the save landed.
    Lost(LostReason),
}

/// The answer to a save.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum SaveVerdict {
    /// It landed now.
    Saved(AfterSave),
    /// This very save had landed before; nothing was written again.
    AlreadySaved(AfterSave),
    /// The store would not write one of the effects. Nothing landed, and the lease is as it was:
    /// the step's failure.
    EffectRefused {
        /// What the store said of it.
        message: String,
    },
    /// Nothing landed.
    Refused(LostReason),
}

/// The answer to a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ReleaseVerdict {
    /// The lease is ended.
    Released,
    /// This very release had landed before.
    AlreadyReleased,
    /// Nothing changed.
    Refused(LostReason),
}

/// The answer to failing a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum FailVerdict {
    /// The run is failed and the lease ended.
    Failed,
    /// This lease had failed it before.
    AlreadyFailed,
    /// Nothing changed.
    Refused(LostReason),
}

/// The answer to recording that an attempt was turned away.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum BlockedVerdict {
    /// The attempt's outcome is `blocked`.
    Recorded,
    /// It had ended before, as this says; nothing changed.
    AlreadyEnded(AttemptOutcome),
    /// There is no such attempt.
    Gone,
}

impl Grant {
    /// The lease and the job of a claim that was sent at `sent_at` by the worker's clock.
    pub fn accept(self, settings: LeaseSettings, sent_at: Moment) -> (Lease, Job) {
        (Lease::new(self.lease, settings, sent_at), self.job)
    }
}

impl Job {
    /// The phase to be done next; `None` only for a run that is complete.
    #[must_use]
    pub fn next_phase(&self) -> Option<&PhaseName> {
        self.plan.phases.next_after(&self.phase)
    }

    /// What the step of `phase` shows to whatever it calls: the same on every attempt of the phase of
    /// `run`, until a retry asks for a new one.
    #[must_use]
    pub fn idempotency_key(&self, run: RunId, phase: &PhaseName) -> String {
        match self.key_epoch {
            0 => format!("{run}:{phase}"),
            epoch => format!("{run}:{phase}:{epoch}"),
        }
    }
}
