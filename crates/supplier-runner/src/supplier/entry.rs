//! One record as a file has it, before its values are checked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::report::{ReadProblem, WHOLE_RECORD};

/// Something wrong in a file, found before any value was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) line: u64,
    pub(super) field: String,
    pub(super) error: String,
}

impl Found {
    pub(super) fn new(line: u64, field: impl Into<String>, error: impl Into<String>) -> Self {
        Self { line, field: field.into(), error: error.into() }
    }

    pub(super) fn record(line: u64, error: impl Into<String>) -> Self {
        Self::new(line, WHOLE_RECORD, error)
    }
}

/// A record's place in a file.
#[derive(Debug, PartialEq)]
pub(super) enum Entry {
    /// A record, with what is wrong with it so far.
    Record(Raw),
    /// No record can be made out.
    Broken(Found),
}

/// A record's values as given.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Raw {
    /// The line that it begins on.
    pub(super) line: u64,
    pub(super) fields: Map<String, Value>,
    /// The lines of fields, where they are known to differ from the record's.
    pub(super) lines: BTreeMap<String, u64>,
    /// Where the names of the fields stand, if they stand in one place for all records.
    pub(super) header_line: Option<u64>,
    pub(super) problems: Vec<Found>,
}

/// The records of one file, in order.
pub(super) trait Entries {
    /// The next record; `None` at the end.
    fn next_entry(&mut self) -> Result<Option<Entry>, ReadProblem>;
}
