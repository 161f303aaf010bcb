//! A supplier's registered name.

use std::fmt;

use super::limits::MAX_TEXT_CHARS;
use super::text;
use super::value_error::ValueError;

/// 1 to 256 characters, trimmed, NFC, none a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LegalName(String);

impl LegalName {
    /// Reads a name.
    ///
    /// # Errors
    /// When it is blank, too long, or has a control character.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        text::words(raw, MAX_TEXT_CHARS).map(Self)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LegalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decomposed_and_composed_names_are_the_same_case_23() {
        assert_eq!(LegalName::new("Cafe\u{301}, S.A."), LegalName::new(" Café, S.A. "));
    }
}
