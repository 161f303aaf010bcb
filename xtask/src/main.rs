//! The project's own chores: `cargo xtask help` lists them.

mod bench;
mod chaos;
mod chore;
mod ci;
mod fetched;
mod install;
mod mutants;
mod programs;
mod prove;
mod scratch;
mod server;
mod supervisor;
mod test;
mod tidy;
mod unprivileged;
mod with_pg;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use chore::Failure;

/// The project's own chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Runs a command with a private PostgreSQL of its own and DATABASE_URL set.
    WithPg(with_pg::Arguments),
    /// Runs every test, doc tests included, under one private PostgreSQL.
    Test(test::Arguments),
    /// What CI runs: format, lints, docs, dependency policy, tidy, tests.
    Ci(ci::Arguments),
    /// Measures claims, renewals and saves through pgbench and through lease-postgres, and a worker's steps.
    Bench(bench::Arguments),
    /// Sends random histories to the real stores, step for step against the rules.
    Prove(prove::Arguments),
    /// Takes each guard out, one at a time, and expects a test to fail.
    Mutants(mutants::Arguments),
    /// Kills, stops and cuts off real workers, and judges what came of it.
    Chaos(chaos::Arguments),
    /// Checks what no lint does.
    Tidy,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::WithPg(arguments) => with_pg::run(arguments),
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Ci(arguments) => ci::run(&arguments),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Prove(arguments) => prove::run(&arguments),
        Chore::Mutants(arguments) => mutants::run(&arguments),
        Chore::Chaos(arguments) => chaos::run(&arguments),
        Chore::Tidy => tidy::run(),
    };
    done.unwrap_or_else(Failure::report)
}
