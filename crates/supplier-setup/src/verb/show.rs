//! `show`: everything about one run.

use lease_core::{Hold, Run, RunReader, RunView};

use super::Context;
use crate::arguments::ShowArguments;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::run_json::{ShowDocument, WholeRun};
use crate::output::run_text;
use crate::selected_run::select;
use crate::worker_settings::plain_connections;

pub(super) async fn show(context: &Context, arguments: &ShowArguments) -> Result<Exit, Error> {
    let database = Database::open(&context.common, &plain_connections(), Schema::MustFit).await?;
    database.tell_if_moved().await?;
    let reader = database.reader();
    let view = select(reader, &arguments.run).await?;
    let whole = at_one_instant(reader, view).await?;
    if context.common.json {
        context.output.json(&ShowDocument::from(whole));
    } else {
        context.output.write(&run_text::show(&whole));
    }
    Ok(Exit::Done)
}

/// How often a run that keeps changing is read again.
const TRIES: u32 = 20;

/// The run with all that belongs to it, as it stood at one instant: where the run changed while the rest
/// was read, everything is read again.
async fn at_one_instant(reader: &dyn RunReader, mut view: RunView) -> Result<WholeRun, Error> {
    let run = view.run.id;
    let read = Error::store("read the run");
    for _ in 0..TRIES {
        let receipts = reader.receipts(run).await.map_err(&read)?;
        let attempts = reader.attempts(run).await.map_err(&read)?;
        let actions = reader.actions(run).await.map_err(&read)?;
        let after = reader.view(run).await.map_err(&read)?;
        let after = after.ok_or_else(|| Error::NoSuchRun(run.to_string()))?;
        if after.run == view.run && after.last_outcome == view.last_outcome {
            return Ok(WholeRun { view: after, receipts, attempts, actions });
        }
        // A renewal alone moves nothing but the expiry.
        let settled = |view: &RunView| Run { hold: Hold::Never, ..view.run.clone() };
        let only_renewed = settled(&after) == settled(&view)
            && after.run.hold.fence() == view.run.hold.fence()
            && after.last_outcome == view.last_outcome
            && matches!((&after.run.hold, &view.run.hold), (Hold::Held { .. }, Hold::Held { .. }));
        if only_renewed {
            return Ok(WholeRun { view: after, receipts, attempts, actions });
        }
        view = after;
    }
    Err(Error::KeepsChanging(run.to_string()))
}
