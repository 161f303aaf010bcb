//! The worker on a fake clock and a fake store: what it does with steps that succeed, fail, stall,
//! hang and panic, with a store that is out of reach, and with operators who change their minds.
//! Nothing here sleeps: time is moved to whatever is waited for next.

mod failing;
mod losing;
mod many;
mod operators;
mod progress;
mod stopping;
mod world;
