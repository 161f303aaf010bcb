//! `pause`: lets nobody claim a run. Its holder may still save the phase it is at.

use lease_core::Action;

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::ActArguments;
use crate::error::Error;
use crate::exit::Exit;

pub(super) async fn pause(context: &Context, arguments: ActArguments) -> Result<Exit, Error> {
    let ActArguments { run, by, reason } = arguments;
    let who = who(by, reason)?;
    act(context, Act { verb: "pause", run, action: Action::Pause, who, question: None, done: "paused" }).await
}
