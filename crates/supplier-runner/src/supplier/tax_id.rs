//! A supplier's tax number, checked by its country's published format.
//!
//! A number written with or without its country's prefix, with any spaces, dots, slashes or hyphens,
//! has one normal form: the VAT number with its prefix in the European Union, the United Kingdom and
//! Switzerland, the bare national number elsewhere. Where a country's rule is not known here, any 4 to
//! 20 letters and digits with at least one digit will do, and nothing is taken for a prefix.
//!
//! A number of the wrong form is refused. Check digits that do not match are only told of: many offices
//! have not published how theirs are made, and a supplier that exists must not be refused for a formula
//! that others have found out.
//!
//! Sources: the European Commission's VIES guide to VAT number formats, and the tax offices' own
//! descriptions; for check digits, also what is commonly known of them.

mod eu_digits;
mod eu_letters;
mod rule;
mod world;

use std::fmt;

use self::rule::{Rule, WrongForm};
use super::country::Country;
use super::text;
use super::value_error::{ValueError, quoted};

/// A tax number of the right form, in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaxId {
    number: String,
    check_digits: CheckDigits,
}

/// What a number's check digits (or letters) say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub enum CheckDigits {
    /// They are those of the rest.
    Match,
    /// They are not those of the rest, as far as is known how the country makes them.
    Mismatch,
    /// The number has none, or it is not known here how the country makes them.
    NotChecked,
}

impl TaxId {
    /// Reads a tax number of a country, whatever its check digits say.
    ///
    /// # Errors
    /// When it does not have the form that the country's numbers have.
    pub fn new(country: Country, raw: &str) -> Result<Self, ValueError> {
        let mut number = text::identifier(raw)?;
        number.retain(|c| !matches!(c, '.' | '/'));
        if number.is_empty() {
            return Err(ValueError::Empty);
        }
        let Some(rule) = Rule::of(country) else {
            return general(country, number);
        };
        match rule.read(&number) {
            Ok((number, check_digits)) => Ok(Self { number, check_digits }),
            Err(WrongForm) => Err(refused(country, &number, rule.form)),
        }
    }

    /// The number in its normal form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.number
    }

    /// Whether its check digits are those of the rest. Ask before relying on the number: a mismatch
    /// is most often a typing error.
    pub fn check_digits(&self) -> CheckDigits {
        self.check_digits
    }
}

impl fmt::Display for TaxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.number)
    }
}

fn general(country: Country, number: String) -> Result<TaxId, ValueError> {
    let fits = (4..=20).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_alphanumeric())
        && number.bytes().any(|b| b.is_ascii_digit());
    if !fits {
        return Err(refused(country, &number, "4 to 20 letters and digits"));
    }
    Ok(TaxId { number, check_digits: CheckDigits::NotChecked })
}

fn refused(country: Country, number: &str, form: &'static str) -> ValueError {
    ValueError::NotATaxId { value: quoted(number), country: country.code(), form }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(country: &str, raw: &str) -> Result<String, ValueError> {
        TaxId::new(Country::new(country).unwrap(), raw).map(|id| id.number)
    }

    #[test]
    fn a_number_with_and_without_its_prefix_is_the_same() {
        for (country, forms, normal) in [
            ("DE", ["DE 136.695.976", "136695976", "de-136/695/976"], "DE136695976"),
            ("GR", ["EL 094259216", "GR094259216", "094259216"], "EL094259216"),
            ("FR", ["FR 40 303 265 045", "40303265045", "fr40303265045"], "FR40303265045"),
            ("BE", ["BE 0428.759.497", "428759497", "0428759497"], "BE0428759497"),
            ("AT", ["ATU13585627", "U13585627", "at u 1358 5627"], "ATU13585627"),
            ("CH", ["CHE-107.787.577 MWST", "107787577", "CHE107787577 TVA"], "CHE107787577"),
            ("NO", ["NO 995 525 828 MVA", "995525828", "995525828MVA"], "995525828"),
            ("US", ["12-3456789", "US123456789", "123456789"], "123456789"),
            ("GB", ["GB 980 7806 84", "980780684", "gb980780684"], "GB980780684"),
        ] {
            for raw in forms {
                assert_eq!(read(country, raw).as_deref(), Ok(normal), "{country} {raw}");
            }
        }
        assert_eq!(read("GB", "XI 980780684").as_deref(), Ok("XI980780684"));
    }

    #[test]
    fn a_number_of_the_right_form_is_taken_and_says_whether_its_check_digits_match() {
        for (country, raw, normal, check_digits) in [
            ("DE", "DE 136 695 976", "DE136695976", CheckDigits::Match),
            ("DE", "123456789", "DE123456789", CheckDigits::Mismatch),
            ("DE", "DE012345678", "DE012345678", CheckDigits::Mismatch),
            ("IT", "12345678901", "IT12345678901", CheckDigits::Mismatch),
            ("LT", "LT123456789", "LT123456789", CheckDigits::Mismatch),
            ("FR", "FR12345678901", "FR12345678901", CheckDigits::Mismatch),
            ("US", "12-3456789", "123456789", CheckDigits::NotChecked),
            ("NZ", "49-091-850", "49091850", CheckDigits::NotChecked),
        ] {
            let id = TaxId::new(Country::new(country).unwrap(), raw).unwrap();
            assert_eq!((id.as_str(), id.check_digits()), (normal, check_digits));
        }
    }

    #[test]
    fn a_wrong_length_letter_or_prefix_is_refused_with_the_form() {
        for raw in ["DE12345678", "DE1234567890", "DE12345678A", "FR40303265045", "AT136695976"] {
            let message = read("DE", raw).unwrap_err().to_string();
            assert_eq!(message, format!("\"{raw}\" is not a tax number of DE (DE and 9 digits)"));
        }
        // A French number may begin with any two letters, but these are another country's.
        assert!(matches!(read("FR", "DE123456789"), Err(ValueError::NotATaxId { .. })));
    }

    #[test]
    fn a_country_without_a_rule_here_takes_letters_and_digits() {
        assert_eq!(read("NZ", "49-091-850").as_deref(), Ok("49091850"));
        assert_eq!(read("SG", "20042 7317 w").as_deref(), Ok("200427317W"));
        for raw in ["123", "ABCDEF", "12345é", "123456789012345678901"] {
            assert!(matches!(read("NZ", raw), Err(ValueError::NotATaxId { .. })), "{raw}");
        }
        assert_eq!(read("NZ", " ./- "), Err(ValueError::Empty));
    }
}
