//! `register`: the supplier's row in `supplier.setups`.

use async_trait::async_trait;

use super::{done_with, object, record};
use crate::step::{Step, StepEnd, StepRequest};
use crate::tables::SETUP;

/// Registers the supplier.
#[derive(Debug, Clone, Copy)]
pub struct Register;

#[async_trait]
impl Step for Register {
    fn is_quick(&self) -> bool {
        true
    }

    /// The receipt is `{"supplier": key}`.
    async fn run(&self, request: &StepRequest) -> StepEnd {
        let record = match record(request.input()) {
            Ok(record) => record,
            Err(failed) => return failed,
        };
        let row = object([
            ("legal_name", record.legal_name().as_str().into()),
            ("country", record.country().code().into()),
            ("tax_id", record.tax_id().as_str().into()),
            ("iban", record.iban().as_str().into()),
            ("bic", record.bic().as_str().into()),
            ("currency", record.currency().code().into()),
            ("email", record.email().as_str().into()),
            ("lei", record.lei().map(|lei| lei.as_str()).into()),
            ("contact", record.contact().map(|contact| contact.as_str()).into()),
            ("categories", record.categories().as_slice().into()),
        ]);
        done_with(object([("supplier", request.key().as_str().into())]), SETUP, row)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::step::testing;

    #[tokio::test]
    async fn the_row_is_the_record_in_its_normal_form() {
        let mut fields = testing::input().into_fields();
        fields.insert("iban".to_owned(), json!("de89 3704 0044 0532 0130 00"));
        let request = testing::request_with(lease_core::Document::new(fields).unwrap());
        let StepEnd::Done(done) = Register.run(&request).await else { panic!("not done") };
        assert_eq!(done.receipt.to_json(), r#"{"supplier":"S-1"}"#);
        let [effect] = done.effects.as_slice() else { panic!("one row") };
        assert_eq!(effect.kind.as_str(), "supplier.setup");
        let row = effect.body.fields();
        assert_eq!(row["iban"], json!("DE89370400440532013000"));
        assert_eq!((&row["lei"], &row["categories"]), (&json!(null), &json!(["beans", "cups"])));
    }
}
