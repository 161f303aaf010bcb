//! The buyer's own id of a supplier: what names its run.

use std::fmt;

use super::limits::MAX_KEY_CHARS;
use super::text;
use super::value_error::ValueError;

/// 1 to 128 characters, trimmed, NFC, none a control character. Case counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SupplierKey(String);

impl SupplierKey {
    /// Reads a key.
    ///
    /// # Errors
    /// When it is blank, too long, or has a control character.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        text::words(raw, MAX_KEY_CHARS).map(Self)
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SupplierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_trimmed_and_keeps_its_case() {
        assert_eq!(SupplierKey::new(" acme-DE 1 ").unwrap().as_str(), "acme-DE 1");
    }

    #[test]
    fn a_key_has_1_to_128_characters() {
        assert!(SupplierKey::new(&"ß".repeat(128)).is_ok());
        assert_eq!(SupplierKey::new(&"a".repeat(129)), Err(ValueError::TooLong { limit: 128 }));
        assert_eq!(SupplierKey::new("  "), Err(ValueError::Empty));
        assert_eq!(SupplierKey::new("a\0b"), Err(ValueError::ControlCharacter('\0')));
    }
}
