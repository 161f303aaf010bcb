//! Fields that a record has beside its own: kept as given, and passed on to the steps.
//!
//! Text and names become NFC; numbers stay digit for digit. What the database could not keep is
//! refused here with its path: NUL characters, nesting past 64 levels, extreme numbers (case 25).

use serde_json::{Map, Number, Value};

use super::fields::FIELD_NAMES;
use super::limits::{MAX_DEPTH, MAX_NUMBER_CHARS, MAX_NUMBER_EXPONENT};
use super::path::Path;
use super::text::nfc;
use super::value_error::{FieldError, ValueError};

/// The object's fields that are not a record's own; with at most one error per field.
pub(super) fn keep(input: &Map<String, Value>) -> Result<Map<String, Value>, Vec<FieldError>> {
    let mut kept = Map::new();
    let mut errors = Vec::new();
    for (name, value) in input {
        if FIELD_NAMES.contains(&name.as_str()) {
            continue;
        }
        let mut path = Path::default();
        let name = nfc(name);
        path.enter_name(&name);
        let value = keep_name(&name, &path).and_then(|()| keep_value(value, &mut path, 2));
        match value {
            Ok(value) if !kept.contains_key(&name) => drop(kept.insert(name, value)),
            Ok(_) => errors.push(path.error(ValueError::GivenTwice)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(kept) } else { Err(errors) }
}

/// `depth` is the level that the value would have if it were an object or array.
fn keep_value(value: &Value, path: &mut Path, depth: usize) -> Result<Value, FieldError> {
    if depth > MAX_DEPTH && (value.is_array() || value.is_object()) {
        return Err(path.error(ValueError::TooDeep));
    }
    match value {
        Value::Null | Value::Bool(_) => Ok(value.clone()),
        Value::Number(number) if is_storable(number) => Ok(value.clone()),
        Value::Number(_) => Err(path.error(ValueError::NumberTooLong)),
        Value::String(text) if text.contains('\0') => Err(path.error(ValueError::Nul)),
        Value::String(text) => Ok(Value::String(nfc(text))),
        Value::Array(entries) => {
            let mut kept = Vec::with_capacity(entries.len());
            for (place, entry) in entries.iter().enumerate() {
                let mark = path.enter_place(place);
                kept.push(keep_value(entry, path, depth + 1)?);
                path.leave(mark);
            }
            Ok(Value::Array(kept))
        }
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, field) in fields {
                let name = nfc(name);
                let mark = path.enter_name(&name);
                keep_name(&name, path)?;
                let field = keep_value(field, path, depth + 1)?;
                if kept.insert(name, field).is_some() {
                    return Err(path.error(ValueError::GivenTwice));
                }
                path.leave(mark);
            }
            Ok(Value::Object(kept))
        }
    }
}

fn keep_name(name: &str, path: &Path) -> Result<(), FieldError> {
    if name.contains('\0') { Err(path.error(ValueError::Nul)) } else { Ok(()) }
}

/// Whether a number fits a database's decimal type whatever its exponent.
fn is_storable(number: &Number) -> bool {
    let text = number.to_string();
    let exponent = match text.split_once(['e', 'E']) {
        None => Some(0),
        Some((_, exponent)) => exponent.parse::<i32>().ok().map(i32::unsigned_abs),
    };
    text.len() <= MAX_NUMBER_CHARS && exponent.is_some_and(|size| size <= MAX_NUMBER_EXPONENT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keep_json(value: &Value) -> Result<Map<String, Value>, Vec<String>> {
        let errors = |errors: Vec<FieldError>| errors.iter().map(ToString::to_string).collect();
        keep(value.as_object().unwrap()).map_err(errors)
    }

    #[test]
    fn own_fields_are_left_out_and_text_becomes_nfc() {
        let kept = keep_json(&json!({"iban": "x", "note\u{301}": ["e\u{301}", {"a": null}]}));
        assert_eq!(kept, Ok(json!({"noté": ["é", {"a": null}]}).as_object().unwrap().clone()));
    }

    #[test]
    fn what_cannot_be_stored_is_refused_with_its_path_case_25() {
        let mut deep = json!(1);
        for _ in 0..64 {
            deep = json!([deep]);
        }
        let huge: Value = serde_json::from_str("1e99999").unwrap();
        let errors = keep_json(&json!({
            "a": {"b": ["x", "nul\0"]}, "b": {"n\0": 1}, "deep": deep, "huge": [huge],
        }));
        let errors = errors.unwrap_err();
        assert_eq!(errors[0], "a.b[1]: holds a NUL character (\\u0000)");
        assert_eq!(errors[1], "b.n\\u{0}: holds a NUL character (\\u0000)");
        assert!(errors[2].starts_with("deep[0][0]"), "{}", errors[2]);
        assert!(errors[2].ends_with("is nested more than 64 levels deep"));
        assert!(errors[3].starts_with("huge[0]: is a number with"));
        assert_eq!(errors.len(), 4);
    }

    #[test]
    fn numbers_past_2_to_the_53_stay_exact_case_25() {
        let text = r#"{"big": 9007199254740993, "long": 0.12345678901234567890123}"#;
        let kept = keep_json(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(kept["big"].to_string(), "9007199254740993");
        assert_eq!(kept["long"].to_string(), "0.12345678901234567890123");
    }

    #[test]
    fn names_that_only_differ_in_composition_are_one_name() {
        let errors = keep_json(&json!({"e\u{301}": 1, "é": 2})).unwrap_err();
        assert_eq!(errors, ["é: is given twice"]);
    }
}
