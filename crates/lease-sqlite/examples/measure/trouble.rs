//! Why something could not be measured.

use lease_core::StoreError;

/// Each ends the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// An answer other than the one that is measured.
    #[error("the store gave another answer than the one to be measured: {0}")]
    Answer(String),
    /// A statement that changed another number of rows.
    #[error("{statement} changed {rows} rows instead of one")]
    Rows {
        /// The name of its file.
        statement: &'static str,
        /// How many.
        rows: usize,
    },
    /// The tables do not show what was counted.
    #[error("{counted} operations were counted, but the tables show {changed}")]
    Counts {
        /// How many were done.
        counted: i64,
        /// By how much the tables changed.
        changed: i64,
    },
    /// The store.
    #[error("the store gave no verdict")]
    Store(#[from] StoreError),
    /// The library.
    #[error("a statement through the library failed")]
    Library(#[from] rusqlite::Error),
    /// Files.
    #[error("a file could not be used")]
    File(#[from] std::io::Error),
}
