//! What must not be repeated: values that were filled into a plan.
//!
//! A portal or a command may print the token it was given, and what they print becomes a failure's
//! message, which is stored and shown. So messages pass through [`Secrets::hide`].

use std::fmt;

/// The shortest value that is hidden: a shorter one stands in too many words to be a secret.
const SHORTEST: usize = 4;

/// Values to be hidden. Their `Debug` shows none of them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// These values, the longest first, so that a value within another one leaves no rest of it.
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> =
            values.into_iter().filter(|value| value.trim().len() >= SHORTEST).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// The text, with `***` for every value.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        for value in &self.0 {
            if hidden.contains(value.as_str()) {
                hidden = hidden.replace(value.as_str(), "***");
            }
        }
        hidden
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({} values)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_wherever_they_stand_and_short_ones_are_left() {
        let secrets = Secrets::new(["tok-1", "tok-123", "no"].map(str::to_owned));
        assert_eq!(secrets.hide("no tok-123, tok-1"), "no ***, ***");
        assert_eq!(format!("{secrets:?}"), "Secrets(2 values)");
    }
}
