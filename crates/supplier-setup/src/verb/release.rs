//! `release --force`: takes one lease, and no later one, away from its holder.

use lease_core::{Action, FencingToken};

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::ReleaseArguments;
use crate::error::Error;
use crate::exit::Exit;

pub(super) async fn release(context: &Context, arguments: ReleaseArguments) -> Result<Exit, Error> {
    // `--force` is required, so that nobody takes this for the way to give a run back.
    let ReleaseArguments { run, force: _, fence, reason, by, yes } = arguments;
    let fence = FencingToken::new(fence).expect("the argument is between 1 and the largest number");
    let who = who(by, Some(reason))?;
    let question = (!yes).then_some("its holder loses what it has not saved; go on?");
    let action = Action::Revoke { fence };
    act(context, Act { verb: "release", run, action, who, question, done: "lease taken away" }).await
}
