//! `chaos`: real workers on a real store, while they are killed, stopped and cut off, and the server crashes and
//! its clock is moved. What came of it is judged from tables, event streams, what steps wrote down, and
//! an audit trail that the database's own triggers write.

mod faults;
mod history;
mod intake;
mod judge;
mod proxy;
mod show;
mod stage;
mod workers;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::chore::{Failure, cargo, must, root};
use crate::install;

use history::{History, Setup};
use judge::{Finding, Judgement, judge};
use proxy::Link;
use show::{Script, Show};
use stage::Stage;
use workers::{Recipe, Worker, product};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How long faults come for.
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How many workers.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=32))]
    workers: u32,
    /// Chooses the faults and their times.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The store.
    #[arg(long, value_enum, default_value = "postgres")]
    store: Store,
    /// New suppliers a second [default: 22 on PostgreSQL, 32 on SQLite].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Faults in two seconds.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    faults: u32,
    /// Use the program as developers build it, and not as it is released.
    #[arg(long)]
    dev: bool,
    /// Install what is missing first, on Debian as root.
    #[arg(long)]
    install: bool,
    /// Judge what an earlier run left in this folder, and run nothing.
    #[arg(long, value_name = "FOLDER")]
    judge: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    Postgres,
    Sqlite,
}

impl Store {
    /// Enough that workers are always busy, and no more than they keep up with.
    fn rate(self) -> u32 {
        match self {
            Self::Postgres => 22,
            Self::Sqlite => 32,
        }
    }
}

impl Arguments {
    /// A dose for CI, with the program that the tests have built.
    pub(crate) fn small(store: Store) -> Self {
        Self {
            seconds: 15,
            workers: 4,
            seed: 1,
            store,
            rate: Some(8),
            faults: 4,
            dev: true,
            install: false,
            judge: None,
        }
    }
}

/// Leases are short, so that there is time for many to be lost.
const TTL: Duration = Duration::from_secs(3);

const POLL: Duration = Duration::from_secs(1);

/// High, so that runs get through: losing a lease is what happens here all the time.
const LOSS_LIMIT: i64 = 1_000;

/// Runs it and judges.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(folder) = &arguments.judge {
        return tell(&judge(&History::read(folder)?), &[], folder);
    }
    if arguments.install {
        install::chaos_programs()?;
    }
    let program = build(arguments.dev)?;
    let folder = root().join("target/chaos");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::path(&folder)(error));
        }
        Ok(()) | Err(_) => {}
    }
    // The server's user has to reach its clock's file.
    let beside = tempfile::Builder::new()
        .prefix("chaos-")
        .tempdir_in("/tmp")
        .map_err(Failure::system("cannot make a scratch folder"))?;
    for name in ["events", "logs"] {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).map_err(Failure::path(&folder))?;
    }
    let recipe = Recipe {
        program,
        plan: plan(&folder)?,
        folder: folder.clone(),
        ttl: "3s",
        poll: "1s",
        loss_limit: LOSS_LIMIT,
    };
    let mut stage = match arguments.store {
        Store::Postgres => Stage::postgres(beside.path())?,
        Store::Sqlite => {
            stage::found("sqlite3")?;
            Stage::Sqlite { file: beside.path().join("runs.db") }
        }
    };
    must(product(&recipe.program, &stage.url()).arg("migrate"))?;
    stage.audit()?;
    if let Stage::Postgres(postgres) = &stage {
        let said = stage::refused_by_pooler(postgres, &recipe.program)?;
        let said = said.filter(|said| said.contains("session mode"));
        let said = said.ok_or_else(|| {
            Failure::NotMeasured("the pooler that mixes up statements was not refused".to_owned())
        })?;
        println!("a pooler in transaction mode is refused: {}", said.trim());
    }
    let workers = (0..arguments.workers).map(|index| worker(index, arguments.workers, &stage));
    let workers = workers.collect::<Result<Vec<_>, _>>()?;
    let count = workers.len();
    let kinds = match arguments.store {
        Store::Postgres => faults::OF_POSTGRES,
        Store::Sqlite => faults::OF_SQLITE,
    };
    let faults = u32::try_from(arguments.seconds).unwrap_or(u32::MAX).saturating_mul(arguments.faults) / 2;
    let script = Script {
        lasts: Duration::from_secs(arguments.seconds),
        faults: faults.max(1),
        rate: arguments.rate.unwrap_or(arguments.store.rate()),
        ttl: TTL,
    };
    println!("{count} workers, seed {}, {} s", arguments.seed, arguments.seconds);
    let mut show = Show::new(&mut stage, &recipe, workers, kinds, script, arguments.seed);
    let submitted = show.run()?;
    println!("{submitted} suppliers were handed in");
    let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    let effects = [("registered", "setups"), ("purchasing_enabled", "purchase_accounts")];
    let setup = Setup {
        ttl_us: micros(TTL),
        poll_us: micros(POLL),
        loss_limit: LOSS_LIMIT,
        workers: count,
        names_transactions: arguments.store == Store::Postgres,
        effects: effects.map(|(phase, table)| (phase.to_owned(), table.to_owned())).into(),
    };
    history::write(&show.path("setup.jsonl"), &[setup])?;
    history::write(&show.path("faults.jsonl"), &show.faults)?;
    history::write(&show.path("lives.jsonl"), &show.lives)?;
    let odd_ends = std::mem::take(&mut show.odd_ends);
    stage.dump(&folder)?;
    tell(&judge(&History::read(&folder)?), &odd_ends, &folder)
}

