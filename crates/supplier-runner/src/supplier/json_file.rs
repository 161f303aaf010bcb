//! Records from a JSON file (one object, or an array of them) and from NDJSON (one per line).
//!
//! A file is split into its records by counting brackets, so that one record at a time is in memory
//! and one bad record does not hide the next.

use std::io::BufRead;

use super::entry::{Entries, Entry, Found};
use super::json_text::read_record;
use super::report::ReadProblem;
use super::source::{Gathered, Piece, Source, Split};

/// The records of a JSON or NDJSON file.
pub(super) struct JsonEntries<S>(pub(super) S);

impl<S: Split> Entries for JsonEntries<S> {
    fn next_entry(&mut self) -> Result<Option<Entry>, ReadProblem> {
        Ok(self.0.next_piece()?.map(|piece| match piece {
            Piece::Broken { line, error } => Entry::Broken(Found::record(line, error)),
            Piece::Record { line, bytes } => read_record(&bytes, line),
        }))
    }
}

/// Lines that are not blank.
pub(super) struct Lines<R>(pub(super) Source<R>);

impl<R: BufRead> Split for Lines<R> {
    fn next_piece(&mut self) -> Result<Option<Piece>, ReadProblem> {
        while self.0.peek()?.is_some() {
            let mut line = Gathered::new(self.0.line());
            while let Some(byte) = self.0.take()?.filter(|byte| *byte != b'\n') {
                line.push(byte);
            }
            if !line.is_blank() {
                return Ok(Some(line.into_piece()));
            }
        }
        Ok(None)
    }
}

/// The objects of a JSON file.
pub(super) struct Objects<R> {
    source: Source<R>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// Behind the opening bracket of the array.
    ArrayStart,
    /// Behind a comma of the array.
    NextInArray,
    /// Behind an entry of the array.
    AfterEntry,
    /// Behind the only record, or the array.
    Behind,
    Ended,
}

impl<R: BufRead> Objects<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { source, state: State::Start }
    }

    /// Reads on from a state to a record, an error, or the end of the file.
    fn step(&mut self) -> Result<Option<Piece>, ReadProblem> {
        loop {
            self.source.skip_space()?;
            let next = self.source.peek()?;
            match (self.state, next) {
                (State::Ended, _) | (State::Behind, None) => return Ok(None),
                (State::Start, Some(b'[')) => self.pass_to(State::ArrayStart)?,
                (State::Start, Some(_)) => return self.gather(State::Behind),
                (State::Start, None) => return Ok(self.end("is missing: the file is empty")),
                (State::ArrayStart | State::AfterEntry, Some(b']')) => self.pass_to(State::Behind)?,
                (State::ArrayStart | State::NextInArray, Some(b',' | b']' | b'}')) => {
                    return Ok(self.end("is missing: a comma or bracket stands in its place"));
                }
                (State::ArrayStart | State::NextInArray, Some(_)) => {
                    return self.gather(State::AfterEntry);
                }
                (State::AfterEntry, Some(b',')) => self.pass_to(State::NextInArray)?,
                (State::AfterEntry, Some(_)) => {
                    return Ok(self.end("is followed by neither a comma nor ]"));
                }
                (State::ArrayStart | State::NextInArray | State::AfterEntry, None) => {
                    return Ok(self.end("is the last of an array that is not closed with ]"));
                }
                (State::Behind, Some(_)) => {
                    let error = "is followed by more: put several records in an array, or one per line \
                                 in an .ndjson file";
                    return Ok(self.end(error));
                }
            }
        }
    }

    fn pass_to(&mut self, state: State) -> Result<(), ReadProblem> {
        self.source.take()?;
        self.state = state;
        Ok(())
    }

    fn end(&mut self, error: &str) -> Option<Piece> {
        self.state = State::Ended;
        Some(Gathered::new(self.source.line()).broken(error))
    }

    /// Gathers one value: to its closing bracket, or if it has none to what cannot belong to it.
    fn gather(&mut self, next: State) -> Result<Option<Piece>, ReadProblem> {
        let mut record = Gathered::new(self.source.line());
        let mut open = 0_usize;
        let mut quoted = false;
        let mut escaped = false;
        self.state = next;
        while let Some(byte) = self.source.peek()? {
            if open == 0 && !quoted && matches!(byte, b',' | b']' | b'}' | b'\n') {
                return Ok(Some(record.into_piece()));
            }
            self.source.take()?;
            record.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'{' | b'[' => open += 1,
                b'}' | b']' => {
                    open -= 1;
                    if open == 0 {
                        return Ok(Some(record.into_piece()));
                    }
                }
                _ => {}
            }
        }
        if open == 0 && !quoted {
            return Ok(Some(record.into_piece()));
        }
        self.state = State::Ended;
        Ok(Some(record.broken("is not closed: a quote or bracket is missing")))
    }
}

