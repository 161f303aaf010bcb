//! `resume`: lets a paused run be claimed again.

use lease_core::Action;

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::ActArguments;
use crate::error::Error;
use crate::exit::Exit;

pub(super) async fn resume(context: &Context, arguments: ActArguments) -> Result<Exit, Error> {
    let ActArguments { run, by, reason } = arguments;
    let who = who(by, reason)?;
    act(context, Act { verb: "resume", run, action: Action::Resume, who, question: None, done: "resumed" })
        .await
}
