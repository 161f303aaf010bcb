//! A country by its ISO 3166-1 alpha-2 code.

use std::fmt;

use isocountry::CountryCode;

use super::text;
use super::value_error::{ValueError, quoted};

/// A country of ISO 3166-1. User-assigned codes (`XK`) and reserved ones (`UK`, `EU`) are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country(CountryCode);

impl Country {
    /// Reads an alpha-2 code, in any case.
    ///
    /// # Errors
    /// When it is not a code of ISO 3166-1.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let code = text::identifier(raw)?;
        match CountryCode::for_alpha2(&code) {
            Ok(country) => Ok(Self(country)),
            Err(_) => Err(ValueError::NotACountry(quoted(&code))),
        }
    }

    /// The code: two capitals.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.alpha2()
    }

    /// The country's English short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_in_any_case() {
        assert_eq!(Country::new(" de ").unwrap().code(), "DE");
        assert_eq!(Country::new("ss").unwrap().name(), "South Sudan");
    }

    #[test]
    fn a_code_outside_the_standard_is_refused_by_its_name() {
        for code in ["XX", "XK", "UK", "EU", "DEU", "D", "ÄÖ"] {
            assert_eq!(Country::new(code), Err(ValueError::NotACountry(code.to_owned())));
        }
        let message = Country::new("xx").unwrap_err().to_string();
        assert_eq!(message, "\"XX\" is not an ISO 3166-1 alpha-2 code");
    }
}
