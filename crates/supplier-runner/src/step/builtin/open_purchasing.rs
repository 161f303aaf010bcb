//! `open_purchasing`: the supplier's row in `supplier.purchase_accounts`.

use async_trait::async_trait;
use lease_core::{Hasher, RunKey};

use super::{done_with, object, record};
use crate::step::{Step, StepEnd, StepRequest};
use crate::tables::PURCHASE_ACCOUNT;

/// Opens the supplier's purchase account.
#[derive(Debug, Clone, Copy)]
pub struct OpenPurchasing;

#[async_trait]
impl Step for OpenPurchasing {
    fn is_quick(&self) -> bool {
        true
    }

    /// The receipt is `{"account", "currency"}`.
    async fn run(&self, request: &StepRequest) -> StepEnd {
        let record = match record(request.input()) {
            Ok(record) => record,
            Err(failed) => return failed,
        };
        let account = account_of(request.key());
        let currency = record.currency().code();
        let terms = record.payment_terms_days().map(|terms| terms.days());
        let limit = record.spending_limit().map(|limit| limit.to_string());
        let row = object([
            ("account", account.as_str().into()),
            ("currency", currency.into()),
            ("spending_limit", limit.into()),
            ("payment_terms_days", terms.into()),
        ]);
        let receipt = object([("account", account.into()), ("currency", currency.into())]);
        done_with(receipt, PURCHASE_ACCOUNT, row)
    }
}

/// The account's number: made of the supplier's key alone, so that a step done twice opens the same
/// account twice and not two accounts.
fn account_of(key: &RunKey) -> String {
    let digest = Hasher::new("purchase account").field(key.as_str().as_bytes()).finish();
    format!("PA-{:.16}", digest.to_string().to_uppercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::step::testing;

    #[tokio::test]
    async fn the_account_has_the_same_number_every_time() {
        let request = testing::request_with(testing::input());
        let first = OpenPurchasing.run(&request).await;
        assert_eq!(first, OpenPurchasing.run(&request).await);
        let StepEnd::Done(done) = first else { panic!("not done") };
        let [effect] = done.effects.as_slice() else { panic!("one row") };
        assert_eq!(effect.kind.as_str(), "supplier.purchase_account");
        let row = effect.body.fields();
        assert_eq!((&row["spending_limit"], &row["payment_terms_days"]), (&json!("2500.50"), &json!(30)));
        assert_eq!(row["account"], done.receipt.fields()["account"]);
        let account = account_of(&RunKey::new("S-1").unwrap());
        assert_eq!((account.len(), account == account_of(&RunKey::new("S-2").unwrap())), (19, false));
    }
}
