//! The PostgreSQL store, put through every clause of the store ports, on a clock moved by hand.

mod support;

use support::harness::PostgresHarness;

lease_fake::conformance_tests!(PostgresHarness::open().await);
