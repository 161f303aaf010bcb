//! Who to ask at a supplier: free text.

use super::limits::MAX_TEXT_CHARS;
use super::text;
use super::value_error::ValueError;

/// 1 to 256 characters, trimmed, NFC, none a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Contact(String);

impl Contact {
    /// Reads a contact.
    ///
    /// # Errors
    /// When it is blank, too long, or has a control character.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        text::words(raw, MAX_TEXT_CHARS).map(Self)
    }

    /// The contact as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_one_line_of_text() {
        assert_eq!(Contact::new(" Zoë, +31 20 1234567 ").unwrap().as_str(), "Zoë, +31 20 1234567");
        assert_eq!(Contact::new("two\nlines"), Err(ValueError::ControlCharacter('\n')));
    }
}
