//! Arguments of `run` and `work`.

use std::time::Duration;

use clap::Args;

use super::duration;
use super::records::{PlanChoice, RecordFiles};

/// `run`
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The records.
    #[command(flatten)]
    pub(crate) records: RecordFiles,
    /// How the worker works.
    #[command(flatten)]
    pub(crate) worker: WorkerFlags,
}

/// `work`
#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    /// End when no run that this worker could take is open, retries that fall due later included
    #[arg(long, conflicts_with = "run")]
    pub(crate) drain: bool,
    /// Take only this run, and end with it: an id, a unique beginning of one, or a supplier's key
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// How the worker works.
    #[command(flatten)]
    pub(crate) worker: WorkerFlags,
}

/// How a worker works.
#[derive(Debug, Args)]
#[command(next_help_heading = "Worker")]
pub(crate) struct WorkerFlags {
    /// A plan to work on: a file, or `built-in`; may be given more than once. Only these are worked
    /// on, and `run` submits with the first [default: built-in]
    #[arg(long = "plan", value_name = "FILE", value_parser = PlanChoice::parse)]
    pub(crate) plans: Vec<PlanChoice>,
    /// Bring the database's schema up to date first
    #[arg(long)]
    pub(crate) migrate: bool,
    /// How long a lease lasts from each renewal on
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration::parse)]
    pub(crate) ttl: Duration,
    /// How often a lease is renewed [default: a third of the TTL]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) heartbeat: Option<Duration>,
    /// How long before a lease's end the worker gives up by itself [default: a tenth of the TTL, at
    /// most 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) margin: Option<Duration>,
    /// How many runs to work on at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) concurrency: usize,
    /// How long an idle worker waits at most before it asks again
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration::parse)]
    pub(crate) poll: Duration,
    /// How long a step may finish after the worker was told to stop
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration::parse)]
    pub(crate) grace: Duration,
    /// The worker's name, in leases and attempts [default: host name and process id]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// How many leases a run may lose at one phase before it is set aside as failed
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) loss_limit: u32,
    /// How long a database statement may take; below the TTL [default: derived from the TTL]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) statement_timeout: Option<Duration>,
    /// How long a database statement may wait for a lock; below the TTL [default: derived from the
    /// TTL]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) lock_timeout: Option<Duration>,
    /// The most database connections, heartbeats' own not counted [default: two more than the
    /// concurrency]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) connections: Option<u32>,
}
