//! Receipts: what a step returned, kept with its phase.
//!
//! Keeps ONE-RECEIPT: a receipt is made by a save and by an approval, and never changed after.

use crate::document::Document;
use crate::fence::FencingToken;
use crate::phase::PhaseName;
use crate::timestamp::Timestamp;

/// What one saved phase left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The phase.
    pub phase: PhaseName,
    /// The number it was saved with.
    pub fence: FencingToken,
    /// What the step returned.
    pub body: Document,
    /// When it was saved, by the store's clock.
    pub saved_at: Timestamp,
}
