//! Trials of steps: that each can be done twice, and that a run goes on wherever its worker fails.
//!
//! A step runs at least once: a worker can die after the work and before the save, and then the next
//! claim does the same step again, under the same idempotency key. Whoever writes steps puts them
//! into [`Steps`], and a [`Trial`] runs their whole plan with the ports and functions that a worker
//! uses (claim, renewals around the step, save), on a store in memory and a clock that stands still:
//!
//! * [`Trial::every_step_twice`] lets each worker die after its step, so that every step is done
//!   again by the next; both have to return the same, and the second may do nothing more outside;
//! * [`Trial::every_step_failed_once`] fails one worker in each run, at each phase and each
//!   [`Point`], and sees whether the run is completed as if nothing had happened.
//!
//! What they tell is a list of [`Finding`]s, which a test expects to be empty.

mod call;
mod finding;
mod history;
mod left;
mod trial;

pub use call::{Call, Done, Steps};
pub use finding::{Difference, Finding, Findings, Point};
pub use trial::Trial;
