//! Check digits that several identifiers share: ISO 7064, Luhn, and weighted sums.
//!
//! Sources: ISO/IEC 7064 (MOD 97-10, MOD 11,10), ISO/IEC 7812-1 (Luhn).

/// The number's remainder by 97, with letters as 10 to 35; `None` where a character is no ASCII
/// digit or capital. An ISO 7064 MOD 97-10 number leaves 1.
pub(super) fn remainder_97(text: &str) -> Option<u32> {
    let mut rest = 0;
    for character in text.chars() {
        let value = character.to_digit(36).filter(|_| !character.is_ascii_lowercase())?;
        let shift = if value < 10 { 10 } else { 100 };
        rest = (rest * shift + value) % 97;
    }
    Some(rest)
}

/// Whether the last digit is the ISO 7064 MOD 11,10 check digit of the others.
pub(super) fn is_mod_11_10(digits: &[u32]) -> bool {
    let Some((check, body)) = digits.split_last() else { return false };
    let product = body.iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (product + check) % 10 == 1
}

/// Whether the last digit is the Luhn check digit of the others.
pub(super) fn is_luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| if place % 2 == 0 { *digit } else { digit_sum(2 * digit) })
        .sum();
    sum.is_multiple_of(10)
}

/// The sum of each digit times its weight; digits past the last weight count for nothing.
pub(super) fn weighted_sum(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The sum of the two digits of a number below 100.
pub(super) fn digit_sum(number: u32) -> u32 {
    number / 10 + number % 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u32> {
        text.chars().map(|c| c.to_digit(10).unwrap()).collect()
    }

    #[test]
    fn published_examples_have_their_check_digits() {
        assert_eq!(remainder_97("529900C4AS9GTXA88S02"), Some(1));
        assert_eq!(remainder_97("5299004WNJRWMXK07S97"), Some(1));
        assert!(is_mod_11_10(&digits("136695976")));
        assert!(is_luhn(&digits("79927398713")));
    }

    #[test]
    fn one_changed_digit_is_always_found() {
        for (number, check) in [("136695976", is_mod_11_10 as fn(&[u32]) -> bool), ("79927398713", is_luhn)] {
            for place in 0..number.len() {
                for step in 1..10 {
                    let mut changed = digits(number);
                    changed[place] = (changed[place] + step) % 10;
                    assert!(!check(&changed), "{changed:?}");
                }
            }
        }
    }

    #[test]
    fn other_characters_have_no_remainder() {
        assert_eq!(remainder_97("12é"), None);
        assert_eq!(remainder_97("12a"), None);
    }
}
