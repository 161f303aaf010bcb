//! Effects: rows for tables of the caller's own, carried by a save as data.
//!
//! Keeps ALL-OR-NOTHING: a step does not write its rows, it returns them, and the store writes them
//! in the save's own transaction or not at all.

use crate::document::Document;

/// What sort of effect: the name under which the store knows how to write it. 1 to 64 of `a-z`,
/// `0-9`, `_`, `.` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectKind(String);

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// How to write it.
    pub kind: EffectKind,
    /// What to write.
    pub body: Document,
}

/// The effects of one save, in order: at most 32.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects(Vec<Effect>);

/// Effects that cannot be carried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EffectsError {
    /// The kind breaks the rule for names.
    #[error("effect kind {0:?} is not 1 to 64 of a-z, 0-9, '_', '.' and '-'")]
    Kind(String),
    /// More than a save carries.
    #[error("{0} effects are more than the {limit} that a save carries", limit = Effects::LIMIT)]
    Count(usize),
}

impl EffectKind {
    /// Checks a kind.
    ///
    /// # Errors
    /// When it breaks the rule for names.
    pub fn new(kind: impl Into<String>) -> Result<Self, EffectsError> {
        let kind = kind.into();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
        if (1..=64).contains(&kind.len()) && kind.bytes().all(plain) {
            Ok(Self(kind))
        } else {
            Err(EffectsError::Kind(kind))
        }
    }

    /// The kind as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Effects {
    /// The most effects a save carries.
    pub const LIMIT: usize = 32;

    /// No effects.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Checks a list.
    ///
    /// # Errors
    /// When there are more than a save carries.
    pub fn new(effects: Vec<Effect>) -> Result<Self, EffectsError> {
        if effects.len() <= Self::LIMIT { Ok(Self(effects)) } else { Err(EffectsError::Count(effects.len())) }
    }

    /// The effects in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Effect] {
        &self.0
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
