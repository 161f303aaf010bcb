//! Who holds a lease: a worker's name plus a part made anew for every claim.
//!
//! The owner is only the second guard. The first is the fencing token; an owner name that is used
//! twice must not be able to undo it.

use std::fmt;

/// The longest worker name, in bytes.
const NAME_LIMIT: usize = 64;

/// A worker's name: 1 to 64 visible ASCII characters without `#` or spaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkerName(String);

/// One claim's owner, `name#random`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnerId(String);

/// A text that cannot be a worker's name or an owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not 1 to 64 visible ASCII characters without '#'")]
pub struct InvalidOwner(pub String);

impl WorkerName {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is empty, longer than 64 bytes, or has a space, `#` or a character outside visible
    /// ASCII.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidOwner> {
        let name = name.into();
        let fits = (1..=NAME_LIMIT).contains(&name.len());
        if fits && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            Ok(Self(name))
        } else {
            Err(InvalidOwner(name))
        }
    }

    /// The owner of one claim. `random` must be drawn anew each time (at least 64 bits of it).
    #[must_use]
    pub fn owner(&self, random: u128) -> OwnerId {
        OwnerId(format!("{}#{random:032x}", self.0))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl OwnerId {
    /// An owner read back from a store. Any text that could have been written is taken as it is.
    ///
    /// # Errors
    /// When it is empty or longer than a name and its random part can be.
    pub fn from_stored(owner: impl Into<String>) -> Result<Self, InvalidOwner> {
        let owner = owner.into();
        if (1..=4 * NAME_LIMIT).contains(&owner.len()) { Ok(Self(owner)) } else { Err(InvalidOwner(owner)) }
    }

    /// The owner as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_and_every_claim_gets_another_owner() {
        let name = WorkerName::new("host-1.4711").unwrap();
        assert_eq!(name.owner(10).as_str(), "host-1.4711#0000000000000000000000000000000a");
        assert_ne!(name.owner(1), name.owner(2));
    }

    #[test]
    fn names_that_would_blur_the_owner_are_refused() {
        let long = "x".repeat(65);
        for bad in ["", "a b", "a#b", "é", long.as_str()] {
            assert!(WorkerName::new(bad).is_err(), "{bad:?}");
        }
        assert!(OwnerId::from_stored("").is_err());
    }
}
