//! `cancel`: ends a run for good, whoever holds it.

use lease_core::Action;

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::{ActArguments, EndArguments};
use crate::error::Error;
use crate::exit::Exit;

pub(super) async fn cancel(context: &Context, arguments: EndArguments) -> Result<Exit, Error> {
    let EndArguments { act: ActArguments { run, by, reason }, yes } = arguments;
    let question = (!yes).then_some("this ends the run for good, whoever works on it; go on?");
    let who = who(by, reason)?;
    act(context, Act { verb: "cancel", run, action: Action::Cancel, who, question, done: "cancelled" }).await
}
