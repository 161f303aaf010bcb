//! The lease protocol as plain values and pure functions.
//!
//! A *run* is a long job of named phases. A worker that *claims* a run gets a lease and a new
//! [`FencingToken`]; every save, renewal and release is judged by a store against that number, the
//! owner, the live lease and the phase. This crate holds the words, the rules and the ports:
//!
//! * values: [`FencingToken`], [`OwnerId`], [`Phase`], [`Plan`], [`Document`], [`Lease`];
//! * rules: [`transition`], pure functions of (run, request, now) that a store runs under its lock
//!   or writes down as SQL;
//! * ports: [`Renewals`], [`LeaseStore`], [`Operator`], [`RunReader`] for the store, [`Clock`] for
//!   the worker's own time;
//! * the heartbeat: [`Heartbeat`] decides, [`under_lease`] drives a step under it.
//!
//! **Invariant:** no executor, no database driver, no logging, no environment and no real clock
//! live here. Whoever uses the crate brings those through the ports.
//!
//! The idea of the fencing token is from Martin Kleppmann, "How to do distributed locking" (2016),
//! and, before it, from the sequencers of Mike Burrows, "The Chubby lock service" (OSDI 2006).

mod attempt;
mod clock;
mod digest;
mod document;
mod driver;
mod effect;
mod failure;
mod fence;
mod heartbeat;
mod holder;
mod ids;
mod lease;
mod loss;
mod lost_reason;
mod operator;
mod owner;
mod phase;
mod plan;
mod reader;
mod receipt;
mod record;
mod request;
mod run;
mod schema;
mod settings;
mod store;
pub mod stored;
mod text;
mod timestamp;
pub mod transition;
mod verdict;
mod words;

pub use attempt::{Attempt, AttemptOutcome};
pub use clock::{Clock, Moment};
pub use digest::{Digest, Hasher, InvalidDigest};
pub use document::{Document, DocumentError, DocumentProblem};
pub use driver::{Guarded, under_lease, why_lost};
pub use effect::{Effect, EffectKind, Effects, EffectsError};
pub use failure::{Failure, FailureKind};
pub use fence::{FencingToken, InvalidFence};
pub use heartbeat::{Beat, Heartbeat};
pub use holder::{Ended, SaveEnd, fail_run, give_back, give_up, release_lease, save_phase};
pub use ids::{InvalidKey, Priority, RunId, RunKey};
pub use lease::{Lease, LeaseId};
pub use loss::{Ending, Loss, Refused, SaveFate};
pub use lost_reason::{LostReason, StoreMessage};
pub use operator::{Action, IdempotencyKey, InvalidWho, Operator, OperatorVerdict, Refusal, Who};
pub use owner::{InvalidOwner, OwnerId, WorkerName};
pub use phase::{InvalidPhase, Phase, PhaseList, PhaseName};
pub use plan::{InvalidPlan, Plan, PlanId, PlanName, PlanVersion};
pub use reader::{OperatorAction, RunFilter, RunPage, RunReader, RunSelector, RunView, Stranded};
pub use receipt::Receipt;
pub use record::{RunRecord, written_out};
pub use request::{Claim, ClaimNext, Due, Fail, LossLimit, Release, Save, Submit};
pub use run::{Hold, LeaseEnd, PhaseMark, Run, Standing, Status};
pub use schema::{History, SchemaState, Step};
pub use settings::{LeaseSettings, SettingsError, Ttl};
pub use store::{LeaseStore, Renewals, StoreError, WorkSignal};
pub use timestamp::Timestamp;
pub use verdict::{
    AfterSave, BlockedVerdict, ClaimVerdict, Claimed, FailVerdict, Grant, Job, PlanVerdict, ReleaseVerdict,
    RenewVerdict, SaveVerdict, SubmitVerdict,
};
pub use words::UnknownWord;
