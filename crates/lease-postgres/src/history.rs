//! The history of the store's own tables.

use lease_core::{History, Step};

/// The history of this store's own tables.
pub const HISTORY: History = History {
    table: "lease.migrations",
    steps: &[
        Step {
            version: 1,
            name: "create_runs",
            sql: include_str!("../../../migrations/lease/0001_create_runs.sql"),
        },
        Step {
            version: 2,
            name: "note_transfers",
            sql: include_str!("../../../migrations/lease/0002_note_transfers.sql"),
        },
    ],
};
