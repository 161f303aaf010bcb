//! The worker: claims runs, runs their steps under the heartbeat, saves, and stops in good order.
//!
//! Keeps BLOCKED-NOT-FAILED: a run whose lease was lost is reported blocked and left alone. Keeps
//! LIVENESS: a free slot asks the store at least once per poll.
//!
//! Three lanes keep each other from starving: claims and saves run on the caller's runtime, steps
//! on threads of their own, and heartbeats on one more thread with a connection of its own.

mod answers;
mod batch;
mod clock;
mod ending;
mod event;
mod ids;
mod job;
mod lanes;
mod living;
mod main_loop;
mod queue;
mod report;
mod settings;
mod step_task;
mod stop;

pub use batch::BatchedRenewals;
pub use clock::BootClock;
pub use event::{Event, EventKind, Events, NoEvents};
pub use ids::{Random, SystemRandom, new_run_id};
pub use lanes::{HeartbeatThread, Lanes, StepThreads};
pub use main_loop::{Worker, WorkerStore};
pub use queue::Take;
pub use report::{RunStand, WorkReport};
pub use settings::{WorkerSettings, WorkerSettingsError};
pub use stop::{Stopper, Stopping, stopper};
