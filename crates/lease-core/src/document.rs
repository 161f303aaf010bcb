//! A JSON object that any store can keep: what runs get as input and steps leave as receipts.
//!
//! Checked once, when it is made, so that no store has to refuse it later in words of its own:
//! numbers stay digit for digit, and what PostgreSQL's `jsonb` cannot hold is refused here with the
//! path of the field.

use std::fmt;

use serde_json::{Map, Value};

/// A JSON object of at most 1 MiB and 64 levels, with no NUL character in any string and no number
/// whose exponent is beyond ±1,000 or that has more than 4,096 digits. A number with an exponent
/// counts with all its digits written out, as stores give it back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document(Map<String, Value>);

/// Why a value cannot be a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct DocumentError {
    /// Where, like `contact.phones[2]`; `.` for the whole value.
    pub path: String,
    /// What is wrong there.
    pub problem: DocumentProblem,
}

/// What a document may not be or hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentProblem {
    /// The outermost value is something else.
    #[error("not a JSON object")]
    NotAnObject,
    /// Text that is no JSON.
    #[error("not valid JSON: {0}")]
    NotJson(String),
    /// More than 64 levels.
    #[error("nested more than {} levels deep", Document::MAX_DEPTH)]
    TooDeep,
    /// More than 1 MiB as text.
    #[error("larger than {} bytes", Document::MAX_BYTES)]
    TooLarge,
    /// `\u0000`, which PostgreSQL cannot store.
    #[error("holds a NUL character (\\u0000)")]
    Nul,
    /// An exponent that no store keeps exactly.
    #[error("number with an exponent beyond {}", Document::MAX_EXPONENT)]
    Exponent,
    /// More digits than every store keeps.
    #[error("number of more than {} digits", Document::MAX_DIGITS)]
    Digits,
}

impl Document {
    /// The most a document may take as compact JSON text, in bytes.
    pub const MAX_BYTES: usize = 1024 * 1024;
    /// The deepest nesting, the outermost object being level 1.
    pub const MAX_DEPTH: usize = 64;
    /// The largest power of ten in a number, either way.
    pub const MAX_EXPONENT: i64 = 1_000;
    /// The most digits in a number, written out without an exponent. (PostgreSQL's `jsonb` keeps
    /// 16,383 after the point.)
    pub const MAX_DIGITS: usize = 4_096;

    /// Checks an object.
    ///
    /// # Errors
    /// With the path of the first field that cannot be kept.
    pub fn new(fields: Map<String, Value>) -> Result<Self, DocumentError> {
        let mut path = Vec::new();
        check_object(&fields, &mut path).map_err(|problem| at(&path, problem))?;
        let size = serde_json::to_string(&fields).map_or(usize::MAX, |text| text.len());
        let written_out: usize = fields.values().map(written_out).sum();
        if size.saturating_add(written_out) > Self::MAX_BYTES {
            return Err(at(&[], DocumentProblem::TooLarge));
        }
        Ok(Self(fields))
    }

    /// Checks a value.
    ///
    /// # Errors
    /// When it is not an object, or as [`Document::new`] says.
    pub fn from_value(value: Value) -> Result<Self, DocumentError> {
        match value {
            Value::Object(fields) => Self::new(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(at(&[], DocumentProblem::NotAnObject))
            }
        }
    }

    /// Reads JSON text.
    ///
    /// # Errors
    /// When it is not JSON, or as [`Document::from_value`] says.
    pub fn from_json(text: &[u8]) -> Result<Self, DocumentError> {
        if text.len() > 2 * Self::MAX_BYTES {
            return Err(at(&[], DocumentProblem::TooLarge));
        }
        if let Some(path) = too_deep(text) {
            return Err(DocumentError { path, problem: DocumentProblem::TooDeep });
        }
        match serde_json::from_slice(text) {
            Ok(value) => Self::from_value(value),
            Err(error) => Err(at(&[], DocumentProblem::NotJson(error.to_string()))),
        }
    }

    /// The fields.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The fields, taken out.
    #[must_use]
    pub fn into_fields(self) -> Map<String, Value> {
        self.0
    }

