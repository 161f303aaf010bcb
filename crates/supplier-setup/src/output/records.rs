//! What is wrong with records, and what became of the good ones: the JSON of `submit` and `check`.

use serde::Serialize;
use supplier_runner::supplier::{Invalid, Reading, Warning};

use super::plain::{count, plain};
use crate::error::chain;

/// The field under which a whole file is named in a list of bad records.
const WHOLE_FILE: &str = "file";

/// The result of `submit`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SubmitDocument {
    /// The runs, in the files' order.
    pub(crate) submitted: Vec<SubmittedRecord>,
    /// Every bad field of every bad record, and every key that exists with other content.
    pub(crate) invalid: Vec<Invalid>,
}

/// A record that has a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SubmittedRecord {
    /// The supplier's key.
    pub(crate) key: String,
    /// Its run.
    pub(crate) run: String,
    /// Whether the run is new.
    pub(crate) outcome: SubmitOutcome,
}

/// Whether a run is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SubmitOutcome {
    /// It was opened now.
    Opened,
    /// It was there, with the same content.
    Existing,
}

/// The result of `check`.
#[derive(Debug, Serialize)]
pub(crate) struct CheckDocument<'a> {
    /// How many records are good.
    pub(crate) records: usize,
    /// Every bad field of every bad record.
    pub(crate) invalid: Vec<Invalid>,
    /// What was unexpected.
    pub(crate) warnings: &'a [Warning],
}

impl SubmitOutcome {
    /// The word shown.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Existing => "existing",
        }
    }
}

/// Everything that is wrong in a reading. A file that could not be read stands at line 0.
pub(crate) fn all_invalid(reading: &Reading) -> Vec<Invalid> {
    let files = reading.unreadable.iter().map(|unreadable| Invalid {
        file: unreadable.file.clone(),
        line: 0,
        field: WHOLE_FILE.to_owned(),
        error: chain(&unreadable.problem),
    });
    reading.invalid.iter().cloned().chain(files).collect()
}

/// One bad field, as text.
pub(crate) fn invalid_line(invalid: &Invalid) -> String {
    if invalid.line == 0 {
        return plain(&format!("{}: cannot be read: {}", invalid.file, invalid.error));
    }
    plain(&invalid.to_string())
}

/// One unexpected thing, as text.
pub(crate) fn warning_line(warning: &Warning) -> String {
    plain(&format!("warning: {warning}"))
}

/// What the bad records come to.
pub(crate) fn invalid_total(invalid: &[Invalid], submitted_rest: bool) -> String {
    let errors = u64::try_from(invalid.len()).unwrap_or(u64::MAX);
    let errors = count(errors, "error", "errors");
    let rest = if submitted_rest {
        "the good records were taken"
    } else {
        "nothing was submitted; correct the records, or give --skip-invalid to take the good ones"
    };
    format!("{errors} in the records; {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_field_is_named_by_file_line_and_field() {
        let invalid =
            Invalid { file: "a.csv".into(), line: 7, field: "iban".into(), error: "is \u{1b} wrong".into() };
        assert_eq!(invalid_line(&invalid), "a.csv:7: iban: is \\u{1b} wrong");
        let json =
            serde_json::to_string(&SubmitDocument { submitted: vec![], invalid: vec![invalid] }).unwrap();
        assert_eq!(
            json,
            r#"{"submitted":[],"invalid":[{"file":"a.csv","line":7,"field":"iban","error":"is \u001b wrong"}]}"#
        );
    }
}
