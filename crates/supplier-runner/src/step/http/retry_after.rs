//! `Retry-After`: how long a portal asks to be left alone.
//!
//! Source: RFC 9110, section 10.2.3: seconds, or a date. A date is read against the answer's own
//! `Date` header, so that the portal's clock is compared with itself.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

/// The longest wait that is respected. A portal that says more is asked again after this.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait in a header; `None` if it is neither seconds nor a date. `date` is the answer's `Date`,
/// and `now` stands in where it has none.
pub(super) fn retry_after(value: &str, date: Option<&str>, now: OffsetDateTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // So many digits that they do not fit are a long wait as well.
        return Some(value.parse().map_or(LONGEST, Duration::from_secs).min(LONGEST));
    }
    let until = instant(value)?;
    let from = date.and_then(instant).unwrap_or(now);
    Some(Duration::try_from(until - from).unwrap_or_default().min(LONGEST))
}

fn instant(value: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(value.trim(), &Rfc2822).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    #[test]
    fn seconds_are_read_and_bounded_by_a_day() {
        for (value, seconds) in
            [("0", 0), (" 120 ", 120), ("86401", 86_400), ("99999999999999999999", 86_400)]
        {
            assert_eq!(retry_after(value, None, NOW), Some(Duration::from_secs(seconds)), "{value}");
        }
        for value in ["", "-1", "1.5", "soon", "1s"] {
            assert_eq!(retry_after(value, None, NOW), None, "{value}");
        }
    }

    #[test]
    fn a_date_is_read_against_the_answers_own_date_and_never_lies_in_the_past() {
        let (early, late) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT");
        let minute = Duration::from_secs(60);
        assert_eq!(retry_after(late, Some(early), NOW), Some(minute));
        assert_eq!(retry_after(early, Some(late), NOW), Some(Duration::ZERO));
        assert_eq!(retry_after(late, Some("nonsense"), instant(early).unwrap()), Some(minute));
        assert_eq!(retry_after(late, None, NOW), Some(LONGEST));
    }
}
