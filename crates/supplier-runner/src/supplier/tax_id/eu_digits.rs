//! VAT numbers of the European Union that are digits only.
//!
//! Source: the VIES guide for the forms; the algorithms are those of the national tax offices.

use super::super::check_digits::{is_luhn, is_mod_11_10, weighted_sum};
use super::rule::{Checked, Rule, checked, digits, formed, unchecked};

/// The rule of the country with this ISO code, if it is one of these.
pub(super) fn rule(country: &str) -> Option<Rule> {
    Some(match country {
        "BE" => Rule::new(&[("BE", "BE")], "BE and 10 digits, the first 0 or 1", be),
        "BG" => Rule::new(&[("BG", "BG")], "BG and 9 or 10 digits", bg),
        "CZ" => Rule::new(&[("CZ", "CZ")], "CZ and 8, 9 or 10 digits", cz),
        "DE" => Rule::new(&[("DE", "DE")], "DE and 9 digits", de),
        "DK" => {
            Rule::new(&[("DK", "DK")], "DK and 8 digits", |n| sum_rule(n, [2, 7, 6, 5, 4, 3, 2, 1], 11, 0))
        }
        "EE" => {
            Rule::new(&[("EE", "EE")], "EE and 9 digits", |n| sum_rule(n, [3, 7, 1, 3, 7, 1, 3, 7, 1], 10, 0))
        }
        "FI" => {
            Rule::new(&[("FI", "FI")], "FI and 8 digits", |n| sum_rule(n, [7, 9, 10, 5, 8, 4, 2, 1], 11, 0))
        }
        "GR" => Rule::new(&[("EL", "EL"), ("GR", "EL")], "EL and 9 digits", gr),
        "HR" => {
            Rule::new(&[("HR", "HR")], "HR and 11 digits", |n| checked(n, is_mod_11_10(&digits::<11>(n)?)))
        }
        "HU" => {
            Rule::new(&[("HU", "HU")], "HU and 8 digits", |n| sum_rule(n, [9, 7, 3, 1, 9, 7, 3, 1], 10, 0))
        }
        "IT" => Rule::new(&[("IT", "IT")], "IT and 11 digits", it),
        "LT" => Rule::new(&[("LT", "LT")], "LT and 9 or 12 digits", lt),
        "LU" => Rule::new(&[("LU", "LU")], "LU and 8 digits", lu),
        "LV" => Rule::new(&[("LV", "LV")], "LV and 11 digits", lv),
        "MT" => {
            Rule::new(&[("MT", "MT")], "MT and 8 digits", |n| sum_rule(n, [3, 4, 6, 7, 8, 9, 10, 1], 37, 0))
        }
        // The check digit's weight 10 stands for -1: it equals the others' remainder.
        "PL" => Rule::new(&[("PL", "PL")], "PL and 10 digits", |n| {
            sum_rule(n, [6, 5, 7, 2, 3, 4, 5, 6, 7, 10], 11, 0)
        }),
        "PT" => Rule::new(&[("PT", "PT")], "PT and 9 digits", pt),
        "RO" => Rule::new(&[("RO", "RO")], "RO and 2 to 10 digits, the first not 0", ro),
        "SE" => Rule::new(&[("SE", "SE")], "SE and 12 digits", se),
        "SI" => Rule::new(&[("SI", "SI")], "SI and 8 digits", si),
        "SK" => Rule::new(&[("SK", "SK")], "SK and 10 digits", sk),
        _ => return None,
    })
}

/// All digits, the check digit included, times their weights leave `rest`.
fn sum_rule<const N: usize>(number: &str, weights: [u32; N], modulus: u32, rest: u32) -> Checked {
    checked(number, weighted_sum(&digits::<N>(number)?, &weights) % modulus == rest)
}

/// The value of a run of ASCII digits that is short enough for it.
fn value(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |value, digit| value * 10 + u64::from(*digit))
}

/// The last two digits are 97 less the others' remainder. The older form lacks the leading zero.
fn be(number: &str) -> Checked {
    let number = if number.len() == 9 { format!("0{number}") } else { number.to_owned() };
    let d = digits::<10>(&number)?;
    formed(d[0] <= 1)?;
    checked(&number, 97 - value(&d[..8]) % 97 == value(&d[8..]))
}

/// Nine digits are a company's; ten a person's, of several makes.
fn bg(number: &str) -> Checked {
    if number.len() == 10 {
        digits::<10>(number)?;
        return unchecked(number);
    }
    let d = digits::<9>(number)?;
    let mut check = weighted_sum(&d, &[1, 2, 3, 4, 5, 6, 7, 8]) % 11;
    if check == 10 {
        check = weighted_sum(&d, &[3, 4, 5, 6, 7, 8, 9, 10]) % 11 % 10;
    }
    checked(number, check == d[8])
}