/// A worker with a proxy before the server; the last one has the pooler behind it.
fn worker(index: u32, of: u32, stage: &Stage) -> Result<Worker, Failure> {
    let at = usize::try_from(index).unwrap_or_default();
    let Stage::Postgres(postgres) = stage else { return Ok(Worker::new(at, stage.url(), None)) };
    let pooled = (index + 1 == of).then(|| postgres.pooler("session")).flatten();
    let link = Link::open(pooled.unwrap_or_else(|| postgres.server.address()))?;
    let url = format!("postgres://postgres@127.0.0.1:{}/chaos?sslmode=disable", link.port());
    Ok(Worker::new(at, url, Some(link)))
}

fn build(dev: bool) -> Result<PathBuf, Failure> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--package", "supplier-setup", "--bin", "supplier-setup"]);
    let profile = if dev { "debug" } else { "release" };
    if !dev {
        build.arg("--release");
    }
    must(&mut build)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(profile).join("supplier-setup"))
}

/// The plan and its step.
fn plan(folder: &Path) -> Result<PathBuf, Failure> {
    let (plan, step) = (folder.join("plan.toml"), folder.join("step.sh"));
    fs::write(&plan, include_str!("plan.toml")).map_err(Failure::path(&plan))?;
    fs::write(&step, include_str!("step.sh")).map_err(Failure::path(&step))?;
    fs::set_permissions(&step, fs::Permissions::from_mode(0o755)).map_err(Failure::path(&step))?;
    must(Command::new("bash").args(["-c", "[[ ${EPOCHREALTIME} ]]"]))?;
    Ok(plan)
}

/// Prints what came of it.
fn tell(judgement: &Judgement, odd_ends: &[String], folder: &Path) -> Result<ExitCode, Failure> {
    let Judgement { findings, figures } = judgement;
    let faults = History::read(folder)?.faults;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in &faults {
        *kinds.entry(&fault.kind).or_default() += 1;
    }
    println!("{:>6} faults", faults.len());
    for (kind, count) in kinds {
        println!("{count:>6}   {kind}");
    }
    println!("{:>6} runs completed", figures.completed);
    println!(
        "{:>6} claims, {} renewals, {} saves, {} steps",
        figures.claims, figures.renewals, figures.saves, figures.steps
    );
    println!("{:>6} acknowledged receipts, each looked for", figures.acknowledged);
    for (why, count) in &figures.blocked {
        println!("{count:>6} attempts blocked: {why}, each checked");
    }
    let takeovers = &figures.takeovers;
    println!(
        "{:>6} takeovers of lapsed leases; {} while a worker was well, at most {} ms late",
        takeovers.count,
        takeovers.bound,
        takeovers.longest_us / 1_000
    );
    for Finding { rule, what } in findings {
        println!("VIOLATION {rule}: {what}");
    }
    for end in odd_ends {
        println!("ODD END: {end}");
    }
    println!("{:>6} violations and untrue verdicts; everything is in {}", findings.len(), folder.display());
    let wrong = findings.len() + odd_ends.len();
    if wrong > 0 { Err(Failure::Findings(wrong)) } else { Ok(ExitCode::SUCCESS) }
}
