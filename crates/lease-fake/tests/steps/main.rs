//! The trials of steps: good steps pass them, and each kind of bad step is found.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod failed;
mod shop;
mod twice;
