//! Plans: named, versioned lists of phases, told apart by a digest of what they mean.

use std::fmt;

use crate::digest::{Digest, Hasher};
use crate::phase::PhaseList;

/// A plan's name: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`, the first a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanName(String);

/// A plan's version: 1 to `i32::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanVersion(u32);

/// What tells one plan from every other: its name, its version and the digest of its meaning.
///
/// A worker takes only runs whose plan it was given, and that is decided by the digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanId {
    /// The name.
    pub name: PlanName,
    /// The version.
    pub version: PlanVersion,
    /// The digest over name, version, phases and what each phase does.
    pub digest: Digest,
}

/// A plan as a run carries it from its submit on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Which plan.
    pub id: PlanId,
    /// Its phases in order.
    pub phases: PhaseList,
}

/// A name or version that no plan can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPlan {
    /// The name breaks the rule for names.
    #[error("plan name {0:?} is not 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter")]
    Name(String),
    /// The version is 0 or too large.
    #[error("plan version {0} is not between 1 and 2147483647")]
    Version(i64),
}

impl PlanName {
    /// Checks a name.
    ///
    /// # Errors
    /// When it breaks the rule for names.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidPlan> {
        let name = name.into();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        let first_fits = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
        if first_fits && name.len() <= 64 && name.bytes().all(plain) {
            Ok(Self(name))
        } else {
            Err(InvalidPlan::Name(name))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PlanVersion {
    /// Checks a version.
    ///
    /// # Errors
    /// When it is not between 1 and `i32::MAX`.
    pub fn new(version: i64) -> Result<Self, InvalidPlan> {
        match u32::try_from(version) {
            Ok(number) if (1..=i32::MAX.unsigned_abs()).contains(&number) => Ok(Self(number)),
            Ok(_) | Err(_) => Err(InvalidPlan::Version(version)),
        }
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// The plain number for an `int` column.
    #[must_use]
    pub fn to_column(self) -> i32 {
        i32::try_from(self.0).expect("a plan version is at most i32::MAX")
    }
}

impl Plan {
    /// A plan whose phases do what `meaning` says. The caller owns the form of `meaning`; two plans
    /// that act differently must differ in it, and layout, comments and secrets must not enter it.
    #[must_use]
    pub fn new(name: PlanName, version: PlanVersion, phases: PhaseList, meaning: &str) -> Self {
        let mut hasher =
            Hasher::new("plan").field(name.as_str().as_bytes()).field(&version.get().to_be_bytes());
        for phase in phases.as_slice() {
            hasher = hasher.field(phase.as_str().as_bytes());
        }
        let digest = hasher.field(meaning.as_bytes()).finish();
        Self { id: PlanId { name, version, digest }, phases }
    }
}

impl fmt::Display for PlanName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for PlanVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `name version`, as a person names a plan.
impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(phases: &[&str], meaning: &str) -> Plan {
        let name = PlanName::new("p").unwrap();
        let phases = PhaseList::from_names(phases.iter().copied()).unwrap();
        Plan::new(name, PlanVersion::new(1).unwrap(), phases, meaning)
    }

    #[test]
    fn the_digest_follows_the_meaning_and_nothing_else() {
        assert_eq!(plan(&["a", "b"], "x").id, plan(&["a", "b"], "x").id);
        assert_ne!(plan(&["a", "b"], "x").id.digest, plan(&["a", "b"], "y").id.digest);
        assert_ne!(plan(&["a", "b"], "x").id.digest, plan(&["b", "a"], "x").id.digest);
    }

    #[test]
    fn names_and_versions_have_bounds() {
        assert!(PlanName::new("supplier-setup").is_ok());
        assert!(PlanName::new("Supplier").is_err());
        assert!(PlanVersion::new(0).is_err());
        assert!(PlanVersion::new(i64::from(i32::MAX) + 1).is_err());
        assert_eq!(PlanVersion::new(i64::from(i32::MAX)).map(PlanVersion::to_column), Ok(i32::MAX));
    }
}
