//! Phases: the steps of a plan, and where a run stands between them.
//!
//! Keeps IN-ORDER: a [`PhaseList`] knows the one legal next phase and no other.

use std::fmt;

/// The longest phase name, in bytes.
const NAME_LIMIT: usize = 64;

/// A phase's name: 1 to 64 of `a-z`, `0-9`, `_` and `-`, the first a letter; never `submitted`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseName(String);

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Nothing saved yet. Written `submitted`: a value, so that the first save compares like any
    /// other.
    Submitted,
    /// This phase was saved last.
    Saved(PhaseName),
}

/// The ordered phases of a plan: 1 to 64 of them, no name twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PhaseList(Vec<PhaseName>);

/// A name or list that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPhase {
    /// The name breaks the rule for names.
    #[error("phase name {0:?} is not 1 to 64 of a-z, 0-9, '_' and '-', beginning with a letter")]
    Name(String),
    /// The name stands for the start.
    #[error("phase name \"submitted\" is taken: it stands for a run with nothing saved")]
    Reserved,
    /// The list holds a name twice.
    #[error("phase {0} stands in the list twice")]
    Repeated(PhaseName),
    /// No phase, or too many.
    #[error("a plan has 1 to {limit} phases, not {0}", limit = PhaseList::LIMIT)]
    Count(usize),
}

impl PhaseName {
    /// Checks a name.
    ///
    /// # Errors
    /// When it breaks the rule for names.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidPhase> {
        let name = name.into();
        if name == Phase::SUBMITTED {
            return Err(InvalidPhase::Reserved);
        }
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let fits = name.len() <= NAME_LIMIT && name.bytes().all(plain);
        if fits && name.bytes().next().is_some_and(|first| first.is_ascii_lowercase()) {
            Ok(Self(name))
        } else {
            Err(InvalidPhase::Name(name))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Phase {
    const SUBMITTED: &'static str = "submitted";

    /// The phase written as this word.
    ///
    /// # Errors
    /// When it is neither `submitted` nor a phase name.
    pub fn new(word: &str) -> Result<Self, InvalidPhase> {
        if word == Self::SUBMITTED { Ok(Self::Submitted) } else { PhaseName::new(word).map(Self::Saved) }
    }

    /// The word stored and shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Submitted => Self::SUBMITTED,
            Self::Saved(name) => name.as_str(),
        }
    }
}

impl PhaseList {
    /// The most phases a plan may have.
    pub const LIMIT: usize = 64;

    /// Checks a list.
    ///
    /// # Errors
    /// When it is empty, too long, or holds a name twice.
    pub fn new(phases: Vec<PhaseName>) -> Result<Self, InvalidPhase> {
        if !(1..=Self::LIMIT).contains(&phases.len()) {
            return Err(InvalidPhase::Count(phases.len()));
        }
        for (index, name) in phases.iter().enumerate() {
            if phases[..index].contains(name) {
                return Err(InvalidPhase::Repeated(name.clone()));
            }
        }
        Ok(Self(phases))
    }

    /// Checks a list of plain names.
    ///
    /// # Errors
    /// When a name is no phase name, or as [`PhaseList::new`] says.
    pub fn from_names<I>(names: I) -> Result<Self, InvalidPhase>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let phases: Result<Vec<_>, _> = names.into_iter().map(PhaseName::new).collect();
        Self::new(phases?)
    }

    /// The phases in order.
    #[must_use]
    pub fn as_slice(&self) -> &[PhaseName] {
        &self.0
    }

    /// The one phase that may be saved after `phase`; `None` after the last, and for a phase that
    /// is not in the list.
    #[must_use]
    pub fn next_after(&self, phase: &Phase) -> Option<&PhaseName> {
        match phase {
            Phase::Submitted => self.0.first(),
            Phase::Saved(name) => self.0.get(self.position(name)? + 1),
        }
    }

    /// Whether the run is complete once this phase is saved.
    #[must_use]
    pub fn is_last(&self, name: &PhaseName) -> bool {
        self.0.last() == Some(name)
    }

    /// How many phases are saved when a run stands at `phase`; `None` for a phase not in the list.
    #[must_use]
    pub fn saved_count(&self, phase: &Phase) -> Option<usize> {
        match phase {
            Phase::Submitted => Some(0),
            Phase::Saved(name) => self.position(name).map(|index| index + 1),
        }
    }

    fn position(&self, name: &PhaseName) -> Option<usize> {
        self.0.iter().position(|phase| phase == name)
    }
}

impl fmt::Display for PhaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<PhaseName> for Phase {
    fn from(name: PhaseName) -> Self {
        Self::Saved(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_each_phase_has_one_successor() {
        let list = PhaseList::from_names(["a", "b"]).unwrap();
        let [a, b] = list.as_slice() else { panic!("two phases") };
        assert_eq!(list.next_after(&Phase::Submitted), Some(a));
        assert_eq!(list.next_after(&Phase::Saved(a.clone())), Some(b));
        assert_eq!(list.next_after(&Phase::Saved(b.clone())), None);
        let stranger = Phase::new("c").unwrap();
        assert_eq!((list.next_after(&stranger), list.saved_count(&stranger)), (None, None));
        assert!(list.is_last(b) && !list.is_last(a));
    }

    #[test]
    fn names_and_lists_have_bounds() {
        let long = "a".repeat(65);
        for bad in ["", "A", "1a", "a b", "-a", long.as_str()] {
            assert!(matches!(PhaseName::new(bad), Err(InvalidPhase::Name(_))), "{bad:?}");
        }
        assert_eq!(PhaseName::new("submitted"), Err(InvalidPhase::Reserved));
        assert!(matches!(PhaseList::from_names(["a", "a"]), Err(InvalidPhase::Repeated(_))));
        assert!(matches!(PhaseList::new(vec![]), Err(InvalidPhase::Count(0))));
        let many = (0..65).map(|index| format!("p{index}"));
        assert!(matches!(PhaseList::from_names(many), Err(InvalidPhase::Count(65))));
    }
}
