//! The bytes of a supplier file, one by one, with their line.
//!
//! Bounded by the largest file, whatever the reader gives. A UTF-8 byte-order mark at the start is
//! passed over.

use std::io::{BufRead, Chain, Cursor, ErrorKind, Read};

use super::limits::{MAX_FILE_BYTES, MAX_RECORD_BYTES};
use super::report::ReadProblem;

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const UTF16_MARKS: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];

/// A reader's bytes.
pub(super) struct Source<R> {
    reader: Chain<Cursor<Vec<u8>>, R>,
    line: u64,
    taken: u64,
    limit: u64,
}

impl<R: BufRead> Source<R> {
    /// Begins to read.
    pub(super) fn new(reader: R) -> Result<Self, ReadProblem> {
        Self::with_limit(reader, MAX_FILE_BYTES)
    }

    fn with_limit(mut reader: R, limit: u64) -> Result<Self, ReadProblem> {
        let mut head = Vec::with_capacity(UTF8_MARK.len());
        reader.by_ref().take(UTF8_MARK.len() as u64).read_to_end(&mut head)?;
        if UTF16_MARKS.iter().any(|mark| head.starts_with(mark)) {
            return Err(ReadProblem::Utf16);
        }
        if head == UTF8_MARK {
            head.clear();
        }
        Ok(Self { reader: Cursor::new(head).chain(reader), line: 1, taken: 0, limit })
    }

    /// The next byte, left where it is; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ReadProblem> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes the next byte.
    pub(super) fn take(&mut self) -> Result<Option<u8>, ReadProblem> {
        let Some(byte) = self.peek()? else { return Ok(None) };
        if self.taken == self.limit {
            return Err(ReadProblem::TooLarge);
        }
        self.reader.consume(1);
        self.taken += 1;
        self.line += u64::from(byte == b'\n');
        Ok(Some(byte))
    }

    /// Takes what JSON calls white space.
    pub(super) fn skip_space(&mut self) -> Result<(), ReadProblem> {
        while self.peek()?.is_some_and(|byte| b" \t\r\n".contains(&byte)) {
            self.take()?;
        }
        Ok(())
    }

    /// The line of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }
}

/// A record's bytes as they stand in the file, or why they are none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// All of a record.
    Record {
        /// The line that it begins on.
        line: u64,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Something in a record's place.
    Broken {
        /// The line that it begins on.
        line: u64,
        /// What is wrong.
        error: String,
    },
}

/// Splits a file into its records.
pub(super) trait Split {
    /// The next record; `None` at the end.
    fn next_piece(&mut self) -> Result<Option<Piece>, ReadProblem>;
}

/// A record's bytes being gathered, and no more of them than a record may have.
#[derive(Debug)]
pub(super) struct Gathered {
    line: u64,
    bytes: Vec<u8>,
    too_long: bool,
}

impl Gathered {
    pub(super) fn new(line: u64) -> Self {
        Self { line, bytes: Vec::new(), too_long: false }
    }

    pub(super) fn push(&mut self, byte: u8) {
        if self.bytes.len() < MAX_RECORD_BYTES {
            self.bytes.push(byte);
        } else {
            self.too_long = true;
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }

    /// The record, if it was not too long.
    pub(super) fn into_piece(self) -> Piece {
        if self.too_long {
            self.broken(format!("is longer than {MAX_RECORD_BYTES} bytes"))
        } else {
            Piece::Record { line: self.line, bytes: self.bytes }
        }
    }

    pub(super) fn broken(&self, error: impl Into<String>) -> Piece {
        Piece::Broken { line: self.line, error: error.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: &mut Source<&[u8]>) -> Result<Vec<u8>, ReadProblem> {
        let mut bytes = Vec::new();
        while let Some(byte) = source.take()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_at_the_start_only_case_23() {
        let mut source = Source::new(&b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb"[..]).unwrap();
        assert_eq!(all(&mut source).unwrap(), b"a\n\xEF\xBB\xBFb");
        assert_eq!(source.line(), 2);
        assert!(matches!(Source::new(&b"\xFF\xFEa\0"[..]), Err(ReadProblem::Utf16)));
        for short in [&b""[..], b"\xEF", b"ab"] {
            assert_eq!(all(&mut Source::new(short).unwrap()).unwrap(), short);
        }
    }

    #[test]
    fn a_file_past_the_limit_is_given_up() {
        let mut source = Source::with_limit(&b"abcdef"[..], 6).unwrap();
        assert_eq!(all(&mut source).unwrap(), b"abcdef");
        let mut source = Source::with_limit(&b"abcdef"[..], 5).unwrap();
        assert!(matches!(all(&mut source), Err(ReadProblem::TooLarge)));
    }

    #[test]
    fn a_record_past_the_limit_takes_no_more_memory() {
        let mut gathered = Gathered::new(7);
        for _ in 0..=MAX_RECORD_BYTES {
            gathered.push(b'x');
        }
        assert_eq!(gathered.bytes.len(), MAX_RECORD_BYTES);
        let error = "is longer than 1048576 bytes".to_owned();
        assert_eq!(gathered.into_piece(), Piece::Broken { line: 7, error });
    }
}
