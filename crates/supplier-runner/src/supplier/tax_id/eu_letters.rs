//! VAT numbers of the European Union that have letters of their own.
//!
//! Source: the VIES guide for the forms; the algorithms are those of the national tax offices.

use super::super::check_digits::{digit_sum, is_luhn, remainder_97, weighted_sum};
use super::rule::{Checked, Rule, WrongForm, checked, digits, formed, unchecked};

/// The rule of the country with this ISO code, if it is one of these. Monaco and the French overseas
/// departments in the VAT area have French numbers.
pub(super) fn rule(country: &str) -> Option<Rule> {
    Some(match country {
        "AT" => Rule::new(&[("AT", "AT")], "ATU and 8 digits", at),
        "CY" => Rule::new(&[("CY", "CY")], "CY, 8 digits and a letter", cy),
        "ES" => Rule::new(&[("ES", "ES")], "ES and 9 letters or digits, a NIF, NIE or CIF", es),
        "FR" | "MC" | "GP" | "MQ" | "RE" => {
            Rule::new(&[("FR", "FR")], "FR, 2 letters or digits and 9 digits", fr)
        }
        "IE" => Rule::new(&[("IE", "IE")], "IE, 7 digits and 1 or 2 letters", ie),
        "NL" => Rule::new(&[("NL", "NL")], "NL, 9 digits, B and 2 digits", nl),
        _ => return None,
    })
}

/// The number's parts before and from a byte, where it is long enough and ASCII.
fn parts(number: &str, at: usize) -> Result<(&str, &str), WrongForm> {
    if number.is_ascii() { number.split_at_checked(at).ok_or(WrongForm) } else { Err(WrongForm) }
}

fn at(number: &str) -> Checked {
    let d = digits::<8>(number.strip_prefix('U').ok_or(WrongForm)?)?;
    let sum = d[0] + d[2] + d[4] + d[6] + [d[1], d[3], d[5]].map(|n| digit_sum(2 * n)).iter().sum::<u32>();
    checked(number, (96 - sum) % 10 == d[7])
}

fn cy(number: &str) -> Checked {
    const ODD: [u32; 10] = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
    let (body, letter) = parts(number, 8)?;
    let d = digits::<8>(body)?;
    let sum: u32 = d
        .iter()
        .zip(0..)
        .map(|(digit, place)| if place % 2 == 0 { ODD[*digit as usize] } else { *digit })
        .sum();
    let well_formed = letter.len() == 1 && letter.bytes().all(|b| b.is_ascii_uppercase());
    formed(well_formed)?;
    checked(
        number,
        char::from_digit(sum % 26 + 10, 36).map(|c| c.to_ascii_uppercase()) == letter.chars().next(),
    )
}

/// A person's number has a letter from the remainder by 23; a company's begins with its kind and
/// ends with a digit or the letter that stands for it.
fn es(number: &str) -> Checked {
    const PERSON: &str = "TRWAGMYFPDXBNJZSQVHLCKE";
    const COMPANY: &str = "JABCDEFGHI";
    let (first, rest) = parts(number, 1)?;
    let (middle, last) = parts(rest, 7)?;
    formed(last.len() == 1 && last.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()))?;
    let person = |text: &str| {
        formed(last.bytes().all(|b| b.is_ascii_uppercase()))?;
        let value: usize = text.parse().map_err(|_| WrongForm)?;
        checked(number, PERSON[value % 23..].starts_with(last))
    };
    let d = digits::<7>(middle)?;
    match first {
        "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => person(&number[..8]),
        "K" | "L" | "M" | "X" => person(middle),
        "Y" => person(&format!("1{middle}")),
        "Z" => person(&format!("2{middle}")),
        _ if "ABCDEFGHJNPQRSUVW".contains(first) => {
            let doubled: u32 = [d[0], d[2], d[4], d[6]].map(|n| digit_sum(2 * n)).iter().sum();
            let check = (10 - (doubled + d[1] + d[3] + d[5]) % 10) % 10;
            // Sources disagree which kinds end with the digit and which with the letter: either will do.
            let digit = last == check.to_string();
            let letter = COMPANY[check as usize..].starts_with(last);
            checked(number, digit || letter)
        }
        _ => Err(WrongForm),
    }
}

