//! SHA-256 digests of what was sent, so that "the same again" can be told from "something else".
//!
//! Fields are hashed with their length in front, so no two lists of fields share a digest by being
//! cut differently.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// A text that is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a digest of 64 lower-case hexadecimal digits")]
pub struct InvalidDigest(pub String);

/// Takes fields one by one and ends in a [`Digest`].
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts a digest for one purpose; `domain` keeps digests of different things apart.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        Self::default().field(domain.as_bytes())
    }

    /// Adds one field.
    #[must_use]
    pub fn field(mut self, bytes: &[u8]) -> Self {
        let length = u64::try_from(bytes.len()).expect("a slice's length fits in 64 bits");
        self.0.update(length.to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// The digest over everything added.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidDigest(text.to_owned());
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(invalid());
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = hex(pair[0]).ok_or_else(invalid)?;
            let low = hex(pair[1]).ok_or_else(invalid)?;
            *byte = high << 4 | low;
        }
        Ok(Self(bytes))
    }
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cannot_run_into_each_other() {
        let one = Hasher::new("test").field(b"ab").field(b"c").finish();
        let other = Hasher::new("test").field(b"a").field(b"bc").finish();
        assert_ne!(one, other);
    }

    #[test]
    fn a_digest_survives_being_written_and_read() {
        let digest = Hasher::new("test").finish();
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!("AB".repeat(32).parse::<Digest>().is_err());
        assert!("ab".parse::<Digest>().is_err());
    }
}
