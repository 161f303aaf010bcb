//! What names a run: its id, the caller's own key, and its place in the queue.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The longest run key, in characters.
const KEY_LIMIT: usize = 200;

/// A run's id: a UUID made by whoever submits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(Uuid);

/// The caller's own name for a run (a supplier's key): 1 to 200 characters, none a control
/// character. A store holds at most one run per key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(String);

/// A text that cannot be a run key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("key {0:?} is not 1 to 200 characters without control characters")]
pub struct InvalidKey(pub String);

/// Where a run stands in the queue: -16 to 16, higher first. Few levels, because each one in use
/// costs a claim one look at the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Priority(i8);

impl RunId {
    /// The id with this UUID.
    #[must_use]
    pub fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// The UUID.
    #[must_use]
    pub fn as_uuid(self) -> Uuid {
        self.0
    }
}

impl RunKey {
    /// Checks a key.
    ///
    /// # Errors
    /// When it is empty, too long, or has a control character.
    pub fn new(key: impl Into<String>) -> Result<Self, InvalidKey> {
        let key = key.into();
        let length = key.chars().count();
        if (1..=KEY_LIMIT).contains(&length) && !key.chars().any(char::is_control) {
            Ok(Self(key))
        } else {
            Err(InvalidKey(key))
        }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Priority {
    /// The first to be claimed.
    pub const HIGHEST: Self = Self(16);
    /// The last to be claimed.
    pub const LOWEST: Self = Self(-16);

    /// The priority of this value, or `None` outside -16 to 16.
    #[must_use]
    pub fn new(value: i32) -> Option<Self> {
        let value = i8::try_from(value).ok()?;
        (Self::LOWEST.0..=Self::HIGHEST.0).contains(&value).then_some(Self(value))
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> i32 {
        i32::from(self.0)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_priorities_have_bounds() {
        assert!(RunKey::new("ACME-1").is_ok());
        assert!(RunKey::new("").is_err());
        assert!(RunKey::new("a\u{0}b").is_err());
        assert!(RunKey::new("é".repeat(200)).is_ok());
        assert!(RunKey::new("é".repeat(201)).is_err());
        assert_eq!(Priority::new(17), None);
        assert_eq!(Priority::new(-16), Some(Priority::LOWEST));
    }
}
