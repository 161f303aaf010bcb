//! The worker on a fake clock and a fake store: what it does with steps that succeed, fail, stall,
//! hang and panic, with a store that is out of reach, and with operators who change their minds.
//! Nothing here sleeps: time is moved to whatever is waited for next.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod failing;
mod losing;
mod many;
mod operators;
mod progress;
mod simulation;
mod stopping;
mod told;
mod unanswered;
mod world;