/// A key and the SIREN. A key with letters is not checked; Monaco's numbers have 000 for a SIREN's
/// start and no check digit of their own.
fn fr(number: &str) -> Checked {
    let (key, siren) = parts(number, 2)?;
    let d = digits::<9>(siren)?;
    let key_formed = key.bytes().all(|b| b.is_ascii_alphanumeric() && b != b'O' && b != b'I');
    formed(key_formed)?;
    let siren_right = if siren.starts_with("000") { None } else { Some(is_luhn(&d)) };
    let key_right = key.parse::<u32>().ok().map(|key| remainder_97(&format!("{siren}12")) == Some(key));
    match (siren_right, key_right) {
        (None, None) => unchecked(number),
        (siren_right, key_right) => checked(number, siren_right.unwrap_or(true) && key_right.unwrap_or(true)),
    }
}

/// Seven digits, the check letter, and for newer numbers a second letter that counts too. The old
/// form has a letter or sign in the second place.
fn ie(number: &str) -> Checked {
    const LETTERS: &str = "WABCDEFGHIJKLMNOPQRSTUV";
    let (body, letters) = parts(number, 7)?;
    let (check, second) = parts(letters, 1)?;
    let old = body[1..].starts_with(|c: char| c.is_ascii_uppercase() || c == '+' || c == '*');
    let body = if old { format!("0{}{}", &body[2..], &body[..1]) } else { body.to_owned() };
    let extra = match second {
        "" | "W" => 0,
        _ if second.len() == 1 && !old => {
            LETTERS.find(second).and_then(|value| u32::try_from(value).ok()).ok_or(WrongForm)?
        }
        _ => return Err(WrongForm),
    };
    let sum = weighted_sum(&digits::<7>(&body)?, &[8, 7, 6, 5, 4, 3, 2]) + 9 * extra;
    formed(check.bytes().all(|b| b.is_ascii_uppercase()))?;
    checked(number, LETTERS[(sum % 23) as usize..].starts_with(check))
}

/// A company's nine digits pass a weighted sum; a sole trader's whole number passes MOD 97-10.
fn nl(number: &str) -> Checked {
    let (body, suffix) = parts(number, 9)?;
    let d = digits::<9>(body)?;
    digits::<2>(suffix.strip_prefix('B').ok_or(WrongForm)?)?;
    let company = weighted_sum(&d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 == d[8];
    checked(number, company || remainder_97(&format!("NL{number}")) == Some(1))
}

#[cfg(test)]
mod tests {
    use super::super::CheckDigits;
    use super::*;

    #[test]
    fn published_examples_fit_with_and_without_their_prefix() {
        for number in [
            "ATU13585627",
            "CY10259033P",
            "ESA13585625",
            "ES54362315K",
            "ESX2482300W",
            "ESN1234567D",
            "FR40303265045",
            "FR83404833048",
            "FRK7399859412",
            "FR53000004605",
            "IE6433435F",
            "IE6433435OA",
            "IE8D79739I",
            "NL004495445B01",
            "NL002455799B11",
        ] {
            let (country, national) = number.split_at(2);
            let rule = rule(country).unwrap();
            for raw in [number, national] {
                assert_eq!(rule.read(raw), Ok((number.to_owned(), CheckDigits::Match)));
            }
        }
    }

    #[test]
    fn wrong_check_digits_are_told_apart_from_a_wrong_form() {
        for (country, number) in [
            ("AT", "U13585626"),
            ("CY", "10259033Q"),
            ("ES", "A13585626"),
            ("ES", "54362315T"),
            ("FR", "41303265045"),
            ("IE", "6433435G"),
            ("NL", "004495446B01"),
        ] {
            let read = rule(country).unwrap().read(number);
            assert_eq!(read, Ok((format!("{country}{number}"), CheckDigits::Mismatch)));
        }
        for (country, number) in [
            ("AT", "13585627"),
            ("CY", "102590333"),
            ("CY", "10259033+"),
            ("ES", "I1234567A"),
            ("ES", "A1358562é"),
            ("ES", "A1358562+"),
            ("ES", "543623155"),
            ("FR", "OO303265045"),
            ("FR", "+0303265045"),
            ("IE", "6433435OZ"),
            ("IE", "6433435+"),
            ("NL", "004495445C01"),
        ] {
            assert_eq!(rule(country).unwrap().read(number), Err(WrongForm), "{country} {number}");
        }
    }

    #[test]
    fn a_number_for_monaco_with_letters_in_its_key_has_nothing_to_check() {
        let read = rule("MC").unwrap().read("FRA1000004605");
        assert_eq!(read, Ok(("FRA1000004605".to_owned(), CheckDigits::NotChecked)));
    }
}
