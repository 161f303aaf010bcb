//! `approve`: saves the phase that a run waits for, with who approved it as its receipt.

use lease_core::{Action, PhaseName, WorkerName};
use uuid::Uuid;

use super::Context;
use super::act::{Act, act, who};
use crate::arguments::{ActArguments, PhaseArguments};
use crate::error::Error;
use crate::exit::Exit;
use crate::worker_settings::cleaned;

/// How much of a person's name goes into the owner of an approval, in bytes.
const NAME_LIMIT: usize = 32;

pub(super) async fn approve(context: &Context, arguments: PhaseArguments) -> Result<Exit, Error> {
    let PhaseArguments { act: ActArguments { run, by, reason }, phase } = arguments;
    let phase = PhaseName::new(phase)?;
    let who = who(by, reason)?;
    let name = WorkerName::new(format!("approval.{}", cleaned(who.by(), NAME_LIMIT)));
    let owner = name.map_err(Error::WorkerName)?.owner(Uuid::new_v4().as_u128());
    let action = Action::Approve { phase, owner };
    act(context, Act { verb: "approve", run, action, who, question: None, done: "approved" }).await
}
