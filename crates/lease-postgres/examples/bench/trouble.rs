//! Why something could not be measured.

use lease_core::StoreError;

/// Each ends the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// Rows of somebody else.
    #[error("the database holds {0} runs that this program did not make: give it one of its own")]
    OthersRuns(i64),
    /// All runs are used up.
    #[error("a client had no run left after {0} operations: make more of them")]
    RanOut(u64),
    /// An answer other than the one that is measured.
    #[error("the store gave another answer than the one to be measured: {0}")]
    Answer(String),
    /// Fewer sessions than asked for.
    #[error("the server shows {shown} sessions instead of {wanted}")]
    Sessions {
        /// How many there are.
        shown: i64,
        /// How many there should be.
        wanted: u32,
    },
    /// Counts of updates that do not come.
    #[error("the server counted {counted} updates of {made}")]
    Counts {
        /// How many it shows.
        counted: i64,
        /// How many were made.
        made: i64,
    },
    /// The store.
    #[error("the store gave no verdict")]
    Store(#[from] StoreError),
    /// The benchmark's own statements.
    #[error("a statement of the benchmark's own failed")]
    Sql(#[from] sqlx::Error),
    /// A task that did not come to its end.
    #[error("a client broke off")]
    Task(#[from] tokio::task::JoinError),
}
