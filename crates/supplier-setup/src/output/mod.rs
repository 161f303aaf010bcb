//! Standard output: text and JSON documents, written whole, and never a panic for a closed pipe.

pub(crate) mod plain;
pub(crate) mod records;
pub(crate) mod run_json;
pub(crate) mod run_text;
pub(crate) mod summary;
pub(crate) mod table;

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::error::Error;

/// Standard output. Clones write to the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whoever read has closed the pipe, or writing failed; nothing more is written.
    closed: bool,
    /// The first failure that was not a closed pipe.
    failure: Option<io::Error>,
}

impl Output {
    /// Writes a text as it is. What goes wrong is kept for [`Output::finish`].
    pub(crate) fn write(&self, text: &str) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            state.closed = true;
            if error.kind() != ErrorKind::BrokenPipe {
                state.failure = Some(error);
            }
        }
    }

    /// Writes a line.
    pub(crate) fn line(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&self, value: &impl Serialize) {
        let text = serde_json::to_string(value).expect("documents of this program are always JSON");
        self.line(&text);
    }

    /// Says whether everything was written. A reader that closed the pipe had enough; that is fine.
    ///
    /// # Errors
    /// When writing failed otherwise.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failure.take().map_or(Ok(()), |error| Err(Error::Output(error)))
    }
}

/// Writes a line to standard error. Nobody can be told if that fails.
pub(crate) fn note(text: &str) {
    let _unheard = writeln!(io::stderr().lock(), "{text}");
}
