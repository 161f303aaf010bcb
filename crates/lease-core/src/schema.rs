//! Migrations as plain data: a history is a list of steps and the table that remembers them. Stores
//! take the steps; how a database stands to a history is judged here.

use crate::digest::Hasher;

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
    /// The table that remembers the steps taken, in lower case; where the store has schemas, as
    /// `schema.name`, and the schema is created if it is missing.
    pub table: &'static str,
    /// The steps in order.
    pub steps: &'static [Step],
}

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

impl Step {
    /// What tells this step from one with another text.
    #[must_use]
    pub fn digest(&self) -> String {
        Hasher::new("migration").field(self.name.as_bytes()).field(self.sql.as_bytes()).finish().to_string()
    }
}

impl History {
    /// How a database stands where these steps were taken, in order, each with its digest.
    pub fn state(&self, taken: &[(u32, String)]) -> SchemaState {
        let (table, known) = (self.table, self.last());
        let mut at = 0;
        for (version, digest) in taken {
            at = *version;
            match self.steps.iter().find(|step| step.version == at) {
                Some(step) if step.digest() == *digest => {}
                Some(_) => return SchemaState::Altered { table, version: at },
                None if at <= known => return SchemaState::Altered { table, version: at },
                None => {}
            }
        }
        match at {
            0 => SchemaState::Missing,
            at if at > known => SchemaState::Ahead { table, at, known },
            at if at < known => SchemaState::Behind { table, at, wanted: known },
            _ => SchemaState::Current,
        }
    }

    /// The number of the last step; 0 where there is none.
    #[must_use]
    pub fn last(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.version)
    }
}

impl SchemaState {
    /// The least fit of the states to several histories; `Missing` only where none has been begun.
    pub fn worst(states: &[(&History, Self)]) -> Self {
        if !states.is_empty() && states.iter().all(|(_, state)| *state == Self::Missing) {
            return Self::Missing;
        }
        let mut worst = Self::Current;
        for (history, state) in states {
            let state = match state {
                Self::Missing => Self::Behind { table: history.table, at: 0, wanted: history.last() },
                other @ (Self::Current | Self::Behind { .. } | Self::Ahead { .. } | Self::Altered { .. }) => {
                    other.clone()
                }
            };
            if state.rank() > worst.rank() {
                worst = state;
            }
        }
        worst
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Current => 0,
            Self::Missing => 1,
            Self::Behind { .. } => 2,
            Self::Ahead { .. } => 3,
            Self::Altered { .. } => 4,
        }
    }
}
