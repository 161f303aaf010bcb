//! Reading what a process prints, in bounded memory.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::step::printed::ANSWER_LIMIT;

/// How much of standard error is kept, in bytes: more than a message quotes, so that a secret at the
/// cut is seen whole and hidden.
const TAIL_LIMIT: usize = 16 * 1024;
/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;

/// More was printed than an answer may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

/// Reads until the end into `kept`.
pub(super) async fn keep_all(mut pipe: impl AsyncRead + Unpin, kept: &mut Vec<u8>) -> Result<(), TooMuch> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match pipe.read(&mut chunk).await {
            Ok(0) | Err(_) => return Ok(()),
            Ok(count) if kept.len() + count > ANSWER_LIMIT => return Err(TooMuch),
            Ok(count) => kept.extend_from_slice(&chunk[..count]),
        }
    }
}

/// Reads until the end and keeps the last of it in `tail`. It never is too much.
pub(super) async fn keep_tail(
    mut pipe: impl AsyncRead + Unpin,
    tail: &mut VecDeque<u8>,
) -> Result<(), TooMuch> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match pipe.read(&mut chunk).await {
            Ok(0) | Err(_) => return Ok(()),
            Ok(count) => {
                tail.extend(&chunk[..count]);
                let over = tail.len().saturating_sub(TAIL_LIMIT);
                tail.drain(..over);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn exactly_the_limit_is_kept_and_one_byte_more_is_too_much() {
        let full = vec![b'x'; ANSWER_LIMIT + 1];
        let mut kept = Vec::new();
        assert_eq!(keep_all(&full[..ANSWER_LIMIT], &mut kept).await, Ok(()));
        assert_eq!(kept.len(), ANSWER_LIMIT);
        assert_eq!(keep_all(&full[..], &mut Vec::new()).await, Err(TooMuch));
    }

    #[tokio::test]
    async fn of_a_long_text_the_end_is_kept() {
        let mut text = vec![b'x'; 5 * TAIL_LIMIT];
        text.extend_from_slice(b"the end");
        let mut tail = VecDeque::new();
        assert_eq!(keep_tail(&text[..], &mut tail).await, Ok(()));
        assert_eq!(tail.len(), TAIL_LIMIT);
        let tail: Vec<u8> = tail.into();
        assert!(tail.ends_with(b"the end"));
    }
}
