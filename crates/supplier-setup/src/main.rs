//! `supplier-setup`: sets up suppliers under a fenced lease. The thin binary: arguments, wiring,
//! output and exit codes.
//!
//! **Invariant:** no rule about leases is decided here.

mod any_store;
mod arguments;
mod database;
mod database_url;
mod default_file;
mod error;
mod event_line;
mod exit;
mod log;
mod output;
mod plans;
mod program;
mod progress;
mod reason;
mod selected_run;
mod signals;
mod submitting;
mod verb;
mod worker_settings;
mod working;

fn main() -> std::process::ExitCode {
    program::run().into()
}
