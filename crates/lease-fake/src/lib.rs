//! What tests of the lease protocol stand on: clocks that are moved by hand, a store in memory, and
//! the suite that every store has to pass.
//!
//! * [`FakeClock`] is a worker's clock, [`StoreClock`] a store's. They may disagree by hours.
//! * [`FakeStore`] is a lock around the rules of [`lease_core::transition`]. Faults can be ordered
//!   on it ([`Fault`]), and it writes down what it judged and when ([`Judged`]).
//! * [`drive`] polls futures without an executor.
//! * [`differential`] sends random histories to a store and to the fake, and compares them step by step.
//! * [`steps`] does every step of a plan twice, and fails its worker at every point.
//! * [`conformance`] holds the clauses of the store ports; [`crate::conformance_tests!`] makes them tests.
//!
//! **Invariant:** nothing here reads a real clock, sleeps or needs an executor. Product code does not
//! depend on this crate.

mod clock;
pub mod conformance;
pub mod differential;
pub mod drive;
mod fault;
mod journal;
mod signal;
pub mod steps;
mod store;
mod store_clock;
mod time_line;

pub use clock::FakeClock;
pub use fault::{Fault, Injected, Until};
pub use journal::{Exchange, Judged, Operation};
pub use store::{Backup, EffectRow, FakeStore, RowLock, Stored};
pub use store_clock::StoreClock;

/// The examples in the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
