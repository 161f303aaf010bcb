//! `show`: everything about one run.

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
    let reader = database.reader();
    let view = select(reader, &arguments.run).await?;
    let run = view.run.id;
    let read = Error::store("read the run");
    let whole = WholeRun {
        view,
        receipts: reader.receipts(run).await.map_err(&read)?,
        attempts: reader.attempts(run).await.map_err(&read)?,
        actions: reader.actions(run).await.map_err(&read)?,
    };
    if context.common.json {
        context.output.json(&ShowDocument::from(whole));
    } else {
        context.output.write(&run_text::show(&whole));
    }
    Ok(Exit::Done)
}
