//! The one place where errors of the driver become errors of the port: by SQLSTATE and by kind,
//! never by text.
//!
//! Keeps TRUTH: what surely did not happen is `NotApplied` or `Unreachable`; what may have is
//! `Unknown`.

use std::time::Duration;

use lease_core::StoreError;

/// A submit with an id that a run with another key has.
#[derive(Debug, thiserror::Error)]
#[error("another run has the id {0}: every submit needs a new one")]
pub struct IdTaken(pub lease_core::RunId);

/// A submit that met a racing one too often to get an answer.
#[derive(Debug, thiserror::Error)]
#[error("other submits of the same key, id or plan kept getting in between")]
pub struct SentTwice;

/// No answer within the time that the server itself allows a statement, and some more.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0:?}")]
pub(crate) struct NoAnswer(pub(crate) Duration);

/// No connection within the time allowed: none became free, or none could be opened.
#[derive(Debug, thiserror::Error)]
#[error("no connection within {0:?}")]
pub(crate) struct AllTaken(pub(crate) Duration);

/// What a failure to connect means: nothing was sent.
pub(crate) fn of_connecting(error: sqlx::Error) -> StoreError {
    StoreError::Unreachable(Box::new(error))
}

/// What a failed statement means, sent by itself.
pub(crate) fn of_statement(error: sqlx::Error) -> StoreError {
    match class(&error) {
        Class::NotApplied | Class::Stale => StoreError::NotApplied(Box::new(error)),
        Class::Unknown => StoreError::Unknown(Box::new(error)),
        Class::Unreachable => StoreError::Unreachable(Box::new(error)),
        Class::Schema => StoreError::Schema(Box::new(error)),
        Class::Corrupt | Class::Constraint => StoreError::Corrupt(Box::new(error)),
        Class::Data | Class::Unexpected => StoreError::Unexpected(Box::new(error)),
    }
}

/// What a failed statement means inside a transaction that was not committed.
pub(crate) fn before_commit(error: sqlx::Error) -> StoreError {
    undone(of_statement(error))
}

/// The same error, where whatever happened is undone because no commit was sent.
pub(crate) fn undone(error: StoreError) -> StoreError {
    if let StoreError::Unknown(source) = error { StoreError::NotApplied(source) } else { error }
}

/// What a failed statement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It had no effect, for a reason that passes.
    NotApplied,
    /// It had no effect, because of a plan or a prepared statement that is out of date.
    Stale,
    /// It may have had its effect.
    Unknown,
    /// It was not sent.
    Unreachable,
    /// Tables or columns are missing.
    Schema,
    /// The answer cannot be read.
    Corrupt,
    /// A constraint does not allow it (class 23).
    Constraint,
    /// A value does not fit (class 22).
    Data,
    /// Anything else.
    Unexpected,
}

/// Sorts an error of the driver.
pub(crate) fn class(error: &sqlx::Error) -> Class {
    use sqlx::Error as E;
    if let Some(database) = error.as_database_error() {
        return database.code().map_or(Class::Unexpected, |code| by_sqlstate(&code));
    }
    if matches!(error, E::PoolTimedOut | E::PoolClosed | E::Configuration(_)) {
        return Class::Unreachable;
    }
    if matches!(error, E::Io(_) | E::Tls(_) | E::Protocol(_) | E::WorkerCrashed) {
        return Class::Unknown;
    }
    // A value that could not be written down was not sent. The rest are answers that cannot be read.
    if matches!(error, E::Encode(_)) { Class::Unexpected } else { Class::Corrupt }
}

/// Sorts a SQLSTATE.
fn by_sqlstate(code: &str) -> Class {
    match code {
        // Serialization failure, deadlock, lock limit, statement limit.
        "40001" | "40P01" | "55P03" | "57014" => Class::NotApplied,
        // Read-only server; starting; the server ended an idle session before the statement.
        "25006" | "57P03" | "57P05" => Class::NotApplied,
        // The server ended the transaction, and the session with it.
        "25P03" | "25P04" => Class::NotApplied,
        // The next connection prepares it again.
        "0A000" | "26000" | "42P05" => Class::Stale,
        // "Statement completion unknown".
        "40003" => Class::Unknown,
        "42P01" | "42703" | "42704" | "3F000" => Class::Schema,
        _ => match code.get(..2) {
            Some("53") => Class::NotApplied,
            // Among these 57P01: a session that is ended while its commit waits for a standby has
            // committed all the same.
            Some("08" | "57") => Class::Unknown,
            Some("23") => Class::Constraint,
            Some("22") => Class::Data,
            Some(_) | None => Class::Unexpected,
        },
    }
}

/// Whether the connection that a statement failed on may be used again: the server refused the
/// statement and goes on with the session. One to a server that only reads does not count: after a
/// failover the same address leads to another server.
pub(crate) fn leaves_connection_sound(error: &sqlx::Error) -> bool {
    let Some(code) = error.as_database_error().and_then(|database| database.code()) else {
        return false;
    };
    let ends_session = matches!(code.get(..2), Some("08" | "53" | "XX")) || code.starts_with("57P");
    let ended = matches!(&*code, "25P03" | "25P04");
    let only_reads = &*code == "25006";
    !ends_session && !ended && !only_reads && by_sqlstate(&code) != Class::Stale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_a_refusal_for_now_is_not_applied_and_a_broken_line_is_unknown() {
        for code in ["40001", "40P01", "55P03", "57014", "25006", "57P03", "53300", "25P03", "25P04"] {
            assert_eq!(by_sqlstate(code), Class::NotApplied, "{code}");
        }
        for code in ["08006", "57P01", "57P02", "40003"] {
            assert_eq!(by_sqlstate(code), Class::Unknown, "{code}");
        }
        assert_eq!(class(&sqlx::Error::Io(std::io::ErrorKind::BrokenPipe.into())), Class::Unknown);
        assert_eq!(class(&sqlx::Error::PoolTimedOut), Class::Unreachable);
    }

    #[test]
    fn missing_tables_are_told_from_values_that_do_not_fit() {
        for code in ["42P01", "42703", "3F000"] {
            assert_eq!(by_sqlstate(code), Class::Schema, "{code}");
        }
        assert_eq!(by_sqlstate("23505"), Class::Constraint);
        assert_eq!(by_sqlstate("22P02"), Class::Data);
        assert_eq!(by_sqlstate("42501"), Class::Unexpected);
    }
}
