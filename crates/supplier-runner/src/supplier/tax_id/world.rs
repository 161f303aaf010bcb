//! Tax numbers outside the European Union.
//!
//! Sources: each country's tax office or company register; named at each rule.

use super::super::check_digits::{is_luhn, weighted_sum};
use super::rule::{Checked, Rule, WrongForm, checked, digits, formed, unchecked};

/// The rule of the country with this ISO code, if it is one of these.
pub(super) fn rule(country: &str) -> Option<Rule> {
    Some(match country {
        "AU" => Rule::new(&[("AU", "")], "an ABN of 11 digits", au),
        "BR" => Rule::new(&[("BR", "")], "a CNPJ of 14 or a CPF of 11 characters", br),
        "CA" => Rule::new(&[("CA", "")], "a business number of 9 digits, or with RT0001", ca),
        "CH" => Rule::new(&[("CHE", "CHE")], "CHE and 9 digits", ch),
        "CN" => Rule::new(&[("CN", "")], "a social credit code of 18 characters", cn),
        // Northern Ireland trades in goods under XI.
        "GB" | "IM" => Rule::new(&[("GB", "GB"), ("XI", "XI")], "GB and 9 or 12 digits", gb),
        "IN" => Rule::new(&[("IN", "")], "a GSTIN of 15 or a PAN of 10 characters", india),
        "JP" => Rule::new(&[("T", ""), ("JP", "")], "a corporate number of 13 digits", jp),
        "KR" => Rule::new(&[("KR", "")], "a registration number of 10 digits", kr),
        "MX" => Rule::new(&[("MX", "")], "an RFC of 12 or 13 characters", mx),
        "NO" => Rule::new(&[("NO", "")], "an organisation number of 9 digits", no),
        "TR" => Rule::new(&[("TR", "")], "a tax number of 10 digits", tr),
        "US" => Rule::new(&[("US", "")], "an EIN of 9 digits, not with 00 first", us),
        _ => return None,
    })
}

