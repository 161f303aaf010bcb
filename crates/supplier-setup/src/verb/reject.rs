//! `reject`: fails a run at the phase that it waits for.

use lease_core::{Action, PhaseName};

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::{ActArguments, PhaseArguments, RejectArguments};
use crate::error::Error;
use crate::exit::Exit;

pub(super) async fn reject(context: &Context, arguments: RejectArguments) -> Result<Exit, Error> {
    let RejectArguments { at: PhaseArguments { act: ActArguments { run, by, reason }, phase }, yes } =
        arguments;
    let phase = PhaseName::new(phase)?;
    let who = who(by, reason)?;
    let question = (!yes).then_some("this fails the run; go on?");
    let action = Action::Reject { phase };
    act(context, Act { verb: "reject", run, action, who, question, done: "rejected, the run is failed" })
        .await
}
