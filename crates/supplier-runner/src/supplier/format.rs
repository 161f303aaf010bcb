//! How a supplier file is written.

use std::path::Path;
use std::str::FromStr;

/// The format of a supplier file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma-separated values with a header row (RFC 4180).
    Csv,
    /// One JSON object, or an array of them.
    Json,
    /// One JSON object per line; blank lines are allowed.
    Ndjson,
}

/// A format's name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format: csv, json or ndjson")]
pub struct UnknownFormat(pub String);

impl Format {
    /// The format that a file's extension names, in any case.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.parse().ok()
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name.to_ascii_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "ndjson" | "jsonl" => Ok(Self::Ndjson),
            _ => Err(UnknownFormat(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_tells_the_format_in_any_case() {
        for (path, format) in [
            ("a.csv", Some(Format::Csv)),
            ("b/a.JSON", Some(Format::Json)),
            ("a.b.ndjson", Some(Format::Ndjson)),
            ("a.jsonl", Some(Format::Ndjson)),
            ("a.xlsx", None),
            ("csv", None),
            (".csv", None),
        ] {
            assert_eq!(Format::of_path(Path::new(path)), format, "{path}");
        }
    }
}
