//! Leases among real processes on a real database: workers that are stopped, killed, cut off and
//! come back too late.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod cut_off;
mod embedded_kills;
mod killed;
mod late_save;
mod line;
mod session;
mod slow_steps;
mod stage;
#[path = "../support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "other tests use the rest")]
mod support;
