//! Reads supplier files into checked records, gathering everything that is wrong on the way.
//!
//! One key stands for one record in a reading, over all its files: the same content again is folded
//! into the first, other content is invalid and names the first's place (case 23).
//!
//! A good record whose tax number's check digits do not match is taken, with a warning.

use std::collections::hash_map::{Entry as Slot, HashMap};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::csv_file::CsvEntries;
use super::entry::{Entries, Entry, Found, Raw};
use super::format::Format;
use super::json_file::{JsonEntries, Lines, Objects};
use super::key::SupplierKey;
use super::limits::{MAX_RECORD_BYTES, MAX_RECORDS};
use super::record::{SupplierRecord, key_of};
use super::report::{Invalid, ReadError, ReadProblem, Sourced, WHOLE_RECORD, Warning};
use super::source::Source;
use super::tax_id::CheckDigits;
use super::value_error::top_of;

/// The name that stands for standard input, given as `-`.
const STDIN_NAME: &str = "<stdin>";
/// How much of a file is read at once, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// What was read from some files.
#[derive(Debug, Default)]
#[must_use]
pub struct Reading {
    /// The good records, in the files' order, one per key.
    pub records: Vec<Sourced<SupplierRecord>>,
    /// Every bad field of every bad record, in the files' order.
    pub invalid: Vec<Invalid>,
    /// What was unexpected in good and bad records.
    pub warnings: Vec<Warning>,
    /// Files that could not be read, or not to their end.
    pub unreadable: Vec<ReadError>,
}

impl Reading {
    /// Whether every file was read and every record good.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.invalid.is_empty() && self.unreadable.is_empty()
    }
}

/// Reads files; `-` is standard input. Without a format, each file's extension tells it.
pub fn read_files(paths: &[PathBuf], format: Option<Format>) -> Reading {
    let mut reader = Reader::default();
    for path in paths {
        if let Err(problem) = reader.read_path(path, format) {
            let file = name_of(path);
            reader.reading.unreadable.push(ReadError { file, problem });
        }
    }
    reader.reading
}

