//! Durations as users write them: `500ms`, `2m`, `1h30m`.

use std::time::Duration;

/// The units, longest first: the order in which they may follow each other.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads a duration: whole numbers with `d`, `h`, `m`, `s` or `ms`, the longest unit first; or `0`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let wrong = || "not a duration such as 500ms, 2m or 1h30m".to_owned();
    let (mut rest, mut allowed, mut millis) = (text, &UNITS[..], 0_u64);
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters =
            after.len() - after.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at(letters);
        let place = allowed.iter().position(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let part = number.checked_mul(allowed[place].1);
        millis = part.and_then(|part| millis.checked_add(part)).ok_or("too long a duration")?;
        (rest, allowed) = (after, &allowed[place + 1..]);
    }
    Ok(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units_the_longest_first() {
        for (text, millis) in
            [("500ms", 500), ("2m", 120_000), ("1h30m", 5_400_000), ("1s5ms", 1_005), ("0", 0), ("0s", 0)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_could_be_misread_is_refused() {
        let huge = format!("{}d", u64::MAX);
        for text in ["", "5", "m", "1.5s", "-1s", " 1s", "1s ", "1m1h", "1s1s", "2M", "1y", "é1s", &huge] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
