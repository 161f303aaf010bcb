//! The tables, and how a decision of the rules is written into them.
//!
//! Keeps ONE-RECEIPT as a table's own constraint would, whatever stands on the run's row, and
//! ALL-OR-NOTHING: a decision that breaks a constraint writes nothing.

use std::collections::BTreeMap;

use lease_core::transition::{AttemptChange, Change, Decision};
use lease_core::{
    Attempt, AttemptOutcome, Digest, Document, EffectKind, FencingToken, OperatorAction, PlanName,
    PlanVersion, Receipt, Run, RunId, RunKey, StoreError, Timestamp,
};

/// A row that an effect left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRow {
    /// What sort of effect.
    pub kind: EffectKind,
    /// What was written.
    pub body: Document,
    /// The run it was written for.
    pub run: RunId,
    /// The number of the claim that wrote it.
    pub fence: FencingToken,
}

/// A rule of the tables that a decision breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("phase {0} has a receipt already")]
    Receipt(lease_core::PhaseName),
    #[error("there is an attempt {0} already")]
    Attempt(FencingToken),
}

/// What the store keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    pub(super) rows: BTreeMap<RunId, Row>,
    /// In the order of submitting.
    pub(super) order: Vec<RunId>,
    pub(super) plans: BTreeMap<(PlanName, PlanVersion), Digest>,
    pub(super) effects: Vec<EffectRow>,
    /// Kinds that are not written.
    pub(super) refused: Vec<EffectKind>,
    /// How often each row is locked from outside.
    pub(super) locks: BTreeMap<RunId, u32>,
    /// When a row that was locked became free.
    pub(super) freed: BTreeMap<RunId, Timestamp>,
}

/// A run and what belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) run: Run,
    pub(super) receipts: Vec<Receipt>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) actions: Vec<OperatorAction>,
}

impl Tables {
    pub(super) fn by_key(&self, key: &RunKey) -> Option<&Run> {
        self.rows.values().map(|row| &row.run).find(|run| run.key == *key)
    }

    pub(super) fn insert(&mut self, run: Run) {
        let plan = &run.plan.id;
        self.plans.insert((plan.name.clone(), plan.version), plan.digest);
        self.order.push(run.id);
        let row = Row { run, receipts: Vec::new(), attempts: Vec::new(), actions: Vec::new() };
        self.rows.insert(row.run.id, row);
    }

    /// Since when a row is free, if it was ever locked: `None` for a row that is locked now.
    pub(super) fn free_since(&self, run: RunId) -> Option<Option<Timestamp>> {
        if self.is_locked(run) { None } else { Some(self.freed.get(&run).copied()) }
    }

    pub(super) fn is_locked(&self, run: RunId) -> bool {
        self.locks.contains_key(&run)
    }
}

impl Row {
    /// Writes a decision, all of it or nothing.
    pub(super) fn write<V>(&mut self, decision: Decision<V>, now: Timestamp) -> Result<V, StoreError> {
        if let Some(change) = decision.change {
            self.check(&change).map_err(|broken| StoreError::Corrupt(Box::new(broken)))?;
            self.run = change.run;
            self.receipts.extend(change.receipt);
            self.actions.extend(change.action);
            for attempt in change.attempts {
                self.write_attempt(attempt, now);
            }
        }
        Ok(decision.verdict)
    }

    fn check(&self, change: &Change) -> Result<(), Broken> {
        if let Some(receipt) = &change.receipt
            && self.receipts.iter().any(|there| there.phase == receipt.phase)
        {
            return Err(Broken::Receipt(receipt.phase.clone()));
        }
        let opened = change.attempts.iter().find_map(|attempt| match attempt {
            AttemptChange::Open(attempt) => Some(attempt.fence),
            AttemptChange::End { .. } | AttemptChange::SupersedeUpTo(_) => None,
        });
        match opened.filter(|fence| self.attempts.iter().any(|there| there.fence == *fence)) {
            Some(fence) => Err(Broken::Attempt(fence)),
            None => Ok(()),
        }
    }

    fn write_attempt(&mut self, change: AttemptChange, now: Timestamp) {
        match change {
            AttemptChange::Open(attempt) => self.attempts.push(attempt),
            AttemptChange::End { fence, outcome, reason } => {
                for attempt in self.attempts.iter_mut().filter(|attempt| attempt.fence == fence) {
                    if let Some(ended) = attempt.ended(outcome, reason.clone(), now) {
                        *attempt = ended;
                    }
                }
            }
            AttemptChange::SupersedeUpTo(fence) => {
                for attempt in self.never_ended().filter(|attempt| attempt.fence <= fence) {
                    attempt.end = Some((AttemptOutcome::Superseded, now));
                }
            }
        }
    }

    fn never_ended(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.attempts.iter_mut().filter(|attempt| attempt.end.is_none())
    }
}
