//! The contract of the store ports, clause by clause.
//!
//! Each clause is one function over a [`Harness`]: it opens runs in an empty store, moves the store's
//! clock through the harness, and panics where the store does not do what the port says. The adapter
//! brings a harness and turns every clause into a test of its own with [`crate::conformance_tests!`]:
//!
//! ```text
//! lease_fake::conformance_tests!(PostgresHarness::open().await);
//! ```
//!
//! The expression makes a new harness with an empty store; it may await. The tests are
//! `#[tokio::test]`s, so the adapter needs tokio; the clauses themselves do not.
//!
//! The idea is from River's driver tests and duroxide's provider validation.
//!
//! **Invariant:** clauses know the ports and the harness and nothing of any adapter, and compute no
//! expectation with the rules of [`lease_core::transition`].

pub mod claim;
pub mod clock_steps;
pub mod effects;
pub mod end;
pub mod guards;
mod harness;
pub mod losses;
pub mod operator;
pub mod queue;
pub mod read;
pub mod renew;
pub mod save;
mod scene;
pub mod story;
pub mod submit;
mod suite;
pub mod table;
pub(crate) mod together;
pub(crate) mod words;

pub use harness::{EffectTrace, Harness, LockedRow, Store};
