//! A supplier's tax number, checked by its country's published rules.
//!
//! A number written with or without its country's prefix, with any spaces, dots, slashes or hyphens,
//! has one normal form: the VAT number with its prefix in the European Union, the United Kingdom and
//! Switzerland, the bare national number elsewhere. Where a country's rule is not known here, any 4 to
//! 20 letters and digits with at least one digit will do, and nothing is taken for a prefix.
//!
//! Sources: the European Commission's VIES guide to VAT number formats, and the tax offices' own
//! descriptions. Check digits are checked where the office has published how they are made.

mod eu_digits;
mod eu_letters;
mod rule;
mod world;

use std::fmt;

use self::rule::{Misfit, Rule};
use super::country::Country;
use super::text;
use super::value_error::{ValueError, quoted};

/// A tax number in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaxId(String);

impl TaxId {
    /// Reads a tax number of a country.
    ///
    /// # Errors
    /// When it is not one by that country's rules.
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
            Ok(normal) => Ok(Self(normal)),
            Err(Misfit::CheckDigits) => Err(ValueError::CheckDigits),
            Err(Misfit::Form) => Err(refused(country, &number, rule.form)),
        }
    }

    /// The number in its normal form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn general(country: Country, number: String) -> Result<TaxId, ValueError> {
    let fits = (4..=20).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_alphanumeric())
        && number.bytes().any(|b| b.is_ascii_digit());
    if fits { Ok(TaxId(number)) } else { Err(refused(country, &number, "4 to 20 letters and digits")) }
}

fn refused(country: Country, number: &str, form: &'static str) -> ValueError {
    ValueError::NotATaxId { value: quoted(number), country: country.code(), form }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(country: &str, raw: &str) -> Result<String, ValueError> {
        TaxId::new(Country::new(country).unwrap(), raw).map(|id| id.0)
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
    fn wrong_check_digits_and_a_wrong_form_are_told_apart() {
        assert_eq!(read("DE", "DE136695977"), Err(ValueError::CheckDigits));
        let form = read("DE", "FR40303265045").unwrap_err().to_string();
        assert_eq!(form, "\"FR40303265045\" is not a tax number of DE (DE and 9 digits)");
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
