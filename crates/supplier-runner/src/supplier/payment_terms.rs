//! How long the buyer may take to pay.

use super::limits::MAX_PAYMENT_TERMS_DAYS;
use super::text;
use super::value_error::{ValueError, quoted};

/// 0 to 365 days after the invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentTermsDays(u16);

impl PaymentTermsDays {
    /// Reads a whole number of days.
    ///
    /// # Errors
    /// When it is not a whole number, or out of range.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let days = text::words(raw, usize::MAX)?;
        let plain = days.len() <= 3 && days.bytes().all(|b| b.is_ascii_digit());
        match days.parse::<u16>() {
            Ok(number) if plain && number <= MAX_PAYMENT_TERMS_DAYS => Ok(Self(number)),
            Ok(_) | Err(_) => {
                Err(ValueError::NotDays { value: quoted(&days), longest: MAX_PAYMENT_TERMS_DAYS })
            }
        }
    }

    /// The term, in days.
    #[must_use]
    pub fn days(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_go_from_0_to_365_days() {
        for (raw, days) in [("0", 0), (" 030 ", 30), ("365", 365)] {
            assert_eq!(PaymentTermsDays::new(raw).unwrap().days(), days);
        }
        for raw in ["366", "-1", "+5", "30.0", "3e1", "net 30", "99999999", "٣"] {
            assert!(matches!(PaymentTermsDays::new(raw), Err(ValueError::NotDays { .. })), "{raw}");
        }
    }
}
