//! Where in a record something stands: `notes.phones[2]`.

use std::fmt::Write;

use super::value_error::{FieldError, ValueError};

/// The longest path that a message shows, in characters.
const SHOWN_CHARS: usize = 80;

/// A path that grows and shrinks as a record is walked.
#[derive(Debug, Default)]
pub(super) struct Path(String);

/// How long a path was before a step down.
#[derive(Debug)]
pub(super) struct Mark(usize);

impl Path {
    /// Steps into a named field.
    pub(super) fn enter_name(&mut self, name: &str) -> Mark {
        let mark = Mark(self.0.len());
        if mark.0 > 0 {
            self.0.push('.');
        }
        for character in name.chars() {
            if character.is_control() {
                self.0.extend(character.escape_default());
            } else {
                self.0.push(character);
            }
        }
        mark
    }

    /// Steps into an entry of an array.
    pub(super) fn enter_place(&mut self, place: usize) -> Mark {
        let mark = Mark(self.0.len());
        write!(self.0, "[{place}]").expect("writing to a string cannot fail");
        mark
    }

    /// Steps out again.
    pub(super) fn leave(&mut self, mark: Mark) {
        self.0.truncate(mark.0);
    }

    /// An error at this path.
    pub(super) fn error(&self, error: ValueError) -> FieldError {
        FieldError::new(self.shown(), error)
    }

    /// The path, its end left out if it is long.
    pub(super) fn shown(&self) -> String {
        match self.0.char_indices().nth(SHOWN_CHARS) {
            None => self.0.clone(),
            Some((end, _)) => format!("{}…", &self.0[..end]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_names_and_places() {
        let mut path = Path::default();
        path.enter_name("notes");
        let mark = path.enter_name("a\0b");
        path.leave(mark);
        path.enter_name("phones");
        path.enter_place(2);
        assert_eq!(path.shown(), "notes.phones[2]");
    }

    #[test]
    fn a_long_path_is_cut() {
        let mut path = Path::default();
        path.enter_name("deep");
        for _ in 0..200 {
            path.enter_place(0);
        }
        assert_eq!(path.shown().chars().count(), SHOWN_CHARS + 1);
    }
}
