//! A bank by its BIC.
//!
//! Source: ISO 9362. `XK` counts as a country here: Kosovo's banks have it in their BICs, though
//! ISO 3166-1 has not assigned it.

use std::fmt;

use super::country::Country;
use super::text;
use super::value_error::{ValueError, quoted};

/// 8 or 11 characters: 4 letters of the bank, 2 of the country, 2 letters or digits of the place, and
/// 3 of the branch or none. In capitals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bic(String);

impl Bic {
    /// Reads a BIC, in any case.
    ///
    /// # Errors
    /// When the form is wrong or the country does not exist.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let text = text::identifier(raw)?;
        let right_form = matches!(text.len(), 8 | 11)
            && text.bytes().all(|b| b.is_ascii_alphanumeric())
            && text.bytes().take(6).all(|b| b.is_ascii_alphabetic());
        if !right_form {
            return Err(ValueError::NotABic(quoted(&text)));
        }
        let country = &text[4..6];
        if country != "XK" && Country::new(country).is_err() {
            return Err(ValueError::BicCountry(country.to_owned()));
        }
        Ok(Self(text))
    }

    /// The BIC in capitals.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Bic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lengths_are_read_in_any_case() {
        for (raw, bic) in
            [("deut de ff", "DEUTDEFF"), ("NEDSZAJJXXX", "NEDSZAJJXXX"), ("PCBKXKPR", "PCBKXKPR")]
        {
            assert_eq!(Bic::new(raw).unwrap().as_str(), bic);
        }
    }

    #[test]
    fn a_wrong_form_or_country_is_refused() {
        for raw in ["DEUTDEF", "DEUTDEFFX", "DEU1DEFF", "DEUTDEFÄ", "DEUTDEFFXX%"] {
            assert_eq!(Bic::new(raw), Err(ValueError::NotABic(raw.to_owned())));
        }
        assert_eq!(Bic::new("DEUTXXFF"), Err(ValueError::BicCountry("XX".to_owned())));
    }
}
