//! The names under which a plan uses the built-in steps.

use std::sync::Arc;

use crate::step::{Approval, OpenPurchasing, Register, Step, Validate};

/// A built-in step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uses {
    /// Checks the record.
    Validate,
    /// Writes the set-up row.
    Register,
    /// Writes the purchase account.
    OpenPurchasing,
    /// Waits for a person.
    Approval,
}

impl Uses {
    /// Every one, in the order that messages list them.
    pub(super) const ALL: [Self; 4] = [Self::Validate, Self::Register, Self::OpenPurchasing, Self::Approval];

    /// The word in a plan file.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Register => "register",
            Self::OpenPurchasing => "open_purchasing",
            Self::Approval => "approval",
        }
    }

    /// The step of this word.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|uses| uses.as_str() == word)
    }

    /// The step.
    pub(super) fn step(self) -> Arc<dyn Step> {
        match self {
            Self::Validate => Arc::new(Validate),
            Self::Register => Arc::new(Register),
            Self::OpenPurchasing => Arc::new(OpenPurchasing),
            Self::Approval => Arc::new(Approval),
        }
    }
}
