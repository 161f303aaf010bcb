//! The program's verbs, end to end: exit codes, output, JSON, and what is in the tables afterwards.

#![expect(clippy::unwrap_used, reason = "a panic here is the failure being reported")]

#[path = "../support/mod.rs"]
mod support;

mod approving;
mod checking;
mod database;
mod demo;
mod embedded;
mod looking;
mod operating;
mod plans;
mod racing;
mod running;
mod settings;
mod stopping;
mod submitting;
mod transferring;