impl<R: BufRead> Split for Objects<R> {
    fn next_piece(&mut self) -> Result<Option<Piece>, ReadProblem> {
        self.step()
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::MAX_RECORD_BYTES;
    use super::*;

    fn all(mut pieces: impl Split) -> Vec<(u64, String)> {
        let mut shown = Vec::new();
        while let Some(piece) = pieces.next_piece().unwrap() {
            shown.push(match piece {
                Piece::Record { line, bytes } => (line, String::from_utf8(bytes).unwrap()),
                Piece::Broken { line, error } => (line, format!("! {error}")),
            });
        }
        shown
    }

    fn objects(text: &str) -> Vec<(u64, String)> {
        all(Objects::new(Source::new(text.as_bytes()).unwrap()))
    }

    fn pairs<const N: usize>(expected: [(u64, &str); N]) -> Vec<(u64, String)> {
        expected.map(|(line, text)| (line, text.to_owned())).to_vec()
    }

    #[test]
    fn one_object_and_an_array_of_them_are_split_with_their_lines() {
        assert_eq!(objects(" \n{\"a\": \"}\\\"]\"}\n"), pairs([(2, "{\"a\": \"}\\\"]\"}")]));
        assert_eq!(objects("[]"), []);
        let text = "[\n{\"a\":\n[1]}\n,\n{} , 5, \"x,]\" ]";
        let expected = [(2, "{\"a\":\n[1]}"), (5, "{}"), (5, "5"), (5, "\"x,]\" ")];
        assert_eq!(objects(text), pairs(expected));
    }

    #[test]
    fn what_does_not_hold_together_ends_the_file_with_one_error() {
        for (text, line, error) in [
            ("", 1, "! is missing: the file is empty"),
            ("[{},\n]", 2, "! is missing: a comma or bracket stands in its place"),
            ("[{}\n{}]", 2, "! is followed by neither a comma nor ]"),
            ("[{}", 1, "! is the last of an array that is not closed with ]"),
            ("{\"a\": \"}", 1, "! is not closed: a quote or bracket is missing"),
            ("[[[[", 1, "! is not closed: a quote or bracket is missing"),
        ] {
            assert_eq!(objects(text).last(), Some(&(line, error.to_owned())), "{text}");
        }
        assert!(objects("{}\n{}")[1].1.contains("is followed by more"));
    }

    #[test]
    fn lines_are_records_unless_they_are_blank() {
        let text = "{}\r\n\n  \n{\"a\"\n{}";
        let pieces = all(Lines(Source::new(text.as_bytes()).unwrap()));
        assert_eq!(pieces, pairs([(1, "{}\r"), (4, "{\"a\""), (5, "{}")]));
    }

    #[test]
    fn a_record_that_is_too_long_is_passed_over() {
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(MAX_RECORD_BYTES));
        let expected = pairs([(1, "! is longer than 1048576 bytes"), (2, "{}")]);
        assert_eq!(objects(&format!("[{long},\n{{}}]")), expected);
        let lines = format!("{long}\n{{}}");
        assert_eq!(all(Lines(Source::new(lines.as_bytes()).unwrap())), expected);
    }
}
