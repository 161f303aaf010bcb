//! How much may be ordered from a supplier, exactly.

use std::fmt;

use rust_decimal::Decimal;

use super::currency::Currency;
use super::limits::MAX_LIMIT_DIGITS;
use super::text;
use super::value_error::{ValueError, quoted};

/// An amount of zero or more in a currency, never rounded. Its text always has all decimals of the
/// currency's minor unit, so that `500`, `500.0` and `500.00` EUR are the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpendingLimit(Decimal);

impl SpendingLimit {
    /// Reads a plain decimal number: digits, and a point with more digits or none. Zeros that add
    /// nothing are not counted as decimals.
    ///
    /// # Errors
    /// When it is something else, below zero, too large, or finer than the currency's minor unit.
    pub fn new(raw: &str, currency: Currency) -> Result<Self, ValueError> {
        let text = text::words(raw, usize::MAX)?;
        let unsigned = text.strip_prefix('-').unwrap_or(&text);
        let (whole, fraction) =
            split_plain(unsigned).ok_or_else(|| ValueError::NotADecimal(quoted(&text)))?;
        if unsigned.len() < text.len() && !(whole.is_empty() && fraction.is_empty()) {
            return Err(ValueError::Negative);
        }
        if whole.len() > MAX_LIMIT_DIGITS {
            return Err(ValueError::TooManyDigits(MAX_LIMIT_DIGITS));
        }
        let allowed = currency.decimals();
        let given = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        if given > allowed {
            let currency = currency.code();
            return Err(ValueError::TooManyDecimals { given, currency, allowed });
        }
        // At most 18 digits before and 4 behind the point by now: they always fit.
        let mut amount = Decimal::from_str_exact(&format!("0{whole}.{fraction:0<1}"))
            .map_err(|_| ValueError::NotADecimal(quoted(&text)))?;
        amount.rescale(allowed);
        Ok(Self(amount))
    }

    /// The amount.
    #[must_use]
    pub fn amount(self) -> Decimal {
        self.0
    }
}

impl fmt::Display for SpendingLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The digits before and behind the point, without zeros that add nothing.
fn split_plain(text: &str) -> Option<(&str, &str)> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let plain = !whole.is_empty() && digits(whole) && digits(fraction);
    plain.then(|| (whole.trim_start_matches('0'), fraction.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(raw: &str, currency: &str) -> Result<String, ValueError> {
        SpendingLimit::new(raw, Currency::new(currency).unwrap()).map(|limit| limit.to_string())
    }

    #[test]
    fn an_amount_has_all_decimals_of_its_currency() {
        for (raw, currency, text) in [
            ("500", "EUR", "500.00"),
            (" 0500.5 ", "EUR", "500.50"),
            ("0", "EUR", "0.00"),
            ("-0.00", "EUR", "0.00"),
            ("500.000", "EUR", "500.00"),
            ("7000.00", "JPY", "7000"),
            ("1.234", "KWD", "1.234"),
            ("999999999999999999.99", "EUR", "999999999999999999.99"),
        ] {
            assert_eq!(limit(raw, currency), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_cannot_be_held_exactly_is_refused() {
        for raw in ["NaN", "inf", "1e3", "1,000", "1_000", ".5", "5.", "", "-", "--1", "0x1", "1.2.3"] {
            let expected =
                if raw.is_empty() { ValueError::Empty } else { ValueError::NotADecimal(raw.to_owned()) };
            assert_eq!(limit(raw, "EUR"), Err(expected));
        }
        assert_eq!(limit("-1", "EUR"), Err(ValueError::Negative));
        assert_eq!(limit("1000000000000000000", "EUR"), Err(ValueError::TooManyDigits(18)));
        let finer = limit("0.001", "EUR").unwrap_err().to_string();
        assert_eq!(finer, "has more decimals (3) than EUR (2)");
    }
}
