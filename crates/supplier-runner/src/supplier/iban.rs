//! An account by its IBAN.
//!
//! Source: ISO 13616 and the IBAN registry, as the crate `iban_validate` holds it. The account's
//! country need not be the supplier's.

use std::fmt;

use iban::{IbanLike, ParseBaseIbanError, ParseIbanError};

use super::text;
use super::value_error::{ValueError, quoted};

/// An IBAN with right check digits and the form of its country, without spaces, in capitals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Iban(iban::Iban);

impl Iban {
    /// Reads an IBAN, with or without spaces, in any case.
    ///
    /// # Errors
    /// When the form, the country or the check digits are wrong.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let text = text::identifier(raw)?;
        match text.parse::<iban::Iban>() {
            Ok(iban) => Ok(Self(iban)),
            Err(ParseIbanError::InvalidBaseIban { source: ParseBaseIbanError::InvalidChecksum }) => {
                Err(ValueError::CheckDigits)
            }
            Err(ParseIbanError::InvalidBaseIban { source: ParseBaseIbanError::InvalidFormat }) => {
                Err(ValueError::NotAnIban(quoted(&text)))
            }
            Err(ParseIbanError::UnknownCountry(base)) => {
                Err(ValueError::NoIbanCountry(base.country_code().to_owned()))
            }
            Err(ParseIbanError::InvalidBban(base)) => {
                Err(ValueError::IbanForm(base.country_code().to_owned()))
            }
        }
    }

    /// The IBAN without spaces.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.electronic_str()
    }
}

impl fmt::Display for Iban {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_hyphens_and_lower_case_are_normalised_case_23() {
        let iban = Iban::new(" de89 3704-0044 0532\u{A0}0130 00 ").unwrap();
        assert_eq!(iban.as_str(), "DE89370400440532013000");
    }

    #[test]
    fn each_kind_of_mistake_has_its_own_answer() {
        assert_eq!(Iban::new("DE88370400440532013000"), Err(ValueError::CheckDigits));
        assert_eq!(Iban::new("hello"), Err(ValueError::NotAnIban("HELLO".to_owned())));
        assert_eq!(Iban::new("DE89é"), Err(ValueError::NotAnIban("DE89é".to_owned())));
        // Right check digits by ISO 7064, but no such country, and one digit too few.
        assert_eq!(Iban::new("XX07123456789"), Err(ValueError::NoIbanCountry("XX".to_owned())));
        assert_eq!(Iban::new("DE5137040044053201300"), Err(ValueError::IbanForm("DE".to_owned())));
    }
}
