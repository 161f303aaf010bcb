//! The store's tables.

use lease_core::AttemptOutcome;

use crate::message::Row;

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tables {
    /// The run.
    pub row: Row,
    /// Its receipts, in the order of their saves.
    pub receipts: Vec<Kept>,
    /// Its attempts, in the order of their claims.
    pub attempts: Vec<Tried>,
}

/// A receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kept {
    /// Of which phase.
    pub phase: u8,
    /// With which number.
    pub fence: u8,
}

/// An attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tried {
    /// Its number.
    pub fence: u8,
    /// Its owner.
    pub owner: u8,
    /// How it ended, where that is known.
    pub outcome: Option<AttemptOutcome>,
}
