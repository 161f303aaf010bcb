//! The rules: what each operation does to a run, as pure functions of (run, request, now).
//!
//! A store is these functions under a lock, or these functions written as SQL. `now` is the store's
//! clock, read *after* the run was locked. Each function answers with a [`Decision`]: the verdict,
//! and what has to be written, all of it or nothing. No verdict looks at anything but the run, so
//! that a row lock on the run is all a store needs.

mod act;
mod claim;
mod end;
mod renew;
mod save;
mod submit;

pub use act::{act, approval, ended_by, rejection};
pub use claim::{Candidate, claim, claimable};
pub use end::{fail, mark_blocked, release};
pub use renew::renew;
pub use save::save;
pub use submit::{open, submit};

use crate::attempt::{Attempt, AttemptOutcome};
use crate::document::Document;
use crate::fence::FencingToken;
use crate::reader::OperatorAction;
use crate::receipt::Receipt;
use crate::run::Run;

/// A verdict and what it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Decision<V> {
    /// The answer.
    pub verdict: V,
    /// What has to be written, in one go; `None`: nothing.
    pub change: Option<Box<Change>>,
}

/// What has to be written together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The run as it is from now on.
    pub run: Run,
    /// A receipt to insert.
    pub receipt: Option<Receipt>,
    /// Attempts to open and to end, in this order.
    pub attempts: Vec<AttemptChange>,
    /// An operator's action to log.
    pub action: Option<OperatorAction>,
}

/// What happens to attempts. Ends are at the decision's `now`. An end that is known stays:
/// superseding touches only attempts that never ended, and for the others see [`Attempt::ended`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptChange {
    /// Ends this one.
    End {
        /// Its number.
        fence: FencingToken,
        /// How it ended.
        outcome: AttemptOutcome,
        /// What belongs to the outcome.
        reason: Option<Document>,
    },
    /// Ends every one up to this number as superseded.
    SupersedeUpTo(FencingToken),
    /// Opens this one.
    Open(Attempt),
}

impl<V> Decision<V> {
    fn unchanged(verdict: V) -> Self {
        Self { verdict, change: None }
    }

    fn changed(verdict: V, run: Run, attempts: Vec<AttemptChange>) -> Self {
        Self { verdict, change: Some(Box::new(Change { run, receipt: None, attempts, action: None })) }
    }
}
