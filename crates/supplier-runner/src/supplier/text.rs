//! The two ways that text is normalised: as words, and as an identifier.
//!
//! Both give Unicode NFC, and both are idempotent: what they return, they return again.

use unicode_normalization::UnicodeNormalization;

use super::value_error::ValueError;

/// Unicode NFC, nothing else. ASCII is in it already, and is most of what is read.
pub(super) fn nfc(raw: &str) -> String {
    if raw.is_ascii() { raw.to_owned() } else { raw.nfc().collect() }
}

/// Words: NFC, trimmed, of 1 to `limit` characters, none of which moves the cursor or hides the
/// others.
pub(super) fn words(raw: &str, limit: usize) -> Result<String, ValueError> {
    let text = nfc(raw);
    let text = text.trim();
    if text.is_empty() {
        return Err(ValueError::Empty);
    }
    if let Some(character) = text.chars().find(|c| is_unwanted(*c)) {
        return Err(ValueError::ControlCharacter(character));
    }
    if text.chars().count() > limit {
        return Err(ValueError::TooLong { limit });
    }
    Ok(text.to_owned())
}

/// An identifier: NFC, without spaces and hyphens of any kind, in upper case.
pub(super) fn identifier(raw: &str) -> Result<String, ValueError> {
    let text: String = nfc(raw).chars().filter(|c| !is_separator(*c)).collect();
    if text.is_empty() {
        return Err(ValueError::Empty);
    }
    if let Some(character) = text.chars().find(|c| is_unwanted(*c)) {
        return Err(ValueError::ControlCharacter(character));
    }
    Ok(text.to_ascii_uppercase())
}

/// Control characters, line separators, and marks that reorder text on a screen.
pub(super) fn is_unwanted(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{2028}' | '\u{2029}' | '\u{200E}' | '\u{200F}' | '\u{FEFF}'
            | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Spaces and hyphens as people and PDF files write them. Line breaks are no separators.
fn is_separator(character: char) -> bool {
    let space = character.is_whitespace() && !is_unwanted(character);
    space || matches!(character, '-' | '\t' | '\u{00AD}' | '\u{200B}' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decomposed_name_becomes_the_composed_one_case_23() {
        assert_eq!(words("  Cafe\u{301} Zu\u{308}rich ", 20), Ok("Café Zürich".to_owned()));
    }

    #[test]
    fn control_and_reordering_characters_are_refused() {
        for bad in ['\0', '\n', '\u{7f}', '\u{202E}', '\u{2028}'] {
            assert_eq!(words(&format!("a{bad}b"), 9), Err(ValueError::ControlCharacter(bad)));
            assert_eq!(identifier(&format!("a{bad}b")), Err(ValueError::ControlCharacter(bad)));
        }
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert!(words("ééé", 3).is_ok());
        assert_eq!(words("éééé", 3), Err(ValueError::TooLong { limit: 3 }));
        assert_eq!(words(" \t ", 3), Err(ValueError::Empty));
    }

    #[test]
    fn an_identifier_loses_spaces_hyphens_and_lower_case() {
        assert_eq!(identifier(" de-12\u{A0}3\u{2011}x "), Ok("DE123X".to_owned()));
        assert_eq!(identifier(" - "), Err(ValueError::Empty));
    }
}
