//! `list`: runs, in the order of their submission.

use lease_core::{RunFilter, RunKey};

use super::Context;
use crate::arguments::ListArguments;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::run_json::{ListDocument, RunRow};
use crate::output::{note, run_text};
use crate::worker_settings::plain_connections;

pub(super) async fn list(context: &Context, arguments: ListArguments) -> Result<Exit, Error> {
    let ListArguments { status, outcome, key, limit } = arguments;
    let key = key.map(RunKey::new).transpose()?;
    let database = Database::open(&context.common, &plain_connections(), Schema::MustFit).await?;
    database.tell_if_moved().await?;
    let filter = RunFilter { status, last_outcome: outcome, key, limit };
    let page = database.reader().list(&filter).await.map_err(Error::store("list runs"))?;
    if context.common.json {
        context.output.json(&ListDocument { runs: page.runs.iter().map(RunRow::from).collect() });
    } else {
        context.output.write(&run_text::list(&page.runs));
    }
    if page.more {
        note(&format!("only the first {limit} are shown; --limit gives more, up to {}", RunFilter::LIMIT));
    }
    Ok(Exit::Done)
}
