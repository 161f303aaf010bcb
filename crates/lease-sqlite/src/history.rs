//! The history of the store's own tables.

use lease_core::{History, Step};

/// The history of the store's own tables.
pub const HISTORY: History = History {
    table: "lease_migrations",
    steps: &[
        Step {
            version: 1,
            name: "create_runs",
            sql: include_str!("../../../migrations/lease-sqlite/0001_create_runs.sql"),
        },
        Step {
            version: 2,
            name: "create_seal",
            sql: include_str!("../../../migrations/lease-sqlite/0002_create_seal.sql"),
        },
    ],
};
