//! Why a run failed, as it is kept on the run and shown to operators.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::phase::PhaseName;
use crate::text::cut;

/// The longest message kept, in bytes.
const MESSAGE_LIMIT: usize = 4 * 1024;

/// What sort of failure: a short word, open for sorts of the caller's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FailureKind(String);

/// A failed phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The phase that could not be saved.
    pub phase: PhaseName,
    /// What sort of failure.
    pub kind: FailureKind,
    /// In words. At most 4 KiB, without NUL.
    pub message: String,
    /// How often the phase was tried and failed, this time included.
    pub attempts: u32,
}

impl FailureKind {
    /// The step said no, or gave up.
    pub const STEP: &'static str = "step";
    /// The step was still running at its time limit.
    pub const TIMEOUT: &'static str = "timeout";
    /// The run's input is wrong; trying again cannot help.
    pub const INPUT: &'static str = "input";
    /// The run kept losing its workers.
    pub const SET_ASIDE: &'static str = "set_aside";
    /// A person rejected it.
    pub const REJECTED: &'static str = "rejected";
    /// The run's fencing token stands at its top.
    pub const FENCE_EXHAUSTED: &'static str = "fence_exhausted";

    /// The kind with this word. Anything but letters, digits and `_` becomes `_`, and it is cut at
    /// 64 bytes.
    #[must_use]
    pub fn new(word: &str) -> Self {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        Self(word.chars().take(64).map(plain).collect())
    }

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Failure {
    /// A failure with a message that any store can keep: NUL is replaced and what is past 4 KiB is
    /// cut off, since an error must not get lost for its wording.
    #[must_use]
    pub fn new(phase: PhaseName, kind: &str, message: &str, attempts: u32) -> Self {
        Self { phase, kind: FailureKind::new(kind), message: cut(message, MESSAGE_LIMIT), attempts }
    }

    /// `{"phase", "kind", "message", "attempts"}`.
    #[must_use]
    pub fn to_document(&self) -> Document {
        let mut fields = Map::new();
        fields.insert("phase".to_owned(), json!(self.phase.as_str()));
        fields.insert("kind".to_owned(), json!(self.kind.as_str()));
        fields.insert("message".to_owned(), json!(self.message));
        fields.insert("attempts".to_owned(), json!(self.attempts));
        Document::new(fields).expect("a failure's fields are short, flat and without NUL")
    }

    /// The failure in a document written by [`Failure::to_document`]; `None` for another one.
    #[must_use]
    pub fn from_document(document: &Document) -> Option<Self> {
        let text = |name: &str| document.fields().get(name).and_then(Value::as_str);
        let attempts = document.fields().get("attempts").and_then(Value::as_u64)?;
        Some(Self {
            phase: PhaseName::new(text("phase")?).ok()?,
            kind: FailureKind::new(text("kind")?),
            message: text("message")?.to_owned(),
            attempts: u32::try_from(attempts).ok()?,
        })
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed at {}: {}", self.kind, self.phase, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_survives_being_written_and_read_whatever_its_message() {
        let phase = PhaseName::new("screened").unwrap();
        let message = format!("a\0b{}", "é".repeat(5_000));
        let failure = Failure::new(phase, FailureKind::STEP, &message, 3);
        assert!(failure.message.len() <= MESSAGE_LIMIT + '…'.len_utf8());
        assert_eq!(Failure::from_document(&failure.to_document()), Some(failure));
        assert_eq!(Failure::from_document(&Document::default()), None);
    }
}