/// ABN (Australian Business Register): the first digit, never 0, less one, weighted, by 89.
fn au(number: &str) -> Checked {
    let d = digits::<11>(number)?;
    let sum = weighted_sum(&d, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    checked(number, d[0] != 0 && sum % 89 == 10)
}

/// CNPJ (Receita Federal; letters count by their ASCII place, as from 2026) and CPF.
fn br(number: &str) -> Checked {
    let values: Vec<u32> = number.bytes().map(|b| u32::from(b.saturating_sub(b'0'))).collect();
    let numeric = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let cnpj = number.len() == 14
        && number.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && numeric(&number[12..]);
    let cpf = number.len() == 11 && numeric(number);
    formed(cnpj || cpf)?;
    let weights: [u32; 13] = if cnpj {
        [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]
    } else {
        [0, 0, 0, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    };
    let body = values.len() - 2;
    let check = |length: usize| match weighted_sum(&values[..length], &weights[13 - length..]) % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    };
    let repeated = values.iter().all(|value| *value == values[0]);
    checked(number, !repeated && check(body) == values[body] && check(body + 1) == values[body + 1])
}

/// Business number (Canada Revenue Agency), with or without a program account.
fn ca(number: &str) -> Checked {
    let Some((body, account)) = number.split_at_checked(9) else { return Err(WrongForm) };
    let d = digits::<9>(body)?;
    let account_formed = account.is_empty()
        || account.len() == 6
            && account.bytes().take(2).all(|b| b.is_ascii_uppercase())
            && account.bytes().skip(2).all(|b| b.is_ascii_digit());
    formed(account_formed)?;
    checked(number, is_luhn(&d))
}

/// UID (Swiss Federal Statistical Office); what names the VAT register in a language falls away.
fn ch(number: &str) -> Checked {
    let suffix = ["MWST", "TVA", "IVA", "TPV"].iter().find_map(|end| number.strip_suffix(end));
    let number = suffix.unwrap_or(number);
    let sum = weighted_sum(&digits::<9>(number)?, &[5, 4, 3, 2, 7, 6, 5, 4, 1]);
    checked(number, sum.is_multiple_of(11))
}

/// Unified social credit code (GB 32100-2015): base 31 without I, O, S, V, Z, powers of 3.
fn cn(number: &str) -> Checked {
    const ALPHABET: &str = "0123456789ABCDEFGHJKLMNPQRTUWXY";
    let mut weight = 1;
    let mut sum = 0;
    formed(number.len() == 18)?;
    for character in number.chars() {
        let value = ALPHABET.find(character).ok_or(WrongForm)?;
        sum += value * weight;
        weight = weight * 3 % 31;
    }
    // The check character was counted with the next power, 3^17 mod 31 = 22; its own weight is 1.
    let last = number.chars().last().and_then(|c| ALPHABET.find(c)).ok_or(WrongForm)?;
    checked(number, (sum - last * 22 + last) % 31 == 0)
}

/// VAT number (HMRC): a weighted sum by 97, which newer numbers have shifted by 55; branches have
/// three digits more.
fn gb(number: &str) -> Checked {
    let Some((body, branch)) = number.split_at_checked(9) else {
        return Err(WrongForm);
    };
    let d = digits::<9>(body)?;
    formed(branch.is_empty() || digits::<3>(branch).is_ok())?;
    let sum = weighted_sum(&d, &[8, 7, 6, 5, 4, 3, 2, 10, 1]);
    checked(number, matches!(sum % 97, 0 | 42 | 55))
}

/// GSTIN (state, PAN, count, Z, check character; GSTN) and PAN (Income Tax Department).
fn india(number: &str) -> Checked {
    let pan = |text: &str| {
        text.len() == 10
            && text.bytes().enumerate().all(|(place, b)| match place {
                5..=8 => b.is_ascii_digit(),
                _ => b.is_ascii_uppercase(),
            })
    };
    if number.len() != 15 {
        return formed(pan(number)).and_then(|()| unchecked(number));
    }
    let values: Vec<u32> = number.chars().map_while(|c| c.to_digit(36)).collect();
    let well_formed = values.len() == 15
        && values[..2].iter().all(|value| *value < 10)
        && pan(&number[2..12])
        && &number[13..14] == "Z";
    formed(well_formed)?;
    let sum: u32 = values[..14]
        .iter()
        .zip([1, 2].iter().cycle())
        .map(|(value, factor)| value * factor / 36 + value * factor % 36)
        .sum();
    checked(number, (36 - sum % 36) % 36 == values[14])
}

/// Corporate number (National Tax Agency); the check digit stands first.
fn jp(number: &str) -> Checked {
    let d = digits::<13>(number)?;
    let sum = weighted_sum(&d[1..], &[2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]);
    checked(number, 9 - sum % 9 == d[0])
}

/// Business registration number (National Tax Service).
fn kr(number: &str) -> Checked {
    let d = digits::<10>(number)?;
    let sum = weighted_sum(&d, &[1, 3, 7, 1, 3, 7, 1, 3, 5, 1]) + d[8] * 5 / 10;
    checked(number, sum.is_multiple_of(10))
}

/// RFC (SAT): three letters of a company or four of a person, a date, three more.
fn mx(number: &str) -> Checked {
    let characters: Vec<char> = number.chars().collect();
    let letters = match characters.len() {
        12 => 3,
        13 => 4,
        _ => return Err(WrongForm),
    };
    let (name, rest) = characters.split_at(letters);
    let (date, last) = rest.split_at(6);
    let right = name.iter().all(|c| c.is_ascii_uppercase() || matches!(c, 'Ñ' | '&'))
        && date.iter().all(char::is_ascii_digit)
        && last.iter().all(char::is_ascii_alphanumeric);
    formed(right)?;
    unchecked(number)
}

/// Organisation number (Brønnøysund); the mark of the VAT register falls away.
fn no(number: &str) -> Checked {
    let number = number.strip_suffix("MVA").unwrap_or(number);
    let sum = weighted_sum(&digits::<9>(number)?, &[3, 2, 7, 6, 5, 4, 3, 2, 1]);
    checked(number, sum.is_multiple_of(11))
}

/// VKN (Gelir İdaresi Başkanlığı).
fn tr(number: &str) -> Checked {
    let d = digits::<10>(number)?;
    let sum: u32 = d[..9]
        .iter()
        .zip((1..=9).rev())
        .map(|(digit, place)| match (digit + place) % 10 {
            0 => 0,
            value => match (value << place) % 9 {
                0 => 9,
                rest => rest,
            },
        })
        .sum();
    checked(number, (10 - sum % 10) % 10 == d[9])
}

/// EIN (IRS): no check digit; no number begins with 00.
fn us(number: &str) -> Checked {
    let d = digits::<9>(number)?;
    formed(d[..2] != [0, 0])?;
    unchecked(number)
}

#[cfg(test)]
mod tests {
    use super::super::CheckDigits;
    use super::*;

    const EXAMPLES: [(&str, &str); 18] = [
        ("AU", "51824753556"),
        ("BR", "11222333000181"),
        ("BR", "12ABC34501DE35"),
        ("BR", "39053344705"),
        ("CA", "123026635"),
        ("CA", "123026635RT0001"),
        ("CH", "CHE107787577"),
        ("CN", "91110000600037341L"),
        ("GB", "GB980780684"),
        ("GB", "GB980780684001"),
        ("IN", "27AAPFU0939F1ZV"),
        ("IN", "AAPFU0939F"),
        ("JP", "7000012050002"),
        ("KR", "1208147521"),
        ("MX", "GODE561231GR8"),
        ("NO", "995525828"),
        ("TR", "4540536920"),
        ("US", "123456789"),
    ];

    #[test]
    fn published_examples_are_their_own_normal_form() {
        for (country, number) in EXAMPLES {
            let (normal, check_digits) = rule(country).unwrap().read(number).unwrap();
            assert_eq!(normal, number);
            let has_none = matches!(country, "MX" | "US") || number == "AAPFU0939F";
            let expected = if has_none { CheckDigits::NotChecked } else { CheckDigits::Match };
            assert_eq!(check_digits, expected, "{country} {number}");
        }
    }

    #[test]
    fn two_swapped_or_changed_characters_are_found_where_there_is_a_check() {
        for (country, number) in [
            ("AU", "51824753565"),
            ("AU", "00000000000"),
            ("BR", "11222333000182"),
            ("BR", "11111111111"),
            ("CA", "123026636"),
            ("CH", "CHE107787578"),
            ("CN", "91110000600037342L"),
            ("GB", "GB980780685"),
            ("IN", "27AAPFU0939F1ZW"),
            ("JP", "7000012050003"),
            ("KR", "1208147522"),
            ("NO", "995525829"),
            ("TR", "4540536921"),
        ] {
            let read = rule(country).unwrap().read(number);
            assert_eq!(read, Ok((number.to_owned(), CheckDigits::Mismatch)), "{country}");
        }
    }

    #[test]
    fn a_wrong_form_is_refused_whatever_the_characters() {
        for (country, _) in EXAMPLES {
            for number in ["", "1", "ééééé", "ABCDEFGHI", "12345678é", "123456789012345678901234"] {
                let read = rule(country).unwrap().read(number);
                assert_eq!(read, Err(WrongForm), "{country} {number}");
            }
        }
        // Swedish, though a Brazilian company's number may be written with these characters.
        assert_eq!(rule("BR").unwrap().read("SE123456789012"), Err(WrongForm));
        assert_eq!(rule("US").unwrap().read("001234567"), Err(WrongForm));
    }
}