/// Eight digits are a company's; nine or ten a person's, from the date of birth.
fn cz(number: &str) -> Checked {
    match number.len() {
        9 => digits::<9>(number).and_then(|_| unchecked(number)),
        10 => digits::<10>(number).and_then(|_| unchecked(number)),
        _ => {
            let d = digits::<8>(number)?;
            let check = (11 - weighted_sum(&d, &[8, 7, 6, 5, 4, 3, 2]) % 11) % 10;
            checked(number, check == d[7])
        }
    }
}

fn de(number: &str) -> Checked {
    checked(number, is_mod_11_10(&digits::<9>(number)?))
}

fn gr(number: &str) -> Checked {
    let d = digits::<9>(number)?;
    let check = weighted_sum(&d, &[256, 128, 64, 32, 16, 8, 4, 2]) % 11 % 10;
    checked(number, check == d[8])
}

fn it(number: &str) -> Checked {
    checked(number, is_luhn(&digits::<11>(number)?))
}

/// The second weights are for sums that leave 10.
fn lt(number: &str) -> Checked {
    const FIRST: [u32; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2];
    const SECOND: [u32; 11] = [3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4];
    let all = if number.len() == 12 { digits::<12>(number)?.to_vec() } else { digits::<9>(number)?.to_vec() };
    let (body, check) = (&all[..all.len() - 1], all[all.len() - 1]);
    let mut expected = weighted_sum(body, &FIRST) % 11;
    if expected == 10 {
        expected = weighted_sum(body, &SECOND) % 11 % 10;
    }
    checked(number, expected == check)
}

fn lu(number: &str) -> Checked {
    let d = digits::<8>(number)?;
    checked(number, value(&d[..6]) % 89 == value(&d[6..]))
}

/// A first digit of 4 or more is a company's; below, a person's from the date of birth.
fn lv(number: &str) -> Checked {
    let d = digits::<11>(number)?;
    let rest = weighted_sum(&d, &[9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1]) % 11;
    if d[0] < 4 { unchecked(number) } else { checked(number, rest == 3) }
}

fn pt(number: &str) -> Checked {
    let d = digits::<9>(number)?;
    let check = (11 - weighted_sum(&d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 % 10;
    checked(number, check == d[8])
}

/// Shorter numbers count as if zeros stood before them.
fn ro(number: &str) -> Checked {
    formed((2..=10).contains(&number.len()) && !number.starts_with('0'))?;
    let d = digits::<10>(&format!("{number:0>10}"))?;
    let check = weighted_sum(&d, &[7, 5, 3, 2, 1, 7, 5, 3, 2]) * 10 % 11 % 10;
    checked(number, check == d[9])
}

/// A national number of ten digits and two that count the registrations.
fn se(number: &str) -> Checked {
    checked(number, is_luhn(&digits::<12>(number)?[..10]))
}

fn si(number: &str) -> Checked {
    let d = digits::<8>(number)?;
    let check = 11 - weighted_sum(&d, &[8, 7, 6, 5, 4, 3, 2]) % 11;
    checked(number, check != 11 && check % 10 == d[7])
}

fn sk(number: &str) -> Checked {
    checked(number, value(&digits::<10>(number)?).is_multiple_of(11))
}

#[cfg(test)]
mod tests {
    use super::super::CheckDigits;
    use super::*;

    #[test]
    fn published_examples_fit_and_one_changed_digit_does_not() {
        for number in [
            "BE0428759497",
            "BG175074752",
            "CZ25123891",
            "DE136695976",
            "DK13585628",
            "EE100594102",
            "FI20774740",
            "EL094259216",
            "HR33392005961",
            "HU12892312",
            "IT00743110157",
            "LT119511515",
            "LT100001919017",
            "LU15027442",
            "LV40003521600",
            "MT11679112",
            "PL8567346215",
            "PT501964843",
            "RO18547290",
            "SE123456789701",
            "SI50223054",
            "SK2022749619",
        ] {
            let (prefix, national) = number.split_at(2);
            let rule = rule(if prefix == "EL" { "GR" } else { prefix }).unwrap();
            assert_eq!(rule.read(number), Ok((number.to_owned(), CheckDigits::Match)));
            let last = national.chars().nth_back(if prefix == "SE" { 2 } else { 0 }).unwrap();
            let other = if last == '9' { '8' } else { '9' };
            let cut = national.len() - if prefix == "SE" { 3 } else { 1 };
            let changed = format!("{}{other}{}", &national[..cut], &national[cut + 1..]);
            assert_eq!(rule.read(&changed), Ok((format!("{prefix}{changed}"), CheckDigits::Mismatch)));
        }
    }

    #[test]
    fn a_persons_number_is_taken_by_its_form() {
        for (country, number) in [("CZ", "CZ7103192745"), ("BG", "BG7523169263"), ("LV", "LV16117519997")] {
            let read = rule(country).unwrap().read(number);
            assert_eq!(read, Ok((number.to_owned(), CheckDigits::NotChecked)));
        }
    }
}
