//! `validate`: the identifiers are what they claim to be.
//!
//! Records are checked when they are submitted; a run's input may come from elsewhere or be older
//! than a rule, so the plan checks it again, by the same rules.

use async_trait::async_trait;
use lease_core::Document;
use serde_json::Value;

use super::{object, record};
use crate::step::{Step, StepEnd, StepRequest};
use crate::supplier::FIELD_NAMES;

/// Checks the supplier's record.
#[derive(Debug, Clone, Copy)]
pub struct Validate;

#[async_trait]
impl Step for Validate {
    fn is_quick(&self) -> bool {
        true
    }

    /// The receipt is `{"checked": [the fields that are there]}`.
    async fn run(&self, request: &StepRequest) -> StepEnd {
        let record = match record(request.input()) {
            Ok(record) => record.to_input(),
            Err(failed) => return failed,
        };
        let checked = FIELD_NAMES.iter().filter(|name| record.contains_key(**name));
        let checked: Vec<Value> = checked.map(|name| (*name).into()).collect();
        let receipt = object([("checked", checked.into())]);
        StepEnd::receipt(Document::new(receipt).expect("a record has few fields with short names"))
    }
}

#[cfg(test)]
mod tests {
    use lease_core::FailureKind;
    use serde_json::json;

    use super::*;
    use crate::step::testing;

    #[tokio::test]
    async fn a_good_record_leaves_the_checked_fields() {
        let request = testing::request_with(testing::input());
        let StepEnd::Done(done) = Validate.run(&request).await else { panic!("not done") };
        let checked = json!({"checked": [
            "key", "legal_name", "country", "tax_id", "iban", "bic", "currency", "email",
            "payment_terms_days", "spending_limit", "contact", "categories",
        ]});
        assert_eq!(done.receipt, Document::from_value(checked).unwrap());
        assert!(done.effects.is_empty());
    }

    #[tokio::test]
    async fn every_bad_field_is_named_and_the_failure_is_one_of_input() {
        let mut fields = testing::input().into_fields();
        fields.insert("iban".to_owned(), json!("DE88370400440532013000"));
        fields.remove("email");
        let request = testing::request_with(Document::new(fields).unwrap());
        let message = "iban: check digits do not match; email: is missing".to_owned();
        let expected = StepEnd::Failed { kind: FailureKind::INPUT, message };
        assert_eq!(Validate.run(&request).await, expected);
    }
}
