//! Everything that a store keeps of one run, in a form that any store can write down: for moving runs
//! from one store to another.
//!
//! Keeps FENCE-UP: numbers are part of it, so a run that moves goes on counting where it stood.

use serde_json::{Map, Number, Value, json};

use crate::attempt::Attempt;
use crate::ids::RunId;
use crate::reader::{OperatorAction, RunReader};
use crate::receipt::Receipt;
use crate::run::{Hold, Run};
use crate::store::StoreError;
use crate::timestamp::Timestamp;

/// A run with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// The run.
    pub run: Run,
    /// Its receipts, in the order of its phases.
    pub receipts: Vec<Receipt>,
    /// Its attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// What operators did to it, oldest first.
    pub actions: Vec<OperatorAction>,
}

impl RunRecord {
    /// Reads the record of a run that nobody works on meanwhile; `None` if there is no such run.
    ///
    /// # Errors
    /// Where the store does not answer.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn read(store: &dyn RunReader, run: RunId) -> Result<Option<Self>, StoreError> {
        let Some(view) = store.view(run).await? else { return Ok(None) };
        Ok(Some(Self {
            run: view.run,
            receipts: store.receipts(run).await?,
            attempts: store.attempts(run).await?,
            actions: store.actions(run).await?,
        }))
    }

    /// The record as one JSON object: every column of the run by its name, instants as microseconds
    /// (`…_us`), and the arrays `receipts`, `attempts` and `actions`. Two records are the same exactly
    /// if these are: a number in a document counts by its value, written out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = run_value(&self.run);
        let mut list = |name: &str, rows: Vec<Value>| value.insert(name.to_owned(), Value::Array(rows));
        list("receipts", self.receipts.iter().map(receipt_value).collect());
        list("attempts", self.attempts.iter().map(attempt_value).collect());
        list("actions", self.actions.iter().map(action_value).collect());
        written_out(Value::Object(value))
    }
}

fn run_value(run: &Run) -> Map<String, Value> {
    let Run {
        id,
        key,
        plan,
        priority,
        phase,
        mark,
        status,
        paused,
        hold,
        losses,
        failures,
        due_at,
        key_epoch,
        input,
        input_digest,
        error,
        submitted_at,
    } = run;
    let (expires_at, lease_ended) = match hold {
        Hold::Never => (None, None),
        Hold::Held { expires_at, .. } => (Some(expires_at.as_micros()), None),
        Hold::Ended { how, .. } => (None, Some(how.as_str())),
    };
    let phases: Vec<&str> = plan.phases.as_slice().iter().map(|phase| phase.as_str()).collect();
    let value = json!({
        "id": id.to_string(),
        "key": key.as_str(),
        "plan": plan.id.name.as_str(),
        "plan_version": plan.id.version.get(),
        "plan_digest": plan.id.digest.to_string(),
        "phases": phases,
        "priority": priority.get(),
        "phase": phase.as_str(),
        "phase_fence": mark.as_ref().map(|mark| mark.fence.get()),
        "phase_owner": mark.as_ref().map(|mark| mark.owner.as_str()),
        "phase_digest": mark.as_ref().map(|mark| mark.digest.to_string()),
        "status": status.as_str(),
        "paused": paused,
        "fence": hold.fence().map_or(0, |fence| fence.get()),
        "owner": hold.owner().map(|owner| owner.as_str()),
        "expires_us": expires_at,
        "lease_ended": lease_ended,
        "losses": losses,
        "failures": failures,
        "due_us": due_at.as_micros(),
        "key_epoch": key_epoch,
        "input": input.fields(),
        "input_digest": input_digest.to_string(),
        "error": error.as_ref().map(|error| error.to_document().into_fields()),
        "submitted_us": submitted_at.as_micros(),
    });
    let Value::Object(fields) = value else { unreachable!("an object was written") };
    fields
}

fn receipt_value(receipt: &Receipt) -> Value {
    let Receipt { phase, fence, body, saved_at } = receipt;
    json!({
        "phase": phase.as_str(), "fence": fence.get(), "body": body.fields(), "saved_us": saved_at.as_micros(),
    })
}

fn attempt_value(attempt: &Attempt) -> Value {
    let Attempt { fence, owner, claimed_at, from_phase, end, reason } = attempt;
    json!({
        "fence": fence.get(),
        "owner": owner.as_str(),
        "claimed_us": claimed_at.as_micros(),
        "from_phase": from_phase.as_str(),
        "outcome": end.map(|(outcome, _)| outcome.as_str()),
        "ended_us": end.map(|(_, at): (_, Timestamp)| at.as_micros()),
        "reason": reason.as_ref().map(|reason| reason.fields()),
    })
}

fn action_value(action: &OperatorAction) -> Value {
    let OperatorAction { at, action, by, reason } = action;
    json!({ "acted_us": at.as_micros(), "action": action, "acted_by": by, "reason": reason })
}

/// The value with every number written out, as a store may give it back: without an exponent, and
/// without the sign of a zero.
#[must_use]
pub fn written_out(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(number_written_out(&number)),
        Value::Array(values) => Value::Array(values.into_iter().map(written_out).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, written_out(value))).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => other,
    }
}

fn number_written_out(number: &Number) -> Number {
    let text = number.to_string();
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(exponent) = exponent.parse::<i64>() else { return number.clone() };
    // A document's exponents are small, so this stays in range.
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(exponent);
    let mut digits = format!("{whole}{fraction}");
    let places = i64::try_from(fraction.len()).unwrap_or(0).saturating_sub(exponent).max(0);
    if point <= 0 {
        let zeros = usize::try_from(1 - point).unwrap_or(0);
        digits = format!("{}{digits}", "0".repeat(zeros));
    } else {
        let missing = usize::try_from(point).unwrap_or(0).saturating_sub(digits.len());
        digits.push_str(&"0".repeat(missing));
    }
    let places = usize::try_from(places).unwrap_or(0);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let is_zero = digits.bytes().all(|digit| digit == b'0');
    let sign = if is_zero { "" } else { sign };
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{dot}{fraction}").parse().unwrap_or_else(|_| number.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 11: what a store that writes exponents out gives back counts as the same, digit for digit.
    #[test]
    fn a_number_is_written_out_without_its_exponent() {
        let pairs = [
            ("1e2", "100"),
            ("1.5E+1", "15"),
            ("1.50", "1.50"),
            ("12.5e-3", "0.0125"),
            ("1e-2", "0.01"),
            ("-0.0", "0.0"),
            ("-0", "0"),
            ("9007199254740993", "9007199254740993"),
            ("-1.25e1", "-12.5"),
            ("0e5", "0"),
        ];
        for (sent, kept) in pairs {
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(written_out(read(sent)).to_string(), kept, "{sent}");
        }
    }
}
