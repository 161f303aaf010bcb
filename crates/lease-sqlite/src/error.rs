//! The one place where errors of the driver become errors of the port: by SQLite's result code and by
//! kind, never by text.
//!
//! Keeps TRUTH: what surely did not happen is `NotApplied` or `Unreachable`; what may have is
//! `Unknown`.

use lease_core::StoreError;
use lease_core::stored::BadValue;

/// Why a request was not carried out, in words for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// Others kept the file's write lock.
    #[error("other processes kept the file busy")]
    Busy,
    /// No room.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// The file may only be read.
    #[error("the file may only be read")]
    ReadOnly(#[source] sqlx::Error),
    /// The system could not read or write the file.
    #[error("the file could not be read or written")]
    InputOutput(#[source] sqlx::Error),
    /// The file is damaged.
    #[error("the file is damaged, or is no database")]
    Damaged(#[source] sqlx::Error),
    /// The worker's own task broke off.
    #[error("the request broke off")]
    BrokeOff,
}

/// The file is sealed: its runs have moved, or are moving.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the runs of this file moved to {destination}; it can be read, and not worked on")]
pub struct Sealed {
    /// Where they went, without any password.
    pub destination: String,
}

/// What a failed statement means before anything was committed: it had no effect.
pub(crate) fn before_commit(error: sqlx::Error) -> StoreError {
    match class(&error) {
        Class::Busy => StoreError::NotApplied(Box::new(Failed::Busy)),
        Class::Full => StoreError::NotApplied(Box::new(Failed::Full(error))),
        Class::InputOutput => StoreError::NotApplied(Box::new(Failed::InputOutput(error))),
        Class::ReadOnly => StoreError::Unexpected(Box::new(Failed::ReadOnly(error))),
        Class::Damaged => StoreError::Corrupt(Box::new(Failed::Damaged(error))),
        Class::Constraint | Class::Unreadable => StoreError::Corrupt(Box::new(error)),
        // Of this crate's statements, only the one that counts the rows of the write before it fails so.
        Class::Mismatch => BadValue::Contradiction("one row and the rows that were written").into(),
        Class::Statement => StoreError::Schema(Box::new(error)),
        Class::Gone => StoreError::Unreachable(Box::new(error)),
        Class::Unexpected => StoreError::Unexpected(Box::new(error)),
    }
}

/// What a failed commit means: unless SQLite says that it did nothing, it may have landed.
pub(crate) fn at_commit(error: sqlx::Error) -> StoreError {
    match class(&error) {
        Class::Busy | Class::Full => before_commit(error),
        Class::Constraint
        | Class::InputOutput
        | Class::ReadOnly
        | Class::Damaged
        | Class::Mismatch
        | Class::Unreadable
        | Class::Statement
        | Class::Gone
        | Class::Unexpected => StoreError::Unknown(Box::new(error)),
    }
}

/// What a failed statement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Busy,
    Full,
    ReadOnly,
    InputOutput,
    Damaged,
    Constraint,
    /// A value that does not fit where it stands.
    Mismatch,
    /// A statement that does not fit the tables.
    Statement,
    /// An answer that cannot be read.
    Unreadable,
    /// The connection is gone.
    Gone,
    Unexpected,
}

/// Sorts an error of the driver.
pub(crate) fn class(error: &sqlx::Error) -> Class {
    use sqlx::Error as E;
    if let Some(database) = error.as_database_error() {
        let code = database.code().and_then(|code| code.parse::<u32>().ok());
        return code.map_or(Class::Unexpected, by_result_code);
    }
    if matches!(error, E::WorkerCrashed | E::PoolClosed | E::PoolTimedOut | E::Io(_)) {
        Class::Gone
    } else if matches!(error, E::Encode(_)) {
        Class::Unexpected
    } else {
        Class::Unreadable
    }
}

/// Sorts a result code by its primary part, the low byte.
fn by_result_code(code: u32) -> Class {
    match code & 0xff {
        1 => Class::Statement,
        5 | 6 => Class::Busy,
        8 => Class::ReadOnly,
        10 | 14 => Class::InputOutput,
        11 | 26 => Class::Damaged,
        13 => Class::Full,
        19 => Class::Constraint,
        20 => Class::Mismatch,
        _ => Class::Unexpected,
    }
}

/// Whether the error is the seal's.
pub(crate) fn is_seal(error: &sqlx::Error) -> bool {
    const CONSTRAINT_TRIGGER: u32 = 1811;
    let code = error.as_database_error().and_then(|database| database.code());
    code.and_then(|code| code.parse::<u32>().ok()) == Some(CONSTRAINT_TRIGGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_extended_codes_count_by_their_primary_part() {
        for (code, class) in [
            (5, Class::Busy),
            (517, Class::Busy),
            (261, Class::Busy),
            (2067, Class::Constraint),
            (1555, Class::Constraint),
            (13, Class::Full),
            (266, Class::InputOutput),
            (26, Class::Damaged),
            (1032, Class::ReadOnly),
        ] {
            assert_eq!(by_result_code(code), class, "{code}");
        }
    }
}
