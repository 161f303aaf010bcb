//! Records from CSV (RFC 4180) with a header row.
//!
//! Rows are told apart here, because the crate `csv` neither bounds a row, nor says where it begins
//! when lines end in CRLF, nor minds a quote that is left open; the values within a row are its work.

use std::io::{BufRead, Cursor};

use serde_json::Map;

use super::entry::{Entries, Entry, Found, Raw};
use super::fields::required_field_names;
use super::report::{ReadProblem, WHOLE_HEADER};
use super::source::{Gathered, Piece, Source, Split};
use super::text::nfc;

/// The records of a CSV file.
pub(super) struct CsvEntries<R> {
    rows: Rows<R>,
    values: Values,
    header: Option<Header>,
    /// What is wrong with the header, last first; the rows are not read then.
    pending: Vec<Found>,
    ended: bool,
}

struct Header {
    line: u64,
    names: Vec<String>,
}

impl<R: BufRead> CsvEntries<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { rows: Rows { source }, values: Values::new(), header: None, pending: Vec::new(), ended: false }
    }

    fn read_header(&mut self) -> Result<(), ReadProblem> {
        let found = match self.rows.next_piece()? {
            None => Err(vec![Found::new(1, WHOLE_HEADER, "is missing: the file is empty")]),
            Some(Piece::Broken { line, error }) => Err(vec![Found::new(line, WHOLE_HEADER, error)]),
            Some(Piece::Record { line, bytes }) => read_names(line, &self.values.split(bytes)),
        };
        match found {
            Ok(header) => self.header = Some(header),
            Err(mut problems) => {
                problems.reverse();
                self.pending = problems;
                self.ended = true;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Entries for CsvEntries<R> {
    fn next_entry(&mut self) -> Result<Option<Entry>, ReadProblem> {
        if self.header.is_none() && !self.ended {
            self.read_header()?;
        }
        if let Some(found) = self.pending.pop() {
            return Ok(Some(Entry::Broken(found)));
        }
        let Some(header) = &self.header else { return Ok(None) };
        Ok(self.rows.next_piece()?.map(|piece| match piece {
            Piece::Broken { line, error } => Entry::Broken(Found::record(line, error)),
            Piece::Record { line, bytes } => read_row(header, line, &self.values.split(bytes)),
        }))
    }
}

fn read_names(line: u64, values: &csv::ByteRecord) -> Result<Header, Vec<Found>> {
    let header_error = |error: String| vec![Found::new(line, WHOLE_HEADER, error)];
    let mut names: Vec<String> = Vec::new();
    for value in values {
        let Ok(name) = std::str::from_utf8(value) else {
            return Err(header_error("is not valid UTF-8".to_owned()));
        };
        names.push(nfc(name).trim().to_owned());
    }
    if let [only] = names.as_slice()
        && let Some(separator) = only.chars().find(|c| matches!(c, ';' | '\t' | '|'))
    {
        let error = format!("has columns separated by {separator:?}, not by commas");
        return Err(header_error(error));
    }
    let mut problems = Vec::new();
    for (place, name) in names.iter().enumerate() {
        if name.is_empty() {
            let error = format!("has no name for column {}", place + 1);
            problems.push(Found::new(line, WHOLE_HEADER, error));
        } else if names[..place].contains(name) {
            problems.push(Found::new(line, name, "is given twice in the header"));
        }
    }
    for required in required_field_names() {
        if !names.iter().any(|name| name == required) {
            problems.push(Found::new(line, *required, "has no column in the header"));
        }
    }
    if problems.is_empty() { Ok(Header { line, names }) } else { Err(problems) }
}

fn read_row(header: &Header, line: u64, values: &csv::ByteRecord) -> Entry {
    if values.len() != header.names.len() {
        let (found, expected) = (values.len(), header.names.len());
        let error = format!("has {found} values, the header has {expected} columns");
        return Entry::Broken(Found::record(line, error));
    }
    let mut fields = Map::new();
    let mut problems = Vec::new();
    for (name, value) in header.names.iter().zip(values) {
        match std::str::from_utf8(value) {
            Ok(value) if value.trim().is_empty() => {}
            Ok(value) => drop(fields.insert(name.clone(), value.into())),
            Err(_) => problems.push(Found::new(line, name, "is not valid UTF-8")),
        }
    }
    let header_line = Some(header.line);
    Entry::Record(Raw { line, fields, header_line, problems, ..Raw::default() })
}

/// Takes rows apart into values. One for a whole file, since it is dear to make.
struct Values(csv::Reader<Cursor<Vec<u8>>>);

impl Values {
    fn new() -> Self {
        let mut builder = csv::ReaderBuilder::new();
        Self(builder.has_headers(false).flexible(true).from_reader(Cursor::default()))
    }

    /// The values of one row, quotes taken off.
    fn split(&mut self, mut row: Vec<u8>) -> csv::ByteRecord {
        let mut values = csv::ByteRecord::new();
        row.push(b'\n');
        *self.0.get_mut() = Cursor::new(row);
        // The line break ends the row, so the reader never sees an end of file.
        self.0.read_byte_record(&mut values).expect("bytes in memory can be read, rows have any length");
        values
    }
}

/// The rows of a file: each with its line breaks in quotes, without the one at its end.
struct Rows<R> {
    source: Source<R>,
}

/// Where in a row the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    ValueStart,
    Plain,
    Quoted,
    /// Behind a quote in a quoted value: its end, or the first half of a doubled one.
    AfterQuote,
}

impl<R: BufRead> Rows<R> {
    /// One row, blank or not; `None` at the end of the file.
    fn next_row(&mut self) -> Result<Option<(bool, Piece)>, ReadProblem> {
        if self.source.peek()?.is_none() {
            return Ok(None);
        }
        let mut row = Gathered::new(self.source.line());
        let mut at = At::ValueStart;
        let mut torn = false;
        while let Some(byte) = self.source.take()? {
            if at != At::Quoted && matches!(byte, b'\n' | b'\r') {
                if byte == b'\r' && self.source.peek()? == Some(b'\n') {
                    self.source.take()?;
                }
                break;
            }
            row.push(byte);
            at = match (at, byte) {
                (At::ValueStart, b'"') | (At::AfterQuote, b'"') => At::Quoted,
                (At::Quoted, b'"') => At::AfterQuote,
                (At::Quoted, _) => At::Quoted,
                (_, b',') => At::ValueStart,
                (At::AfterQuote, _) => {
                    torn = true;
                    At::Plain
                }
                (At::ValueStart | At::Plain, _) => At::Plain,
            };
        }
        let blank = row.is_blank();
        let piece = if at == At::Quoted {
            row.broken("has a quoted value that is not closed")
        } else if torn {
            row.broken("has text after a closing quote; double a quote within quotes")
        } else {
            row.into_piece()
        };
        Ok(Some((blank, piece)))
    }
}

impl<R: BufRead> Split for Rows<R> {
    fn next_piece(&mut self) -> Result<Option<Piece>, ReadProblem> {
        loop {
            match self.next_row()? {
                Some((true, _)) => {}
                Some((false, piece)) => return Ok(Some(piece)),
                None => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "key,legal_name,country,tax_id,iban,bic,currency,email";

    fn entries(text: &[u8]) -> Vec<Entry> {
        let mut file = CsvEntries::new(Source::new(text).unwrap());
        std::iter::from_fn(|| file.next_entry().unwrap()).collect()
    }

    fn found(text: &[u8]) -> Vec<String> {
        let show = |found: &Found| format!("{}: {}: {}", found.line, found.field, found.error);
        let mut shown = Vec::new();
        for entry in entries(text) {
            match entry {
                Entry::Broken(found) => shown.push(show(&found)),
                Entry::Record(raw) => shown.extend(raw.problems.iter().map(show)),
            }
        }
        shown
    }

    fn lines_and_names(text: &[u8]) -> Vec<(u64, String)> {
        entries(text)
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Record(raw) => Some((raw.line, raw.fields["legal_name"].as_str()?.to_owned())),
                Entry::Broken(_) => None,
            })
            .collect()
    }

    #[test]
    fn a_row_has_the_line_it_begins_on_whatever_ends_the_lines_case_23() {
        for end in ["\n", "\r\n"] {
            let text = format!(
                "\u{FEFF}{HEADER}{end}{end}1,\"A, \"\"B\"\"\",,,,,,{end}2,\"two{end}lines\",,,,,,{end}3,C,,,,,,"
            );
            let expected = [(3, "A, \"B\""), (4, &format!("two{end}lines")), (6, "C")];
            let expected = expected.map(|(line, name)| (line, name.to_owned()));
            assert_eq!(lines_and_names(text.as_bytes()), expected, "{end:?}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_used_is_reported_once() {
        assert_eq!(found(b""), ["1: header: is missing: the file is empty"]);
        let semicolons = HEADER.replace(',', ";");
        let expected = ["1: header: has columns separated by ';', not by commas"];
        assert_eq!(found(format!("{semicolons}\n1;2\n").as_bytes()), expected);
        let text = b"key,legal_name,country,tax_id,iban,key,,email\n1,2,3,4,5,6,7,8\n";
        let expected = [
            "1: key: is given twice in the header",
            "1: header: has no name for column 7",
            "1: bic: has no column in the header",
            "1: currency: has no column in the header",
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn a_row_that_does_not_fit_the_header_is_refused_and_the_next_one_read() {
        let text = format!("{HEADER}\n1,2\n2,\"B\" x,,,,,,\n3,C,,,,,,\n4,\"D,,,,,,\n5,E,,,,,,\n");
        let expected = [
            "2: record: has 2 values, the header has 8 columns",
            "3: record: has text after a closing quote; double a quote within quotes",
            "5: record: has a quoted value that is not closed",
        ];
        assert_eq!(found(text.as_bytes()), expected);
        assert_eq!(lines_and_names(text.as_bytes()), [(4, "C".to_owned())]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_named_by_their_column() {
        let text = [HEADER.as_bytes(), b"\n1,caf\xE9,,,,,,\n"].concat();
        assert_eq!(found(&text), ["2: legal_name: is not valid UTF-8"]);
        assert_eq!(found(b"key,caf\xE9\n"), ["1: header: is not valid UTF-8"]);
    }

    #[test]
    fn blank_values_are_left_out() {
        let text = format!("{HEADER}\n1,A, ,,,,,\n");
        let Entry::Record(raw) = &entries(text.as_bytes())[0] else { panic!("no record") };
        assert_eq!(raw.fields.keys().collect::<Vec<_>>(), ["key", "legal_name"]);
        assert_eq!(raw.header_line, Some(1));
    }
}
