//! Arguments of `demo` and of the workers that it starts.

use clap::Args;
use lease_core::RunId;
use uuid::Uuid;

use super::worker::WorkerFlags;

/// One of the two workers of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoWorkerArguments {
    /// The run to claim.
    #[arg(long, value_parser = run_id)]
    pub(crate) run: RunId,
    /// The phase to wait in, until told to go on.
    #[arg(long)]
    pub(crate) wait_in: String,
    /// Send the save all the same once the lease is lost, which no other worker does.
    #[arg(long)]
    pub(crate) insist: bool,
    /// How the worker works.
    #[command(flatten)]
    pub(crate) worker: WorkerFlags,
}

fn run_id(text: &str) -> Result<RunId, uuid::Error> {
    Ok(RunId::new(Uuid::try_parse(text)?))
}
