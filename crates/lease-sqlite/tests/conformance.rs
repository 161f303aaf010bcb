//! The SQLite store, put through every clause of the store ports, on a clock moved by hand.

mod support;

use support::SqliteHarness;

lease_fake::conformance_tests!(SqliteHarness::open().await);
