//! The steps that the program does by itself.
//!
//! They compute and touch nothing: the rows that `register` and `open_purchasing` stand for are
//! effects, written in the save's own transaction.

mod approval;
mod open_purchasing;
mod register;
mod validate;

pub use approval::Approval;
pub use open_purchasing::OpenPurchasing;
pub use register::Register;
pub use validate::Validate;

use lease_core::{Document, Effect, EffectKind, Effects, FailureKind};
use serde_json::{Map, Value};

use super::{StepDone, StepEnd};
use crate::supplier::{FieldError, SupplierRecord};

/// The record in a run's input; the failure that lists every bad field where it is none.
fn record(input: &Document) -> Result<SupplierRecord, StepEnd> {
    SupplierRecord::from_input(input.fields()).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(FieldError::to_string).collect();
        StepEnd::Failed { kind: FailureKind::INPUT, message: errors.join("; ") }
    })
}

/// Done, with one row to be written.
fn done_with(receipt: Map<String, Value>, kind: &str, row: Map<String, Value>) -> StepEnd {
    let effect = |body| Effect {
        kind: EffectKind::new(kind).expect("a built-in kind keeps the rule for names"),
        body,
    };
    // A record's values are bounded far below a document's, but nothing is lost by asking.
    match (Document::new(receipt), Document::new(row).map(effect)) {
        (Ok(receipt), Ok(effect)) => {
            let effects = Effects::new(vec![effect]).expect("one effect is within the limit");
            StepEnd::Done(StepDone { receipt, effects })
        }
        (Err(error), _) | (_, Err(error)) => StepEnd::failed(format!("cannot keep the result: {error}")),
    }
}

/// A JSON object of these fields.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
