//! One record from JSON text (RFC 8259), with the lines of its fields.
//!
//! Stricter than `serde_json`: a name given twice is refused by its path, and so is nesting past the
//! limit, which costs no stack however deep it goes (case 25). Numbers stay digit for digit. Strings
//! and numbers themselves are read by `serde_json`.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::entry::{Entry, Found, Raw};
use super::limits::MAX_DEPTH;
use super::path::Path;
use super::value_error::{ValueError, quoted};

/// Reads the record that begins on `line`.
pub(super) fn read_record(bytes: &[u8], line: u64) -> Entry {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = line + newlines(&bytes[..error.valid_up_to()]);
            return Entry::Broken(Found::record(line, "is not valid UTF-8"));
        }
    };
    let mut scanner =
        Scanner { text, at: 0, line, path: Path::default(), lines: BTreeMap::new(), problems: Vec::new() };
    match scanner.record() {
        Ok(fields) => {
            let Scanner { lines, problems, .. } = scanner;
            Entry::Record(Raw { line, fields, lines, problems, header_line: None })
        }
        Err(Syntax(error)) => Entry::Broken(Found::record(scanner.line, error)),
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

/// Text that is no JSON: what is wrong where the scanner stands.
struct Syntax(String);

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: u64,
    path: Path,
    lines: BTreeMap<String, u64>,
    problems: Vec<Found>,
}

impl<'a> Scanner<'a> {
    fn record(&mut self) -> Result<Map<String, Value>, Syntax> {
        self.skip_space();
        if self.peek() != Some(b'{') {
            return Err(Syntax("is not a JSON object".to_owned()));
        }
        let fields = self.object(1)?;
        self.skip_space();
        match self.peek() {
            None => Ok(fields),
            Some(_) => Err(self.unexpected("the record's end")),
        }
    }

    /// `depth` is the level that the value would have if it were an object or array.
    fn value(&mut self, depth: usize) -> Result<Value, Syntax> {
        match self.peek() {
            Some(b'{' | b'[') if depth > MAX_DEPTH => {
                self.report(ValueError::TooDeep);
                self.skip_nested()?;
                Ok(Value::Null)
            }
            Some(b'{') => self.object(depth).map(Value::Object),
            Some(b'[') => self.array(depth).map(Value::Array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(_) | None => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Map<String, Value>, Syntax> {
        let mut fields = Map::new();
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(fields);
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a field's name in quotes"));
            }
            let line = self.line;
            let name = self.string()?;
            let mark = self.path.enter_name(&name);
            self.skip_space();
            self.expect(b':', "a colon")?;
            self.skip_space();
            if fields.contains_key(&name) {
                self.report(ValueError::GivenTwice);
                self.value(depth + 1)?;
            } else {
                if depth == 1 {
                    self.lines.insert(name.clone(), line);
                }
                let value = self.value(depth + 1)?;
                fields.insert(name, value);
            }
            self.path.leave(mark);
            self.skip_space();
            if self.take(b'}') {
                return Ok(fields);
            }
            self.expect(b',', "a comma or }")?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Value>, Syntax> {
        let mut entries = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(entries);
        }
        loop {
            self.skip_space();
            let mark = self.path.enter_place(entries.len());
            entries.push(self.value(depth + 1)?);
            self.path.leave(mark);
            self.skip_space();
            if self.take(b']') {
                return Ok(entries);
            }
            self.expect(b',', "a comma or ]")?;
        }
    }

    fn string(&mut self) -> Result<String, Syntax> {
        let start = self.at;
        self.skip_string()?;
        serde_json::from_str(&self.text[start..self.at]).map_err(|_| {
            Syntax(self.located("has text with a line break, control character or wrong escape"))
        })
    }

    fn number(&mut self) -> Result<Number, Syntax> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let digits = &rest[..end.unwrap_or(rest.len())];
        match serde_json::from_str(digits) {
            Ok(number) => {
                self.at += digits.len();
                Ok(number)
            }
            Err(_) => {
                Err(Syntax(self.located(&format!("has {:?}, which is no JSON number", quoted(digits)))))
            }
        }
    }

    fn word(&mut self) -> Result<Value, Syntax> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let value = match &rest[..end] {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "" => return Err(self.unexpected("a value")),
            word => {
                let error = format!("has {:?}, which is no JSON value", quoted(word));
                return Err(Syntax(self.located(&error)));
            }
        };
        self.at += end;
        Ok(value)
    }

