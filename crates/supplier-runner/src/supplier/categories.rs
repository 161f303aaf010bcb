//! What is bought from a supplier: a list of words.

use super::limits::{MAX_CATEGORIES, MAX_TEXT_CHARS};
use super::text;
use super::value_error::ValueError;

/// Up to 64 different words, in the order given; each 1 to 256 characters, trimmed, NFC. May be
/// empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Categories(Vec<String>);

impl Categories {
    /// Reads a list; blanks are dropped, of the same word only the first stays.
    ///
    /// # Errors
    /// With the place in the list of the first bad word; with none when there are too many.
    pub fn new<'a>(raw: impl IntoIterator<Item = &'a str>) -> Result<Self, (Option<usize>, ValueError)> {
        let mut kept: Vec<String> = Vec::new();
        for (place, word) in raw.into_iter().enumerate() {
            match text::words(word, MAX_TEXT_CHARS) {
                Ok(word) if kept.contains(&word) => {}
                Ok(_) if kept.len() == MAX_CATEGORIES => {
                    return Err((None, ValueError::TooManyEntries(MAX_CATEGORIES)));
                }
                Ok(word) => kept.push(word),
                Err(ValueError::Empty) => {}
                Err(error) => return Err((Some(place), error)),
            }
        }
        Ok(Self(kept))
    }

    /// The words.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_repetitions_are_dropped_and_the_order_kept() {
        let categories = Categories::new(" steel ;;paint; steel;Paint".split(';')).unwrap();
        assert_eq!(categories.as_slice(), ["steel", "paint", "Paint"]);
        assert!(Categories::new([]).unwrap().is_empty());
    }

    #[test]
    fn a_bad_word_is_named_by_its_place() {
        let bad = Categories::new(["steel", "a\tb"]);
        assert_eq!(bad, Err((Some(1), ValueError::ControlCharacter('\t'))));
        let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
        let many = Categories::new(many.iter().map(String::as_str));
        assert_eq!(many, Err((None, ValueError::TooManyEntries(64))));
    }
}
