//! A legal entity by its LEI.
//!
//! Source: ISO 17442, check digits by ISO 7064 MOD 97-10. Done by hand, because the crate `lei`
//! (0.2.5) refuses right check digits 97 and 98 and takes 00 and 01, which the standard rules out.

use std::fmt;

use super::check_digits::remainder_97;
use super::text;
use super::value_error::{ValueError, quoted};

/// 18 letters or digits and two check digits from 02 to 98, in capitals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lei(String);

impl Lei {
    /// Reads an LEI, in any case.
    ///
    /// # Errors
    /// When the form or the check digits are wrong.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let text = text::identifier(raw)?;
        let right_form = text.len() == 20
            && text.bytes().all(|b| b.is_ascii_alphanumeric())
            && text.bytes().skip(18).all(|b| b.is_ascii_digit());
        if !right_form {
            return Err(ValueError::NotAnLei(quoted(&text)));
        }
        let ruled_out = matches!(&text[18..], "00" | "01" | "99");
        if ruled_out || remainder_97(&text) != Some(1) {
            return Err(ValueError::CheckDigits);
        }
        Ok(Self(text))
    }

    /// The LEI in capitals.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Lei {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_check_digits_from_02_to_98_are_taken() {
        for lei in ["529900c4as9gtxa88s02", "5299004WNJRWMXK07S97", "529900AT57WOB9GRD398"] {
            assert_eq!(Lei::new(lei).unwrap().as_str(), lei.to_ascii_uppercase());
        }
    }

    #[test]
    fn wrong_check_digits_and_those_ruled_out_are_refused() {
        // The second leaves remainder 1, but with check digits that the standard never gives.
        for lei in ["529900C4AS9GTXA88S03", "31570010000000045200"] {
            assert_eq!(Lei::new(lei), Err(ValueError::CheckDigits));
        }
        assert_eq!(Lei::new("5299 00"), Err(ValueError::NotAnLei("529900".to_owned())));
    }
}
