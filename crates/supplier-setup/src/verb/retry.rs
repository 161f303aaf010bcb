//! `retry`: opens a failed run again at the phase that failed, with its counters anew.

use lease_core::{Action, IdempotencyKey};

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::{ActArguments, RetryArguments};
use crate::error::Error;
use crate::exit::Exit;

pub(super) async fn retry(context: &Context, arguments: RetryArguments) -> Result<Exit, Error> {
    let RetryArguments { act: ActArguments { run, by, reason }, new_idempotency_key } = arguments;
    let key = if new_idempotency_key { IdempotencyKey::New } else { IdempotencyKey::Same };
    let who = who(by, reason)?;
    let action = Action::Retry(key);
    act(context, Act { verb: "retry", run, action, who, question: None, done: "open again, due now" }).await
}