    /// Passes over an object or array without reading it, by counting brackets.
    fn skip_nested(&mut self) -> Result<(), Syntax> {
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return Err(self.unexpected("a closing bracket")),
                Some(b'"') => self.skip_string()?,
                Some(byte) => {
                    self.line += u64::from(byte == b'\n');
                    self.at += 1;
                    match byte {
                        b'{' | b'[' => open += 1,
                        b'}' | b']' => open -= 1,
                        _ => {}
                    }
                }
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Passes over a string, to behind its closing quote.
    fn skip_string(&mut self) -> Result<(), Syntax> {
        let mut escaped = false;
        for (place, byte) in self.text.as_bytes()[self.at..].iter().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at += place + 1;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(Syntax(self.located("has a quote that is not closed")))
    }

    fn skip_space(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.line += u64::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, name: &str) -> Result<(), Syntax> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(name)) }
    }

    fn report(&mut self, error: ValueError) {
        self.problems.push(Found::new(self.line, self.path.shown(), error.to_string()));
    }

    fn unexpected(&self, expected: &str) -> Syntax {
        let found = match self.text[self.at..].chars().next() {
            Some(character) => format!("{character:?}"),
            None => "nothing".to_owned(),
        };
        Syntax(self.located(&format!("has {found} in place of {expected}")))
    }

    /// An error with the field that it stands in, if any.
    fn located(&self, error: &str) -> String {
        match self.path.shown().as_str() {
            "" => error.to_owned(),
            path => format!("{error} (in {path})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        match read_record(text.as_bytes(), 1) {
            Entry::Record(raw) => raw,
            Entry::Broken(found) => panic!("{found:?}"),
        }
    }

    fn broken(text: &[u8]) -> (u64, String) {
        match read_record(text, 1) {
            Entry::Record(raw) => panic!("{raw:?}"),
            Entry::Broken(found) => (found.line, found.error),
        }
    }

    #[test]
    fn what_serde_json_reads_is_read_the_same_with_lines() {
        let text = "{\"a\": [1, -2.50, {\"b\": null}, []],\n\n \"c\": \"\\u00e9\\n\",\"d\":{},\n\"e\":true}";
        let raw = raw(text);
        assert_eq!(Value::Object(raw.fields), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(raw.lines.into_values().collect::<Vec<_>>(), [1, 3, 3, 4]);
        assert_eq!(raw.problems, []);
    }

    #[test]
    fn numbers_stay_digit_for_digit_case_25() {
        let raw = raw("{\"a\": 9007199254740993, \"b\": 1.10, \"c\": 123456789012345678901234567890}");
        let digits: Vec<_> = raw.fields.values().map(ToString::to_string).collect();
        assert_eq!(digits, ["9007199254740993", "1.10", "123456789012345678901234567890"]);
    }

    #[test]
    fn a_name_given_twice_is_refused_by_its_path() {
        let raw = raw("{\"a\": 1,\n\"b\": {\"c\": 1,\n\"c\": 2}, \"a\": 3}");
        let expected = [Found::new(3, "b.c", "is given twice"), Found::new(3, "a", "is given twice")];
        assert_eq!(raw.problems, expected);
        assert_eq!(raw.fields["a"].to_string(), "1");
    }

    #[test]
    fn nesting_is_limited_and_costs_no_stack_case_25() {
        let nested =
            |depth: usize| format!("{{\"deep\": {}{}, \"b\": 1}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(raw(&nested(63)).problems, []);
        for depth in [64, 10_000, 400_000] {
            let raw = raw(&nested(depth));
            assert_eq!(raw.problems.len(), 1);
            assert!(raw.problems[0].field.starts_with("deep[0][0]"));
            assert_eq!(raw.problems[0].error, "is nested more than 64 levels deep");
            assert_eq!(raw.fields["b"].to_string(), "1");
        }
    }

    #[test]
    fn what_is_no_json_is_named_with_its_line() {
        for (text, line, error) in [
            ("[1]", 1, "is not a JSON object"),
            ("{\"a\":\n NaN}", 2, "has \"NaN\", which is no JSON value (in a)"),
            ("{\"a\": -Infinity}", 1, "has \"-\", which is no JSON number (in a)"),
            ("{\"a\": 01}", 1, "has \"01\", which is no JSON number (in a)"),
            ("{\"a\": [1,]}", 1, "has ']' in place of a value (in a[1])"),
            ("{\"a\": 1,}", 1, "has '}' in place of a field's name in quotes"),
            ("{\"a\" 1}", 1, "has '1' in place of a colon (in a)"),
            ("{\"a\": 1\n\"b\": 2}", 2, "has '\"' in place of a comma or }"),
            ("{\"a\": \"x", 1, "has a quote that is not closed (in a)"),
            (
                "{\"a\": \"\\ud800\"}",
                1,
                "has text with a line break, control character or wrong escape (in a)",
            ),
            ("{\"a\": 1", 1, "has nothing in place of a comma or }"),
            ("{\"a\": é}", 1, "has \"é\", which is no JSON value (in a)"),
        ] {
            assert_eq!(broken(text.as_bytes()), (line, error.to_owned()), "{text}");
        }
        assert_eq!(broken(b"{\"a\":\n\"\xFF\"}"), (2, "is not valid UTF-8".to_owned()));
    }
}
