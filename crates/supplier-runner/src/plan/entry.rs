//! A TOML table being read key by key, with the line and the path of everything in it.
//!
//! Read by hand and not through serde, so that every problem of a file is found in one go, and each has
//! its own line and key.

use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::PlanProblem;

/// The longest time limit and the longest wait.
const LONGEST_DURATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The shortest.
const SHORTEST_DURATION: Duration = Duration::from_millis(1);

/// The file's problems so far.
#[derive(Debug)]
pub(super) struct Problems<'a> {
    text: &'a str,
    found: Vec<PlanProblem>,
}

/// A table, and which of its keys were asked for.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    table: &'a DeTable<'a>,
    path: String,
    at: usize,
    known: Vec<&'static str>,
}

/// One key with its value.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    path: String,
    at: usize,
    value: &'a DeValue<'a>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// Adds a problem at a place in the file.
    pub(super) fn add(&mut self, at: usize, key: impl Into<String>, problem: impl Into<String>) {
        let before = self.text.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        self.found.push(PlanProblem { line, key: key.into(), problem: problem.into() });
    }

    /// All of them, by line.
    pub(super) fn into_found(mut self) -> Vec<PlanProblem> {
        self.found.sort_by_key(|problem| problem.line);
        self.found
    }
}

impl<'a> Entries<'a> {
    /// A table at this path, which is empty for the file itself.
    pub(super) fn new(table: &'a DeTable<'a>, path: String, at: usize) -> Self {
        Self { table, path, at, known: Vec::new() }
    }

    /// The value of a key that may be absent.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Entry<'a>> {
        self.known.push(name);
        let (key, value) = self.table.iter().find(|(key, _)| key.get_ref() == name)?;
        Some(Entry { path: self.path_of(name), at: key.span().start, value: value.get_ref() })
    }

    /// The value of a key that must be there.
    pub(super) fn required(&mut self, name: &'static str, problems: &mut Problems<'_>) -> Option<Entry<'a>> {
        let found = self.optional(name);
        if found.is_none() {
            self.problem(name, "is missing", problems);
        }
        found
    }

    /// All entries, whatever their keys.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a str, Entry<'a>)> {
        self.table.iter().map(|(key, value)| {
            let name: &str = key.get_ref();
            (name, Entry { path: self.path_of(name), at: key.span().start, value: value.get_ref() })
        })
    }

    /// The table's own path and place in the file.
    pub(super) fn place(&self) -> (String, usize) {
        (self.path.clone(), self.at)
    }

    /// A problem of a key that is not there, or of the table as a whole.
    pub(super) fn problem(&self, name: &str, problem: impl Into<String>, problems: &mut Problems<'_>) {
        problems.add(self.at, self.path_of(name), problem);
    }

    /// Refuses the keys that nobody asked for.
    pub(super) fn finish(self, problems: &mut Problems<'_>) {
        for (name, entry) in self.all() {
            if !self.known.contains(&name) {
                let known = self.known.join(", ");
                entry.problem(format!("is no key here; there are {known}"), problems);
            }
        }
    }

    fn path_of(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => format!("{path}.{name}"),
        }
    }
}

impl<'a> Entry<'a> {
    /// Adds a problem of this key.
    pub(super) fn problem(&self, problem: impl Into<String>, problems: &mut Problems<'_>) {
        problems.add(self.at, self.path.clone(), problem);
    }

    fn wrong_kind<T>(&self, expected: &str, problems: &mut Problems<'_>) -> Option<T> {
        self.problem(format!("must be {expected}"), problems);
        None
    }

    /// Text.
    pub(super) fn text(&self, problems: &mut Problems<'_>) -> Option<&'a str> {
        self.value.as_str().or_else(|| self.wrong_kind("text, in quotes", problems))
    }

    /// A whole number.
    pub(super) fn integer(&self, problems: &mut Problems<'_>) -> Option<i64> {
        let number = self.value.as_integer().or_else(|| self.wrong_kind("a whole number", problems))?;
        let read = i64::from_str_radix(number.as_str(), number.radix()).ok();
        read.or_else(|| self.wrong_kind("a number of at most 63 bits", problems))
    }

    /// A duration like `1h30m`, in whole milliseconds.
    pub(super) fn duration(&self, problems: &mut Problems<'_>) -> Option<Duration> {
        let text = self.text(problems)?;
        let Ok(read) = humantime::parse_duration(text) else {
            return self.wrong_kind("a duration like \"500ms\", \"2m\" or \"1h30m\"", problems);
        };
        if read < SHORTEST_DURATION || LONGEST_DURATION < read {
            return self.wrong_kind("between \"1ms\" and \"7days\"", problems);
        }
        Some(Duration::from_millis(u64::try_from(read.as_millis()).unwrap_or(u64::MAX)))
    }

    /// A list of texts.
    pub(super) fn texts(&self, problems: &mut Problems<'_>) -> Option<Vec<&'a str>> {
        let items = self.value.as_array().or_else(|| self.wrong_kind("a list of texts, in [ ]", problems))?;
        let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
        texts.or_else(|| self.wrong_kind("a list of texts, each in quotes", problems))
    }

    /// A table.
    pub(super) fn table(&self, problems: &mut Problems<'_>) -> Option<Entries<'a>> {
        let table = self.value.as_table().or_else(|| self.wrong_kind("a table", problems))?;
        Some(Entries::new(table, self.path.clone(), self.at))
    }

    /// A list of tables.
    pub(super) fn tables(&self, problems: &mut Problems<'_>) -> Option<Vec<Entries<'a>>> {
        let items = self
            .value
            .as_array()
            .or_else(|| self.wrong_kind("a list of tables, each begun with [[phase]]", problems))?;
        let table = |(place, item): (usize, &'a Spanned<DeValue<'a>>)| {
            let table = item.get_ref().as_table()?;
            Some(Entries::new(table, format!("{}[{place}]", self.path), item.span().start))
        };
        let tables: Option<Vec<Entries<'a>>> = items.iter().enumerate().map(table).collect();
        tables.or_else(|| self.wrong_kind("a list of tables, each begun with [[phase]]", problems))
    }
}
