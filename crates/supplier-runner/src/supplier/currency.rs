//! A currency by its ISO 4217 code.

use std::fmt;

use iso_currency::{Currency as Iso, Flag};

use super::text;
use super::value_error::{ValueError, quoted};

/// A current currency of ISO 4217 that has a minor unit, so that amounts in it can be paid. Metals,
/// test codes and currencies that another one has replaced are none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency {
    iso: Iso,
    decimals: u32,
}

impl Currency {
    /// Reads a code, in any case.
    ///
    /// # Errors
    /// When there is no such code, or no payments are made in it (any more).
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let code = text::identifier(raw)?;
        let Some(iso) = Iso::from_code(&code) else {
            return Err(ValueError::NotACurrency(quoted(&code)));
        };
        if let Some(successor) = iso.is_superseded() {
            let new = successor.code().to_owned();
            return Err(ValueError::ReplacedCurrency { old: code, new });
        }
        match iso.exponent() {
            Some(exponent) if !iso.has_flag(Flag::Special) => Ok(Self { iso, decimals: u32::from(exponent) }),
            Some(_) | None => Err(ValueError::NotSpendable(code)),
        }
    }

    /// The code: three capitals.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.iso.code()
    }

    /// The decimals of its minor unit: 2 for EUR, 0 for JPY, 3 for KWD.
    #[must_use]
    pub fn decimals(self) -> u32 {
        self.decimals
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Currency({})", self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_in_any_case_with_its_decimals() {
        for (raw, code, decimals) in [(" eur ", "EUR", 2), ("jpy", "JPY", 0), ("KWD", "KWD", 3)] {
            let currency = Currency::new(raw).unwrap();
            assert_eq!((currency.code(), currency.decimals()), (code, decimals));
        }
    }

    #[test]
    fn what_nobody_pays_in_is_refused() {
        assert_eq!(Currency::new("EURO"), Err(ValueError::NotACurrency("EURO".to_owned())));
        assert_eq!(Currency::new("xau"), Err(ValueError::NotSpendable("XAU".to_owned())));
        let replaced = Currency::new("HRK").unwrap_err().to_string();
        assert_eq!(replaced, "\"HRK\" has been replaced by \"EUR\"");
    }
}
