//! Words for people: durations, times left, and text that is safe on a terminal.

use std::time::Duration;

/// A text with control characters written out, so that nothing a step printed can move the cursor,
/// change the title or break a table.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

/// A text of at most so many characters, cut with a mark.
pub(crate) fn short(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

/// A duration, rounded so that its size can be taken in: milliseconds below a second, tenths below a
/// minute, whole seconds above.
pub(crate) fn duration(duration: Duration) -> String {
    let rounded = if duration < Duration::from_secs(1) {
        Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(0))
    } else if duration < Duration::from_secs(60) {
        return format!("{:.1}s", duration.as_secs_f64());
    } else {
        Duration::from_secs(duration.as_secs())
    };
    humantime::format_duration(rounded).to_string().replace(' ', "")
}

/// `1 run`, `2 runs`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(plain("a\u{1b}[31m\nö"), "a\\u{1b}[31m\\nö");
        assert_eq!(short("äöü", 2), "äö…");
        assert_eq!(short("äö", 2), "äö");
    }

    #[test]
    fn durations_are_rounded_to_what_matters() {
        let shown = |millis| duration(Duration::from_millis(millis));
        assert_eq!((shown(0), shown(250), shown(12_340)), ("0s".into(), "250ms".into(), "12.3s".into()));
        assert_eq!(shown(5_400_999), "1h30m");
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(count(1, "run", "runs"), "1 run");
        assert_eq!(count(0, "run", "runs"), "0 runs");
    }
}
