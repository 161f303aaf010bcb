//! Migrations as plain data: a history is a list of steps and the table that remembers them.

/// One step of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its number: 1, 2, 3, ….
    pub version: u32,
    /// What it does: `create_runs`.
    pub name: &'static str,
    /// Its SQL: one or more statements, run in a transaction.
    pub sql: &'static str,
}

/// A list of steps with a table of its own, so that one database can hold several histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The table that remembers the steps taken, as `schema.name` in lower case. Its schema is
    /// created if it is missing.
    pub table: &'static str,
    /// The steps in order.
    pub steps: &'static [Step],
}

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

/// How a database stands to some histories, the worst of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum SchemaState {
    /// Every step was taken.
    Current,
    /// No step was taken.
    Missing,
    /// Steps are still to be taken.
    Behind {
        /// The table of the history.
        table: &'static str,
        /// The last step taken; 0: none.
        at: u32,
        /// The last step of the history.
        wanted: u32,
    },
    /// The database has steps that this program does not know: it is newer.
    Ahead {
        /// The table of the history.
        table: &'static str,
        /// The last step taken.
        at: u32,
        /// The last step that this program knows.
        known: u32,
    },
    /// A step was taken with another text than this program has.
    Altered {
        /// The table of the history.
        table: &'static str,
        /// The step.
        version: u32,
    },
}
