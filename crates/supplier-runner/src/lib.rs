//! Sets up suppliers under a lease: records, plans, steps and the worker that runs them.

pub mod plan;
pub mod step;
pub mod supplier;
pub mod tables;
pub mod worker;
