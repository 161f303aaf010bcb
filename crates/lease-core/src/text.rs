//! Words that any store can keep: of limited length, without NUL.

/// The text with NUL replaced and what is past `limit` bytes cut off, since a message must not get
/// lost for its wording.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let mut text = text.replace('\0', "\u{fffd}");
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
    text
}
