//! Requests to a store. Each is a value that can be sent again, exactly as it was, when its answer
//! got lost. None carries an instant: only durations, which the store adds to its own clock.

use std::time::Duration;

use crate::digest::{Digest, Hasher};
use crate::document::Document;
use crate::effect::Effects;
use crate::failure::Failure;
use crate::ids::{Priority, RunId, RunKey};
use crate::lease::LeaseId;
use crate::owner::OwnerId;
use crate::phase::{Phase, PhaseName};
use crate::plan::Plan;
use crate::settings::Ttl;

/// Opens a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    /// The id for the run, if it is opened.
    pub id: RunId,
    /// The caller's key.
    pub key: RunKey,
    /// The plan the run will carry.
    pub plan: Plan,
    /// Its place in the queue.
    pub priority: Priority,
    /// What the steps get.
    pub input: Document,
}

/// How many leases of a run may run out at one phase before the run is set aside: 1 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossLimit(u32);

/// Claims one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub run: RunId,
    /// The owner of this claim, made anew for it.
    pub owner: OwnerId,
    /// How long the lease lasts.
    pub ttl: Ttl,
    /// The plans that this worker can run.
    pub plans: Vec<Digest>,
    /// How many losses it puts up with.
    pub loss_limit: LossLimit,
}

/// Claims the next due runs: at most one for each owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimNext {
    /// A new owner for each run wanted: 1 to [`ClaimNext::LIMIT`].
    pub owners: Vec<OwnerId>,
    /// How long each lease lasts.
    pub ttl: Ttl,
    /// The plans that this worker can run.
    pub plans: Vec<Digest>,
    /// How many losses it puts up with.
    pub loss_limit: LossLimit,
    /// Runs not to be claimed: those of which an old step still lives in this process.
    pub except: Vec<RunId>,
}

/// Saves one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    lease: LeaseId,
    from: Phase,
    to: PhaseName,
    receipt: Document,
    effects: Effects,
    ttl: Ttl,
    digest: Digest,
}

/// When a released run is to be claimed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// At once: the worker is shutting down, or the run was paused.
    Now,
    /// After a delay, because the step failed and is to be tried again.
    Later {
        /// How long to wait, by the store's clock.
        delay: Duration,
        /// What went wrong this time.
        failure: Failure,
    },
    /// When its next phase is approved.
    Approval,
}

/// Ends a lease and leaves the run to the next claim. Made by [`crate::Lease::release`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The lease.
    pub lease: LeaseId,
    /// The phase the run stands at.
    pub from: Phase,
    /// When it is to be claimed again.
    pub due: Due,
}

/// Ends a lease and fails the run. Made by [`crate::Lease::fail`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fail {
    /// The lease.
    pub lease: LeaseId,
    /// The phase the run stands at.
    pub from: Phase,
    /// Why.
    pub failure: Failure,
}

impl Submit {
    /// The digest of the content: the input, whatever id, plan and priority go with it.
    #[must_use]
    pub fn input_digest(&self) -> Digest {
        Hasher::new("input").field(self.input.to_json().as_bytes()).finish()
    }
}

impl LossLimit {
    /// Five losses.
    pub const DEFAULT: Self = Self(5);

    /// The limit of this value, or `None` for 0.
    #[must_use]
    pub fn new(limit: u32) -> Option<Self> {
        (limit > 0 && i32::try_from(limit).is_ok()).then_some(Self(limit))
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl ClaimNext {
    /// The most runs one statement claims.
    pub const LIMIT: usize = 256;
}

impl Save {
    /// A save of `to`, by the holder of `lease`, on a run that stands at `from`.
    #[must_use]
    pub fn new(
        lease: &LeaseId,
        from: Phase,
        to: PhaseName,
        receipt: Document,
        effects: Effects,
        ttl: Ttl,
    ) -> Self {
        let mut hasher = Hasher::new("save")
            .field(from.as_str().as_bytes())
            .field(to.as_str().as_bytes())
            .field(receipt.to_json().as_bytes());
        for effect in effects.as_slice() {
            hasher = hasher.field(effect.kind.as_str().as_bytes()).field(effect.body.to_json().as_bytes());
        }
        Self { lease: lease.clone(), from, to, receipt, effects, ttl, digest: hasher.finish() }
    }

    /// The lease it is made under.
    #[must_use]
    pub fn lease(&self) -> &LeaseId {
        &self.lease
    }

    /// The phase the run has to stand at.
    #[must_use]
    pub fn from(&self) -> &Phase {
        &self.from
    }

    /// The phase to save.
    #[must_use]
    pub fn to(&self) -> &PhaseName {
        &self.to
    }

    /// What the step returned.
    #[must_use]
    pub fn receipt(&self) -> &Document {
        &self.receipt
    }

    /// The rows that go with it.
    #[must_use]
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// How long the lease lasts from the save on.
    #[must_use]
    pub fn ttl(&self) -> Ttl {
        self.ttl
    }

    /// The digest over phases, receipt and effects as sent.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}
