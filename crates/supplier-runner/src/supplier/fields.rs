//! Takes a record's own fields out of a JSON object, gathering every error on the way.
//!
//! Blank text and null stand for an absent value. At most one error is gathered per field.

use serde_json::{Map, Value};

use super::value_error::{FieldError, ValueError};

/// The names of a record's own fields, required ones first, as a CSV header would have them.
pub const FIELD_NAMES: [&str; 13] = [
    "key",
    "legal_name",
    "country",
    "tax_id",
    "iban",
    "bic",
    "currency",
    "email",
    "lei",
    "payment_terms_days",
    "spending_limit",
    "contact",
    "categories",
];

/// How many of [`FIELD_NAMES`] are required.
const REQUIRED: usize = 8;

/// The names of the fields that every record has.
#[must_use]
pub fn required_field_names() -> &'static [&'static str] {
    &FIELD_NAMES[..REQUIRED]
}

/// An object being read.
pub(super) struct Fields<'a> {
    input: &'a Map<String, Value>,
    errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(input: &'a Map<String, Value>) -> Self {
        Self { input, errors: Vec::new() }
    }

    /// A value that must be there.
    pub(super) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        match text(self.input.get(name)) {
            Ok(Some(text)) => self.gather(name, read(text)),
            Ok(None) => self.gather(name, Err(ValueError::Missing)),
            Err(error) => self.gather(name, Err(error)),
        }
    }

    /// A value that may be absent.
    pub(super) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        match text(self.input.get(name)) {
            Ok(Some(text)) => self.gather(name, read(text)),
            Ok(None) => None,
            Err(error) => self.gather(name, Err(error)),
        }
    }

    /// A value that may be absent, and may be a JSON number.
    pub(super) fn optional_number<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        match self.input.get(name) {
            Some(Value::Number(number)) => self.gather(name, read(&number.to_string())),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                self.gather(name, Err(ValueError::WrongKind("a number, or text with one")))
            }
            Some(Value::Null | Value::String(_)) | None => self.optional(name, read),
        }
    }

    /// A list: an array of text, or one text with `;` between the entries.
    pub(super) fn list(&mut self, name: &'static str) -> Option<Vec<&'a str>> {
        const KIND: ValueError = ValueError::WrongKind("a list of text, or text with ; between");
        match self.input.get(name) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::String(text)) => Some(text.split(';').collect()),
            Some(Value::Array(entries)) => {
                let words: Option<Vec<&str>> = entries.iter().map(Value::as_str).collect();
                self.gather(name, words.ok_or(KIND))
            }
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => self.gather(name, Err(KIND)),
        }
    }

    /// The value, or its error kept for later.
    pub(super) fn gather<T>(&mut self, path: impl Into<String>, value: Result<T, ValueError>) -> Option<T> {
        value.map_err(|error| self.errors.push(FieldError::new(path, error))).ok()
    }

    /// Keeps errors found elsewhere.
    pub(super) fn extend(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    /// All that was gathered.
    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }
}

/// The text of a value that must be text; none if it is absent, null or blank.
fn text(value: Option<&Value>) -> Result<Option<&str>, ValueError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(ValueError::WrongKind("text, in quotes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_blank_a_null_and_no_value_are_all_absent() {
        let input = json!({"a": "  ", "b": null});
        let mut fields = Fields::new(input.as_object().unwrap());
        for name in ["a", "b", "c"] {
            assert_eq!(fields.optional(name, |text| Ok(text.to_owned())), None);
            assert_eq!(fields.required(name, |text| Ok(text.to_owned())), None);
        }
        let errors = fields.into_errors();
        assert_eq!(errors.len(), 3);
        assert!(errors.iter().all(|error| error.error == ValueError::Missing));
    }

    #[test]
    fn numbers_are_taken_only_where_they_are_meant() {
        let input = json!({"days": 30, "iban": 12, "list": [1]});
        let mut fields = Fields::new(input.as_object().unwrap());
        assert_eq!(fields.optional_number("days", |t| Ok(t.to_owned())).as_deref(), Some("30"));
        assert_eq!(fields.required("iban", |t| Ok(t.to_owned())), None);
        assert_eq!(fields.list("list"), None);
        let messages: Vec<_> = fields.into_errors().iter().map(ToString::to_string).collect();
        assert_eq!(messages[0], "iban: must be text, in quotes");
        assert_eq!(messages[1], "list: must be a list of text, or text with ; between");
    }
}
