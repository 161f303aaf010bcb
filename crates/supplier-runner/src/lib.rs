//! Sets up suppliers under a lease: records, plans, steps and the worker that runs them.

pub mod supplier;
