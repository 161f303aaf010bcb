//! `migrate`: brings the schema up to date, or says whether it is.

use lease_core::SchemaState;
use serde::Serialize;

use super::Context;
use crate::arguments::MigrateArguments;
use crate::database::Database;
use crate::error::Error;
use crate::exit::Exit;
use crate::worker_settings::plain_connections;

/// The result.
#[derive(Debug, Serialize)]
struct MigrateDocument {
    schema: &'static str,
}

pub(super) async fn migrate(context: &Context, arguments: &MigrateArguments) -> Result<Exit, Error> {
    let connected = if arguments.check {
        Database::connect(&context.common, &plain_connections()).await
    } else {
        Database::create(&context.common, &plain_connections()).await
    };
    let database = connected?;
    let state = database.schema_state().await?;
    let (schema, words, exit) = match &state {
        SchemaState::Current => ("current", "the schema is up to date", Exit::Done),
        SchemaState::Missing | SchemaState::Behind { .. } if arguments.check => {
            ("behind", "the schema is not up to date; run: supplier-setup migrate", Exit::ToDo)
        }
        SchemaState::Missing | SchemaState::Behind { .. } => {
            database.migrate().await?;
            ("migrated", "the schema was brought up to date", Exit::Done)
        }
        SchemaState::Ahead { .. } | SchemaState::Altered { .. } => {
            database.check_schema(&state)?;
            ("current", "the schema is up to date", Exit::Done)
        }
    };
    if context.common.json {
        context.output.json(&MigrateDocument { schema });
    } else {
        context.output.line(words);
    }
    Ok(exit)
}
