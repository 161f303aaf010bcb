//! Explores a space of a size of your choice to its end: `cargo run --release -p lease-model --example
//! explore -- --help`. Every further claim, tick or message makes it many times as large.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use lease_model::{LeaseModel, Setting, story};
use stateright::{Checker, Model};

/// Explores the lease protocol.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many workers.
    #[arg(long, default_value_t = 2)]
    workers: u8,
    /// How many claims are sent in all.
    #[arg(long, default_value_t = 3)]
    claims: u8,
    /// How far the clock goes; a lease lasts three ticks.
    #[arg(long, default_value_t = 4)]
    ticks: u8,
    /// How many messages are under way at the most.
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    /// Answers may be late by themselves.
    #[arg(long)]
    late_answers: bool,
    /// Without crashes and operators.
    #[arg(long)]
    plain: bool,
    /// Workers keep up but for so many troubles, and time limits are looked at; take one message under
    /// way and more claims than troubles.
    #[arg(long)]
    troubles: Option<u8>,
}

fn main() -> ExitCode {
    let Arguments { workers, claims, ticks, in_flight, late_answers, plain, troubles } = Arguments::parse();
    let setting =
        Setting { workers, claims, ticks, in_flight, late_answers, plain, troubles, ..Setting::SMALL };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let began = Instant::now();
    let checker = LeaseModel::new(setting).checker().threads(threads).spawn_bfs().join();
    println!(
        "{} states, {} steps deep, in {:.1} s",
        checker.unique_state_count(),
        checker.max_depth(),
        began.elapsed().as_secs_f64()
    );
    println!("answers given: {}", checker.model().reached().join(", "));
    let mut broken = ExitCode::SUCCESS;
    for (law, path) in checker.discoveries() {
        println!("{law} is broken:\n{}", story(path));
        broken = ExitCode::FAILURE;
    }
    broken
}
