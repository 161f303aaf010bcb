//! Receipts out of what a command printed or a portal answered.

use std::str::Utf8Error;

use lease_core::{Document, DocumentError};

/// The most that a step may answer with, in bytes.
pub(crate) const ANSWER_LIMIT: usize = 1024 * 1024;
/// The most that a message quotes of it, in bytes.
pub(crate) const QUOTED_LIMIT: usize = 4 * 1024 - 512;

// A receipt that fits the limit of an answer must not be refused for its size later, nor a message cut.
const _: () = assert!(ANSWER_LIMIT <= Document::MAX_BYTES);
const _: () = assert!(QUOTED_LIMIT < 4 * 1024);

/// Why an answer is no receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoReceipt {
    /// Nothing but white space.
    #[error("it is empty; expected a JSON object")]
    Empty,
    /// Not text.
    #[error("it is not UTF-8 ({0})")]
    NotUtf8(Utf8Error),
    /// Not an object that can be kept.
    #[error("{0}")]
    Refused(DocumentError),
}

/// The receipt in an answer.
pub(crate) fn receipt_in(answer: &[u8]) -> Result<Document, NoReceipt> {
    let text = std::str::from_utf8(answer).map_err(NoReceipt::NotUtf8)?.trim();
    if text.is_empty() {
        return Err(NoReceipt::Empty);
    }
    Document::from_json(text.as_bytes()).map_err(NoReceipt::Refused)
}

/// The start of a text, at most as long as messages quote.
pub(crate) fn start_of(text: &str) -> String {
    let text = text.trim();
    if text.len() <= QUOTED_LIMIT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(QUOTED_LIMIT)])
}

/// The end of a text, at most as long as messages quote.
pub(crate) fn end_of(text: &str) -> String {
    let text = text.trim();
    if text.len() <= QUOTED_LIMIT {
        return text.to_owned();
    }
    format!("…{}", &text[text.ceil_char_boundary(text.len() - QUOTED_LIMIT)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(answer: &[u8]) -> String {
        receipt_in(answer).unwrap_err().to_string()
    }

    /// Case 24.
    #[test]
    fn case_24_what_is_no_receipt_is_refused_in_words() {
        assert_eq!(refusal(b" \n"), "it is empty; expected a JSON object");
        assert!(refusal(b"{\"a\": \"\xff\"}").starts_with("it is not UTF-8 (invalid utf-8 sequence"));
        assert_eq!(refusal(b"[1]"), ".: not a JSON object");
        assert!(refusal(b"done.").starts_with(".: not valid JSON: expected value at line 1"));
        assert!(refusal(b"{} {}").starts_with(".: not valid JSON: trailing characters"));
    }

    /// Case 25.
    #[test]
    fn case_25_a_receipt_that_no_store_keeps_is_refused_with_its_path() {
        assert_eq!(refusal(br#"{"a": ["b\u0000"]}"#), "a[0]: holds a NUL character (\\u0000)");
        let deep = format!(r#"{{"tags": {}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        let message = refusal(deep.as_bytes());
        assert!(message.starts_with("tags[0][0]") && message.ends_with("levels deep"), "{message}");
        let exact = receipt_in(br#"{"n": 9007199254740993}"#).unwrap();
        assert_eq!(exact.to_json(), r#"{"n":9007199254740993}"#);
    }

    #[test]
    fn long_texts_are_quoted_in_part_at_whole_characters() {
        let text = "é".repeat(QUOTED_LIMIT);
        assert!(start_of(&text).ends_with("é…") && end_of(&text).starts_with("…é"));
        assert!(start_of(&text).len() <= QUOTED_LIMIT + '…'.len_utf8());
        assert_eq!((start_of(" a\n"), end_of(" a\n")), ("a".to_owned(), "a".to_owned()));
    }
}
