//! Plans: which phases a supplier goes through and what does each of them.

mod built_in;
mod meaning;
mod retry;
mod runnable;
mod uses;

pub use built_in::built_in;
pub use retry::RetryPolicy;
pub use runnable::{PhaseStep, RunnablePlan, StepsDiffer};
