//! What can be wrong with one value of a supplier record, in words that say what to do.
//!
//! Messages are fragments that stand after the field's name: `iban: check digits do not match`.
//! A value is quoted only in part, so that a message stays one short line.

use super::limits::{MAX_DEPTH, MAX_NUMBER_CHARS, MAX_NUMBER_EXPONENT};

/// The longest part of a value that a message quotes, in characters.
const QUOTED_CHARS: usize = 40;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A required value is not there, or blank.
    #[error("is missing")]
    Missing,
    /// The value is blank.
    #[error("is empty")]
    Empty,
    /// The value is too long.
    #[error("is longer than {limit} characters")]
    TooLong {
        /// The most characters it may have.
        limit: usize,
    },
    /// A character that text may not have.
    #[error("has a control character (U+{:04X})", u32::from(*.0))]
    ControlCharacter(char),
    /// The JSON value has the wrong kind.
    #[error("must be {0}")]
    WrongKind(&'static str),
    /// The check digits are not those of the rest.
    #[error("check digits do not match")]
    CheckDigits,
    /// No such country.
    #[error("{0:?} is not an ISO 3166-1 alpha-2 code")]
    NotACountry(String),
    /// No such currency.
    #[error("{0:?} is not an ISO 4217 currency code")]
    NotACurrency(String),
    /// A code of ISO 4217 in which nobody is paid.
    #[error("{0:?} is not a currency that payments are made in")]
    NotSpendable(String),
    /// A currency that another one has replaced.
    #[error("{old:?} has been replaced by {new:?}")]
    ReplacedCurrency {
        /// The code that was given.
        old: String,
        /// The one that stands for it now.
        new: String,
    },
    /// Not a tax number as the country writes them.
    #[error("{value:?} is not a tax number of {country} ({form})")]
    NotATaxId {
        /// The value, cleaned.
        value: String,
        /// The supplier's country.
        country: &'static str,
        /// How the country writes its numbers.
        form: &'static str,
    },
    /// Not an IBAN's form.
    #[error("{0:?} is not an IBAN (country, two check digits, account)")]
    NotAnIban(String),
    /// An IBAN of a country that is not in the IBAN registry.
    #[error("{0:?} is not a country with IBANs")]
    NoIbanCountry(String),
    /// Length or characters are not those of the IBAN's country.
    #[error("does not have the form of an IBAN of {0}")]
    IbanForm(String),
    /// Not a BIC's form.
    #[error(
        "{0:?} is not a BIC (4 letters, 2 letters of the country, 2 letters or digits, and 3 more or none)"
    )]
    NotABic(String),
    /// A BIC's country that does not exist.
    #[error("letters 5 and 6 are {0:?}, which is no country")]
    BicCountry(String),
    /// Not an LEI's form.
    #[error("{0:?} is not an LEI (18 letters or digits, two check digits)")]
    NotAnLei(String),
    /// Not an e-mail address.
    #[error("{value:?} is not an e-mail address: {reason}")]
    NotAnEmail {
        /// The value, trimmed.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Not a number of days.
    #[error("{value:?} is not a whole number of days from 0 to {longest}")]
    NotDays {
        /// The value.
        value: String,
        /// The longest term.
        longest: u16,
    },
    /// Not a plain decimal.
    #[error("{0:?} is not a plain decimal number such as 25000.00")]
    NotADecimal(String),
    /// A limit below zero.
    #[error("must not be below zero")]
    Negative,
    /// A limit too large to hold exactly.
    #[error("has more than {0} digits before the decimal point")]
    TooManyDigits(usize),
    /// More decimals than the currency has.
    #[error("has more decimals ({given}) than {currency} ({allowed})")]
    TooManyDecimals {
        /// The decimals that carry a value.
        given: u32,
        /// The currency.
        currency: &'static str,
        /// Its minor unit's decimals.
        allowed: u32,
    },
    /// Too many entries in a list.
    #[error("has more than {0} entries")]
    TooManyEntries(usize),
    /// The same name twice in one object, or in a header.
    #[error("is given twice")]
    GivenTwice,
    /// A NUL, which the database cannot store.
    #[error("holds a NUL character (\\u0000)")]
    Nul,
    /// Nested too deep.
    #[error("is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// A number that cannot be kept digit for digit everywhere.
    #[error(
        "is a number with more than {MAX_NUMBER_CHARS} characters or an exponent beyond {MAX_NUMBER_EXPONENT}"
    )]
    NumberTooLong,
}

/// One bad field of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {error}")]
pub struct FieldError {
    /// The field's path, like `iban` or `notes.phones[2]`.
    pub field: String,
    /// What is wrong there.
    pub error: ValueError,
}

impl FieldError {
    /// An error of the field with this path.
    #[must_use]
    pub fn new(field: impl Into<String>, error: ValueError) -> Self {
        let field = field.into();
        Self { field, error }
    }

    /// The record's own field that the path starts at: `notes` of `notes.phones[2]`.
    #[must_use]
    pub fn top(&self) -> &str {
        top_of(&self.field)
    }
}

/// The record's own field that a path starts at.
pub(super) fn top_of(path: &str) -> &str {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    &path[..end]
}

/// The start of a value, short enough to be quoted in a message.
pub(super) fn quoted(value: &str) -> String {
    match value.char_indices().nth(QUOTED_CHARS) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_error_names_the_field_first() {
        let error = FieldError::new("iban", ValueError::CheckDigits);
        assert_eq!(error.to_string(), "iban: check digits do not match");
        assert_eq!(FieldError::new("notes.a[2]", ValueError::Nul).top(), "notes");
    }

    #[test]
    fn a_long_value_is_quoted_in_part() {
        assert_eq!(quoted("short"), "short");
        assert_eq!(quoted(&"é".repeat(500)).chars().count(), QUOTED_CHARS + 1);
    }
}
