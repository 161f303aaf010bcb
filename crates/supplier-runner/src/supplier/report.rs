//! What a reading has to say: where records stand, what is wrong with them, what was unexpected, and
//! which files could not be read at all.

use std::fmt;
use std::io;

use serde::Serialize;

use super::limits::{MAX_FILE_BYTES, MAX_RECORDS};

/// The field that stands for a record as a whole.
pub(super) const WHOLE_RECORD: &str = "record";
/// The field that stands for a CSV file's header as a whole.
pub(super) const WHOLE_HEADER: &str = "header";

/// Something read, with where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced<T> {
    /// What was read.
    pub value: T,
    /// The file's name as it was given; `<stdin>` for standard input.
    pub file: String,
    /// The line that it begins on, from 1.
    pub line: u64,
}

/// One bad field of one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invalid {
    /// The file's name.
    pub file: String,
    /// The line, from 1: the field's own in JSON, the record's first in CSV and NDJSON.
    pub line: u64,
    /// The field's path; `record` for the whole record, `header` for a CSV file's header.
    pub field: String,
    /// What is wrong: a fragment that stands after the field.
    pub error: String,
}

/// Something unexpected that stops nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The field's name.
    pub field: String,
    /// What is unexpected: a fragment that stands after the field.
    pub warning: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, field, error } = self;
        write!(f, "{file}:{line}: {field}: {error}")
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, field, warning } = self;
        write!(f, "{file}:{line}: {field}: {warning}")
    }
}

/// A file that could not be read, or not to its end.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {file}")]
pub struct ReadError {
    /// The file's name as it was given; `<stdin>` for standard input.
    pub file: String,
    /// Why.
    #[source]
    pub problem: ReadProblem,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// The operating system's reason.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The extension says nothing.
    #[error("its name does not tell the format: name it .csv, .json or .ndjson, or give --format")]
    UnknownFormat,
    /// Standard input has no name that could tell the format.
    #[error("give its format: --format csv, json or ndjson")]
    StdinWithoutFormat,
    /// Text that is not UTF-8 from its first bytes on.
    #[error("it is UTF-16 text: save it as UTF-8")]
    Utf16,
    /// The file is too large.
    #[error("it is larger than {MAX_FILE_BYTES} bytes: split it")]
    TooLarge,
    /// Too many records, counted over all files of a reading.
    #[error("there are more than {MAX_RECORDS} records: submit them in parts")]
    TooManyRecords,
}
