//! One country's rule for tax numbers, and which country has which.
//!
//! Form is what the office publishes: how long a number is and where it has letters. A number of the
//! right form is read whatever its digits are; whether their check holds is said beside it.

use super::super::country::Country;
use super::{CheckDigits, eu_digits, eu_letters, world};

/// A number's length or characters are not the country's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrongForm;

/// A number in its normal form, and what its check digits say.
pub(super) type Checked = Result<(String, CheckDigits), WrongForm>;

/// How a country writes its tax numbers.
pub(super) struct Rule {
    /// Prefixes that may stand before the number, each with what the normal form has in its place;
    /// a number without a prefix gets the first one's.
    prefixes: &'static [(&'static str, &'static str)],
    /// The form, in words, for messages.
    pub(super) form: &'static str,
    /// Reads a number without its prefix.
    check: fn(&str) -> Checked,
}

impl Rule {
    /// The country's rule, where one is known.
    pub(super) fn of(country: Country) -> Option<Self> {
        let code = country.code();
        eu_digits::rule(code).or_else(|| eu_letters::rule(code)).or_else(|| world::rule(code))
    }

    pub(super) const fn new(
        prefixes: &'static [(&'static str, &'static str)],
        form: &'static str,
        check: fn(&str) -> Checked,
    ) -> Self {
        Self { prefixes, form, check }
    }

    /// The normal form of a number with or without a prefix. The bare number is tried first, since a
    /// national number may begin with its country's letters (a French key can be `FR`).
    ///
    /// Letters that are a country's make a number look like another's (`DE123456789` has a French
    /// number's form too): only check digits that match show that it is not.
    pub(super) fn read(&self, number: &str) -> Checked {
        let bare = self.prefixes.first().map_or("", |(_, kept)| kept);
        let mut readings = vec![(bare, number)];
        for (prefix, kept) in self.prefixes {
            if let Some(rest) = number.strip_prefix(prefix) {
                readings.push((kept, rest));
            }
        }
        for (kept, national) in readings {
            if let Ok((normal, check_digits)) = (self.check)(national)
                && !(check_digits == CheckDigits::Mismatch && begins_with_a_country(national))
            {
                return Ok((format!("{kept}{normal}"), check_digits));
            }
        }
        Err(WrongForm)
    }
}

/// Whether a country's letters come first; `EL` and `XI` are prefixes that ISO 3166-1 does not have.
fn begins_with_a_country(number: &str) -> bool {
    number.get(..2).is_some_and(|start| matches!(start, "EL" | "XI") || Country::new(start).is_ok())
}

/// Exactly N digits.
pub(super) fn digits<const N: usize>(number: &str) -> Result<[u32; N], WrongForm> {
    let mut found = [0; N];
    if number.len() != N {
        return Err(WrongForm);
    }
    for (place, character) in found.iter_mut().zip(number.chars()) {
        *place = character.to_digit(10).ok_or(WrongForm)?;
    }
    Ok(found)
}

/// Goes on if the form is right.
pub(super) fn formed(right: bool) -> Result<(), WrongForm> {
    if right { Ok(()) } else { Err(WrongForm) }
}

/// The number as it is, with what its check digits say.
pub(super) fn checked(number: &str, matching: bool) -> Checked {
    let check_digits = if matching { CheckDigits::Match } else { CheckDigits::Mismatch };
    Ok((number.to_owned(), check_digits))
}

/// The number as it is, where no check digits are known.
pub(super) fn unchecked(number: &str) -> Checked {
    Ok((number.to_owned(), CheckDigits::NotChecked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_preferred_to_a_prefix() {
        let rule = Rule::new(&[("AB", "AB")], "", |n| formed(n.len() == 4).and_then(|()| unchecked(n)));
        assert_eq!(rule.read("AB12"), Ok(("ABAB12".to_owned(), CheckDigits::NotChecked)));
        assert_eq!(rule.read("ABAB12"), Ok(("ABAB12".to_owned(), CheckDigits::NotChecked)));
        assert_eq!(rule.read("AB1"), Err(WrongForm));
    }

    #[test]
    fn a_number_that_looks_like_another_countrys_needs_its_check_digits() {
        let rule = Rule::new(&[("FR", "FR")], "", |n| {
            formed(n.len() == 4).and_then(|()| checked(n, n.ends_with('7')))
        });
        for number in ["DE12", "EL12", "XI12", "FR12", "FRDE12"] {
            assert_eq!(rule.read(number), Err(WrongForm), "{number}");
        }
        for (number, check_digits) in [("DE17", CheckDigits::Match), ("XX12", CheckDigits::Mismatch)] {
            assert_eq!(rule.read(number), Ok((format!("FR{number}"), check_digits)));
        }
    }

    #[test]
    fn digits_are_ascii_and_exactly_as_many() {
        assert_eq!(digits::<3>("123"), Ok([1, 2, 3]));
        assert_eq!(digits::<3>("1234"), Err(WrongForm));
        assert_eq!(digits::<3>("1é"), Err(WrongForm));
    }
}
