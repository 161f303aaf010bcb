//! The command line: verbs, flags and their defaults, parsed into types where parsing needs nothing
//! but the text.

mod demo;
mod duration;
mod operator;
mod records;
mod transfer;
mod worker;

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use lease_core::{AttemptOutcome, RunFilter, Status};

use crate::database_url::DatabaseUrl;
use crate::exit;

pub(crate) use demo::DemoWorkerArguments;
pub(crate) use operator::{
    ActArguments, EndArguments, PhaseArguments, RejectArguments, ReleaseArguments, RetryArguments,
};
pub(crate) use records::{CheckArguments, PlanChoice, RecordFiles, SubmitArguments};
pub(crate) use transfer::TransferArguments;
pub(crate) use worker::{RunArguments, WorkArguments, WorkerFlags};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "supplier-setup", version, about, after_help = exit::HELP, max_term_width = 120)]
pub(crate) struct Arguments {
    /// What holds for every verb.
    #[command(flatten)]
    pub(crate) common: Common,
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What holds for every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Where runs are kept: postgres://USER:PASSWORD@HOST:PORT/DATABASE or sqlite://PATH [default: a
    /// file in your data folder]
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<DatabaseUrl>,
    /// Print results as JSON on standard output; `run` and `work` print one event per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// How logs on standard error are written
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Submit the suppliers in files and work until none of them can go further here
    Run(RunArguments),
    /// Open a run for each supplier in files; checks every record first
    Submit(SubmitArguments),
    /// Read and check records and plan files; changes nothing and needs no database
    Check(CheckArguments),
    /// Be a worker: claim runs and work on them until stopped
    Work(WorkArguments),
    /// List runs in the order of their submission
    List(ListArguments),
    /// Show one run: phases, receipts, lease, attempts
    Show(ShowArguments),
    /// Open a failed run again, at the phase that failed
    Retry(RetryArguments),
    /// End a run for good
    Cancel(EndArguments),
    /// Let nobody claim a run; its holder may still save the phase it is at
    Pause(ActArguments),
    /// Let a paused run be claimed again
    Resume(ActArguments),
    /// Approve the phase that a run waits for
    Approve(PhaseArguments),
    /// Reject the phase that a run waits for; the run fails
    Reject(RejectArguments),
    /// Take a lease away from a holder that will not give it up
    Release(ReleaseArguments),
    /// Bring the database's schema up to date; safe when many start at once
    Migrate(MigrateArguments),
    /// Move all runs from a file to PostgreSQL, with their numbers; the file is sealed
    Transfer(TransferArguments),
    /// Show a late save being turned away, with real processes, on a scratch database
    Demo,
    /// One of the workers that `demo` starts
    #[command(hide = true)]
    DemoWorker(DemoWorkerArguments),
}

/// `list`
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only runs with this status
    #[arg(long, value_parser = word_of(Status::ALL, |status| status.as_str()))]
    pub(crate) status: Option<Status>,
    /// Only runs whose last attempt ended so
    #[arg(long, value_parser = word_of(AttemptOutcome::ALL, |outcome| outcome.as_str()))]
    pub(crate) outcome: Option<AttemptOutcome>,
    /// Only the run of this supplier
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(RunFilter::LIMIT)))]
    pub(crate) limit: u32,
}

/// `show`
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A run's id, a unique beginning of one, or a supplier's key
    pub(crate) run: String,
}

/// `migrate`
#[derive(Debug, Args)]
pub(crate) struct MigrateArguments {
    /// Only say whether there is something to do (exit code 23)
    #[arg(long)]
    pub(crate) check: bool,
}

/// One of these words, which help and errors name.
fn word_of<T>(all: &'static [T], word: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + FromStr + Send + Sync + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().copied().map(word)).try_map(|text| text.parse::<T>())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_hides_the_database_url() {
        let help = Arguments::command().render_long_help().to_string();
        assert!(help.contains("[env: DATABASE_URL]"), "{help}");
    }
}