/// Reads what a stream gives, as if it were a file of this name.
pub fn read_stream(file: &str, stream: impl BufRead, format: Format) -> Reading {
    let mut reader = Reader::default();
    if let Err(problem) = reader.read(file, stream, format) {
        reader.reading.unreadable.push(ReadError { file: file.to_owned(), problem });
    }
    reader.reading
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn name_of(path: &Path) -> String {
    if is_stdin(path) { STDIN_NAME.to_owned() } else { path.display().to_string() }
}

/// Where a key was first seen.
struct First {
    file: String,
    line: u64,
    /// The record's place in the reading; none if it is a bad one.
    record: Option<usize>,
}

#[derive(Default)]
struct Reader {
    reading: Reading,
    keys: HashMap<SupplierKey, First>,
    entries: usize,
}

impl Reader {
    fn read_path(&mut self, path: &Path, format: Option<Format>) -> Result<(), ReadProblem> {
        if is_stdin(path) {
            let format = format.ok_or(ReadProblem::StdinWithoutFormat)?;
            return self.read(STDIN_NAME, io::stdin().lock(), format);
        }
        let format = format.or_else(|| Format::of_path(path)).ok_or(ReadProblem::UnknownFormat)?;
        let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
        self.read(&name_of(path), file, format)
    }

    fn read(&mut self, file: &str, stream: impl BufRead, format: Format) -> Result<(), ReadProblem> {
        let source = Source::new(stream)?;
        match format {
            Format::Csv => self.read_entries(file, CsvEntries::new(source)),
            Format::Json => self.read_entries(file, JsonEntries(Objects::new(source))),
            Format::Ndjson => self.read_entries(file, JsonEntries(Lines(source))),
        }
    }

    fn read_entries(&mut self, file: &str, mut entries: impl Entries) -> Result<(), ReadProblem> {
        let mut warned = HashSet::new();
        while let Some(entry) = entries.next_entry()? {
            self.entries += 1;
            if self.entries > MAX_RECORDS {
                return Err(ReadProblem::TooManyRecords);
            }
            match entry {
                Entry::Broken(found) => self.refuse(file, found),
                Entry::Record(raw) => self.judge(file, raw, &mut warned),
            }
        }
        Ok(())
    }

    fn judge(&mut self, file: &str, raw: Raw, warned: &mut HashSet<String>) {
        self.warn_of_unknown(file, &raw, warned);
        let Raw { line, fields, lines, problems, .. } = raw;
        let mut found = problems;
        let record = match SupplierRecord::from_input(&fields) {
            Ok(record) if found.is_empty() => fitting(record).map_err(|error| {
                found.push(Found::new(line, WHOLE_RECORD, error));
            }),
            Ok(_) => Err(()),
            Err(errors) => {
                let known: HashSet<String> =
                    found.iter().map(|found| top_of(&found.field).to_owned()).collect();
                for error in errors.iter().filter(|error| !known.contains(error.top())) {
                    let line = lines.get(error.top()).copied().unwrap_or(line);
                    found.push(Found::new(line, &error.field, error.error.to_string()));
                }
                Err(())
            }
        };
        match record {
            Ok(record) => self.admit(file, line, &lines, record),
            Err(()) => {
                if let Ok(key) = key_of(&fields) {
                    let first = First { file: file.to_owned(), line, record: None };
                    self.keys.entry(key).or_insert(first);
                }
                for found in found {
                    self.refuse(file, found);
                }
            }
        }
    }

    /// Takes a good record in, unless its key is there already.
    fn admit(&mut self, file: &str, line: u64, lines: &BTreeMap<String, u64>, record: SupplierRecord) {
        let file = file.to_owned();
        let line_of = |field: &str| lines.get(field).copied().unwrap_or(line);
        let first = match self.keys.entry(record.key().clone()) {
            Slot::Vacant(slot) => {
                let place = self.reading.records.len();
                slot.insert(First { file: file.clone(), line, record: Some(place) });
                self.reading.warnings.extend(tax_id_warning(&file, line_of("tax_id"), &record));
                self.reading.records.push(Sourced { value: record, file, line });
                return;
            }
            Slot::Occupied(slot) => slot.into_mut(),
        };
        let line = line_of("key");
        let same = first.record.is_some_and(|place| self.reading.records[place].value == record);
        let there = format!("{}:{}", first.file, first.line);
        let field = "key".to_owned();
        if same {
            let warning = format!("is the same record as at {there}, taken once");
            self.reading.warnings.push(Warning { file, line, field, warning });
        } else {
            let error = format!("is used for another record at {there}");
            self.reading.invalid.push(Invalid { file, line, field, error });
        }
    }

    fn refuse(&mut self, file: &str, found: Found) {
        let Found { line, field, error } = found;
        self.reading.invalid.push(Invalid { file: file.to_owned(), line, field, error });
    }

    /// One warning for each unknown name in a file, where it is first seen.
    fn warn_of_unknown(&mut self, file: &str, raw: &Raw, warned: &mut HashSet<String>) {
        for name in raw.fields.keys() {
            if super::fields::FIELD_NAMES.contains(&name.as_str()) || warned.contains(name) {
                continue;
            }
            warned.insert(name.clone());
            let line = raw.header_line.or_else(|| raw.lines.get(name).copied()).unwrap_or(raw.line);
            let warning = "is not a field of a supplier record; kept as given".to_owned();
            let (file, field) = (file.to_owned(), name.clone());
            self.reading.warnings.push(Warning { file, line, field, warning });
        }
    }
}

/// What there is to say about a good record's tax number.
fn tax_id_warning(file: &str, line: u64, record: &SupplierRecord) -> Option<Warning> {
    match record.tax_id().check_digits() {
        CheckDigits::Match | CheckDigits::NotChecked => None,
        CheckDigits::Mismatch => {
            let warning = "check digits do not match; is there a typing error?".to_owned();
            Some(Warning { file: file.to_owned(), line, field: "tax_id".to_owned(), warning })
        }
    }
}

/// The record, if it fits a run's input. A file's text can be shorter than the same record in JSON.
fn fitting(record: SupplierRecord) -> Result<SupplierRecord, String> {
    let size = serde_json::to_string(&record.to_input()).map_or(usize::MAX, |text| text.len());
    if size > MAX_RECORD_BYTES {
        return Err(format!("is longer than {MAX_RECORD_BYTES} bytes as JSON"));
    }
    Ok(record)
}
