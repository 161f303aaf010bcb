//! Plans: which phases a supplier goes through and what does each of them.
//!
//! A plan is the built-in one or a TOML file. What a file means, before `${NAME}` is filled in, is in its
//! digest, so that a worker never does a plan that was edited under a version in use.

mod built_in;
mod command;
mod draft;
mod entry;
mod error;
mod file;
mod fill;
mod http;
mod meaning;
mod phase;
mod retry;
mod runnable;
mod uses;

pub use built_in::built_in;
pub use error::{PlanError, PlanProblem};
pub use file::load_plan;
pub use retry::RetryPolicy;
pub use runnable::{PhaseStep, RunnablePlan, StepsDiffer};
