//! Arguments about supplier files and plans.

use std::path::PathBuf;

use clap::Args;
use supplier_runner::supplier::Format;

/// A plan as named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlanChoice {
    /// The plan inside the program.
    BuiltIn,
    /// The plan in this file.
    File(PathBuf),
}

impl PlanChoice {
    /// The word for the plan inside the program.
    pub(crate) const BUILT_IN: &str = "built-in";

    /// Reads a file's name or the word for the built-in plan.
    pub(crate) fn parse(text: &str) -> Result<Self, std::convert::Infallible> {
        Ok(if text == Self::BUILT_IN { Self::BuiltIn } else { Self::File(text.into()) })
    }
}

/// Files with supplier records.
#[derive(Debug, Args)]
pub(crate) struct RecordFiles {
    /// Files with supplier records: CSV, JSON or NDJSON; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The files' format (csv, json or ndjson), where their extension does not tell it
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Submit the good records although there are bad ones; the exit code is 65 all the same
    #[arg(long)]
    pub(crate) skip_invalid: bool,
}

/// `submit`
#[derive(Debug, Args)]
pub(crate) struct SubmitArguments {
    /// The records.
    #[command(flatten)]
    pub(crate) records: RecordFiles,
    /// The plan for the new runs: a file, or `built-in` [default: built-in]
    #[arg(long, value_name = "FILE", value_parser = PlanChoice::parse)]
    pub(crate) plan: Option<PlanChoice>,
    /// Bring the database's schema up to date first
    #[arg(long)]
    pub(crate) migrate: bool,
}

/// `check`
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Files with supplier records: CSV, JSON or NDJSON; `-` is standard input
    #[arg(required_unless_present = "plans", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The files' format (csv, json or ndjson), where their extension does not tell it
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// A plan to check as well: a file, or `built-in`; may be given more than once
    #[arg(long = "plan", value_name = "FILE", value_parser = PlanChoice::parse)]
    pub(crate) plans: Vec<PlanChoice>,
}
