//! One country's rule for tax numbers, and which country has which.

use super::super::country::Country;
use super::{eu_digits, eu_letters, world};

/// Why a number is not one of the country.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// Length or characters are wrong.
    Form,
    /// The form is right, the check digits are not.
    CheckDigits,
}

/// A national number (without prefix) in its normal form, or why it is none.
pub(super) type Checked = Result<String, Misfit>;

/// How a country writes its tax numbers.
pub(super) struct Rule {
    /// Prefixes that may stand before the number, each with what the normal form has in its place;
    /// a number without a prefix gets the first one's.
    prefixes: &'static [(&'static str, &'static str)],
    /// The form, in words, for messages.
    pub(super) form: &'static str,
    /// Checks a number without its prefix.
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
    pub(super) fn read(&self, number: &str) -> Checked {
        let bare = self.prefixes.first().map_or("", |(_, kept)| kept);
        let mut readings = vec![(bare, number)];
        for (prefix, kept) in self.prefixes {
            if let Some(rest) = number.strip_prefix(prefix) {
                readings.push((kept, rest));
            }
        }
        let mut misfit = Misfit::Form;
        for (kept, national) in readings {
            match (self.check)(national) {
                Ok(normal) => return Ok(format!("{kept}{normal}")),
                Err(Misfit::CheckDigits) => misfit = Misfit::CheckDigits,
                Err(Misfit::Form) => {}
            }
        }
        Err(misfit)
    }
}

/// Exactly N digits.
pub(super) fn digits<const N: usize>(number: &str) -> Result<[u32; N], Misfit> {
    let mut found = [0; N];
    if number.len() != N {
        return Err(Misfit::Form);
    }
    for (place, character) in found.iter_mut().zip(number.chars()) {
        *place = character.to_digit(10).ok_or(Misfit::Form)?;
    }
    Ok(found)
}

/// The number as it is, if its check digits are right.
pub(super) fn checked(number: &str, right: bool) -> Checked {
    if right { Ok(number.to_owned()) } else { Err(Misfit::CheckDigits) }
}

/// The number as it is, if its form is right and no check digits are known.
pub(super) fn formed(number: &str, right: bool) -> Checked {
    if right { Ok(number.to_owned()) } else { Err(Misfit::Form) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_preferred_to_a_prefix() {
        let rule = Rule::new(&[("AB", "AB")], "", |n| formed(n, n.len() == 4));
        assert_eq!(rule.read("AB12").as_deref(), Ok("ABAB12"));
        assert_eq!(rule.read("ABAB12").as_deref(), Ok("ABAB12"));
        assert_eq!(rule.read("AB1"), Err(Misfit::Form));
    }

    #[test]
    fn digits_are_ascii_and_exactly_as_many() {
        assert_eq!(digits::<3>("123"), Ok([1, 2, 3]));
        assert_eq!(digits::<3>("1234"), Err(Misfit::Form));
        assert_eq!(digits::<3>("1é"), Err(Misfit::Form));
    }
}