    /// Compact JSON text with sorted keys: the same document always gives the same text.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).expect("a map with string keys is always JSON")
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

/// One step of a path, kept only while the walk is below it.
#[derive(Clone)]
enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

fn at(path: &[Step<'_>], problem: DocumentProblem) -> DocumentError {
    DocumentError { path: show(path), problem }
}

fn show(path: &[Step<'_>]) -> String {
    const SHOWN_STEPS: usize = 12;
    let mut text = String::new();
    for step in path.iter().take(SHOWN_STEPS) {
        match step {
            Step::Field(name) if text.is_empty() => text.push_str(&name.replace('\0', "\\u0000")),
            Step::Field(name) => {
                text.push('.');
                text.push_str(&name.replace('\0', "\\u0000"));
            }
            Step::Item(index) => text.push_str(&format!("[{index}]")),
        }
    }
    if path.len() > SHOWN_STEPS {
        text.push('…');
    }
    if text.is_empty() { ".".to_owned() } else { text }
}

fn check_object<'a>(fields: &'a Map<String, Value>, path: &mut Vec<Step<'a>>) -> Result<(), DocumentProblem> {
    if path.len() >= Document::MAX_DEPTH {
        return Err(DocumentProblem::TooDeep);
    }
    for (name, value) in fields {
        path.push(Step::Field(name));
        if name.contains('\0') {
            return Err(DocumentProblem::Nul);
        }
        check(value, path)?;
        path.pop();
    }
    Ok(())
}

fn check<'a>(value: &'a Value, path: &mut Vec<Step<'a>>) -> Result<(), DocumentProblem> {
    match value {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::String(text) if text.contains('\0') => Err(DocumentProblem::Nul),
        Value::String(_) => Ok(()),
        Value::Number(number) => check_number(&number.to_string()),
        Value::Object(fields) => check_object(fields, path),
        Value::Array(items) => {
            if path.len() >= Document::MAX_DEPTH {
                return Err(DocumentProblem::TooDeep);
            }
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Item(index));
                check(item, path)?;
                path.pop();
            }
            Ok(())
        }
    }
}

fn check_number(number: &str) -> Result<(), DocumentProblem> {
    let (_, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let power: i64 = exponent.parse().map_err(|_| DocumentProblem::Exponent)?;
    if !(-Document::MAX_EXPONENT..=Document::MAX_EXPONENT).contains(&power) {
        return Err(DocumentProblem::Exponent);
    }
    let fits = number.len().saturating_add(longer_written_out(number)) <= Document::MAX_DIGITS;
    if fits { Ok(()) } else { Err(DocumentProblem::Digits) }
}

/// How much longer a number gets, at most, where it is written out without its exponent.
fn longer_written_out(number: &str) -> usize {
    let power = number.split_once(['e', 'E']).and_then(|(_, power)| power.parse::<i64>().ok());
    power.map_or(0, |power| usize::try_from(power.unsigned_abs()).unwrap_or(usize::MAX))
}

/// How much longer the text gets, at most, where its numbers are written out.
fn written_out(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => 0,
        Value::Number(number) => longer_written_out(&number.to_string()),
        Value::Object(fields) => fields.values().map(written_out).sum(),
        Value::Array(items) => items.iter().map(written_out).sum(),
    }
}

