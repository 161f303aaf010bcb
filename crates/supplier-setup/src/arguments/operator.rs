//! Arguments of operators' actions.

use clap::Args;

/// Which run, who acts, and why.
#[derive(Debug, Args)]
pub(crate) struct ActArguments {
    /// A run's id, a unique beginning of one, or a supplier's key
    pub(crate) run: String,
    /// Who acts [default: the user's name from the environment]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Why; kept with the action
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// `cancel`
#[derive(Debug, Args)]
pub(crate) struct EndArguments {
    /// Which run, who, and why.
    #[command(flatten)]
    pub(crate) act: ActArguments,
    /// Do not ask first
    #[arg(long)]
    pub(crate) yes: bool,
}

/// `retry`
#[derive(Debug, Args)]
pub(crate) struct RetryArguments {
    /// Which run, who, and why.
    #[command(flatten)]
    pub(crate) act: ActArguments,
    /// Give the steps a new idempotency key: what was done outside before does not count
    #[arg(long)]
    pub(crate) new_idempotency_key: bool,
}

/// `approve`
#[derive(Debug, Args)]
pub(crate) struct PhaseArguments {
    /// Which run, who, and why.
    #[command(flatten)]
    pub(crate) act: ActArguments,
    /// The phase that the run waits for
    #[arg(long, value_name = "PHASE")]
    pub(crate) phase: String,
}

/// `reject`
#[derive(Debug, Args)]
pub(crate) struct RejectArguments {
    /// Which run and phase, who, and why.
    #[command(flatten)]
    pub(crate) at: PhaseArguments,
    /// Do not ask first
    #[arg(long)]
    pub(crate) yes: bool,
}

/// `release`
#[derive(Debug, Args)]
pub(crate) struct ReleaseArguments {
    /// A run's id, a unique beginning of one, or a supplier's key
    pub(crate) run: String,
    /// Really take it away; a lease is given up in good order only by its holder
    #[arg(long, required = true)]
    pub(crate) force: bool,
    /// The number that was seen; no later lease is touched
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX.unsigned_abs()))]
    pub(crate) fence: u64,
    /// Why; kept with the action
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Who acts [default: the user's name from the environment]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Do not ask first
    #[arg(long)]
    pub(crate) yes: bool,
}