/// The path at which JSON text goes below the deepest level, found without recursion: the parser's
/// own limit names no field.
fn too_deep(text: &[u8]) -> Option<String> {
    let mut path: Vec<(Option<String>, usize)> = Vec::new();
    let mut string_start = None;
    let mut last_string = None;
    let mut escaped = false;
    for (position, &byte) in text.iter().enumerate() {
        if let Some(start) = string_start {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    last_string = text.get(start..position);
                    string_start = None;
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string_start = Some(position + 1),
            b':' => {
                let name = last_string.map(|name| String::from_utf8_lossy(name).into_owned());
                if let Some((field, _)) = path.last_mut() {
                    *field = name;
                }
            }
            b',' => {
                if let Some((field, index)) = path.last_mut() {
                    *field = None;
                    *index += 1;
                }
            }
            b'{' | b'[' if path.len() == Document::MAX_DEPTH => {
                let steps: Vec<Step<'_>> = path
                    .iter()
                    .map(|(field, index)| field.as_deref().map_or(Step::Item(*index), Step::Field))
                    .collect();
                return Some(show(&steps));
            }
            b'{' | b'[' => path.push((None, 0)),
            b'}' | b']' => {
                path.pop();
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> DocumentError {
        Document::from_json(text.as_bytes()).unwrap_err()
    }

    /// Case 25: NUL, a number past 2^53, deep nesting.
    #[test]
    fn case_25_what_a_store_cannot_keep_is_refused_with_its_path() {
        let nul = problem(r#"{"contact": {"names": ["a", "b\u0000"]}}"#);
        assert_eq!((nul.path.as_str(), nul.problem), ("contact.names[1]", DocumentProblem::Nul));
        let key = problem(r#"{"a\u0000b": 1}"#);
        assert_eq!(key.problem, DocumentProblem::Nul);
        let huge = problem(r#"{"n": 1e200000}"#);
        assert_eq!((huge.path.as_str(), huge.problem), ("n", DocumentProblem::Exponent));
        let deep = problem(&format!(r#"{{"tags": {}{}}}"#, "[".repeat(10_000), "]".repeat(10_000)));
        assert_eq!(deep.problem, DocumentProblem::TooDeep);
        assert!(deep.path.starts_with("tags[0][0]"), "{}", deep.path);
        assert_eq!(problem("[1]").problem, DocumentProblem::NotAnObject);
        assert!(matches!(problem("{").problem, DocumentProblem::NotJson(_)));
    }

    /// A store may give a number back written out. That, too, has to be a document.
    #[test]
    fn case_25_a_document_fits_with_its_numbers_written_out() {
        let digits = problem(&format!(r#"{{"n": [{}]}}"#, "1".repeat(5_000)));
        assert_eq!((digits.path.as_str(), digits.problem), ("n[0]", DocumentProblem::Digits));
        assert_eq!(
            problem(&format!(r#"{{"n": 0.{}e-999}}"#, "1".repeat(4_000))).problem,
            DocumentProblem::Digits
        );
        let written_out =
            |number: &str, count: usize| format!(r#"{{"n":[{}]}}"#, vec![number; count].join(","));
        assert_eq!(problem(&written_out("1e1000", 2_000)).problem, DocumentProblem::TooLarge);
        for (number, plain) in [("1e1000", format!("1{}", "0".repeat(1_000))), ("-1e-3", "-0.001".to_owned())]
        {
            assert!(Document::from_json(written_out(number, 1_000).as_bytes()).is_ok());
            assert!(Document::from_json(written_out(&plain, 1_000).as_bytes()).is_ok());
        }
    }

    #[test]
    fn case_25_numbers_stay_digit_for_digit() {
        let text = r#"{"a":9007199254740993,"b":12345678901234567890123,"c":0.10}"#;
        assert_eq!(Document::from_json(text.as_bytes()).unwrap().to_json(), text);
    }

    #[test]
    fn the_deepest_allowed_nesting_is_kept_both_ways() {
        let levels = Document::MAX_DEPTH - 1;
        let fits = format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let document = Document::from_json(fits.as_bytes()).unwrap();
        assert!(Document::new(document.into_fields()).is_ok());
        let over = format!(r#"{{"a":{}{}}}"#, "[".repeat(levels + 1), "]".repeat(levels + 1));
        assert_eq!(problem(&over).problem, DocumentProblem::TooDeep);
        let value: Value = serde_json::from_str(&over).unwrap();
        assert_eq!(Document::from_value(value).unwrap_err().problem, DocumentProblem::TooDeep);
    }

    #[test]
    fn a_document_over_one_mebibyte_is_refused() {
        let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(Document::MAX_BYTES));
        assert_eq!(problem(&text).problem, DocumentProblem::TooLarge);
    }
}
