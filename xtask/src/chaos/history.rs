//! What was seen of a chaos run, as JSON lines in a folder: enough to judge it, also later.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::chore::Failure;

/// Microseconds: of time, or since 1970 by the clock that is named beside it.
pub(super) type Micros = i64;

/// How the run was set up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) ttl_us: Micros,
    pub(super) poll_us: Micros,
    pub(super) loss_limit: i64,
    pub(super) workers: usize,
    /// Whether the trail names transactions.
    pub(super) names_transactions: bool,
    /// The phases whose save writes a row, with the table.
    pub(super) effects: BTreeMap<String, String>,
}

/// One change of a table, with the server's clock.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Change {
    pub(super) at_us: Micros,
    #[serde(default)]
    pub(super) xid: Option<String>,
    /// The table; `mark` for a step of the server's clock.
    pub(super) tbl: String,
    pub(super) old: Option<Value>,
    pub(super) new: Option<Value>,
}

/// A run's row.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct RunRow {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) phase: String,
    pub(super) fence: i64,
    pub(super) owner: Option<String>,
    pub(super) lease_expires_us: Option<Micros>,
    pub(super) lease_ended: Option<String>,
    pub(super) losses: i64,
    pub(super) phases: Vec<String>,
}

/// A receipt's row.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ReceiptRow {
    pub(super) run_id: String,
    pub(super) phase: String,
    pub(super) fence: i64,
    pub(super) saved_us: Micros,
}

/// An attempt's row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct AttemptRow {
    pub(super) run_id: String,
    pub(super) fence: i64,
    pub(super) owner: String,
    pub(super) from_phase: String,
    pub(super) outcome: Option<String>,
    pub(super) reason: Option<Value>,
}

/// A row that a save carried.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct EffectRow {
    pub(super) run_id: String,
    pub(super) fence: i64,
}

/// A line of a worker's event stream, with the machine's clock.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) worker: usize,
    pub(super) at_us: Micros,
    pub(super) event: String,
    pub(super) run: String,
    pub(super) fence: Option<i64>,
    pub(super) phase: Option<String>,
    pub(super) outcome: Option<String>,
    pub(super) reason: Option<Value>,
}

#[derive(Deserialize)]
struct EventLine {
    event: String,
    at: String,
    run: String,
    fence: Option<i64>,
    phase: Option<String>,
    outcome: Option<String>,
    reason: Option<Value>,
}

/// What a step wrote down outside the database, with the machine's clock.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct StepLine {
    /// `began`, `ended` or `again`.
    pub(super) what: String,
    pub(super) at_us: Micros,
    /// The worker's process.
    pub(super) pid: u32,
    pub(super) run: String,
    pub(super) phase: String,
    pub(super) fence: i64,
    /// The idempotency key.
    pub(super) key: String,
}

/// Something that was done to the workers, the network or the server, by the machine's clock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fault {
    pub(super) kind: String,
    /// The worker; none where all are concerned.
    pub(super) worker: Option<usize>,
    /// The worker's process then.
    pub(super) pid: Option<u32>,
    pub(super) from_us: Micros,
    pub(super) to_us: Micros,
}

impl Fault {
    /// Whether it lasted at some time between these.
    pub(super) fn meets(&self, from_us: Micros, to_us: Micros) -> bool {
        self.from_us <= to_us && from_us <= self.to_us
    }
}

/// A worker's process, from its start to its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Life {
    pub(super) worker: usize,
    pub(super) pid: u32,
    pub(super) from_us: Micros,
    pub(super) to_us: Micros,
}

/// Everything that was seen.
#[derive(Debug, Clone)]
pub(super) struct History {
    pub(super) setup: Setup,
    pub(super) trail: Vec<Change>,
    pub(super) runs: Vec<RunRow>,
    pub(super) receipts: Vec<ReceiptRow>,
    pub(super) attempts: Vec<AttemptRow>,
    /// By table.
    pub(super) effects: BTreeMap<String, Vec<EffectRow>>,
    pub(super) told: Vec<Told>,
    pub(super) steps: Vec<StepLine>,
    pub(super) faults: Vec<Fault>,
    pub(super) lives: Vec<Life>,
}

impl History {
    /// Reads it from its folder.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let setup: Vec<Setup> = lines(&folder.join("setup.jsonl"))?;
        let setup = setup.into_iter().next().ok_or_else(|| unreadable(folder, "there is no setup"))?;
        let mut effects = BTreeMap::new();
        for table in setup.effects.values() {
            effects.insert(table.clone(), lines(&folder.join(format!("{table}.jsonl")))?);
        }
        Ok(Self {
            trail: lines(&folder.join("trail.jsonl"))?,
            runs: lines(&folder.join("runs.jsonl"))?,
            receipts: lines(&folder.join("receipts.jsonl"))?,
            attempts: lines(&folder.join("attempts.jsonl"))?,
            effects,
            told: told(&folder.join("events"))?,
            steps: lines(&folder.join("steps.jsonl"))?,
            faults: lines(&folder.join("faults.jsonl"))?,
            lives: lines(&folder.join("lives.jsonl"))?,
            setup,
        })
    }
}

/// Writes values as JSON lines.
pub(super) fn write<T: Serialize>(path: &Path, values: &[T]) -> Result<(), Failure> {
    let mut text = String::new();
    for value in values {
        text.push_str(&serde_json::to_string(value).map_err(|error| unreadable(path, error))?);
        text.push('\n');
    }
    fs::write(path, text).map_err(Failure::path(path))
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let text = fs::read_to_string(path).map_err(Failure::path(path))?;
    let line = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| unreadable(path, format!("line {}: {error}", at + 1)))
    };
    text.lines().enumerate().map(line).collect()
}

/// All event streams: files named `WORKER-…`. A last line that a kill broke off was not told to anybody.
fn told(folder: &Path) -> Result<Vec<Told>, Failure> {
    let mut told = Vec::new();
    for entry in fs::read_dir(folder).map_err(Failure::path(folder))? {
        let path = entry.map_err(Failure::path(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let worker = name.split('-').next().and_then(|number| number.parse().ok());
        let worker = worker.ok_or_else(|| unreadable(&path, "whose events are these?"))?;
        let text = fs::read_to_string(&path).map_err(Failure::path(&path))?;
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let line: EventLine = serde_json::from_str(line).map_err(|error| unreadable(&path, error))?;
            let at = OffsetDateTime::parse(&line.at, &Rfc3339).map_err(|error| unreadable(&path, error))?;
            told.push(Told {
                worker,
                at_us: i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX),
                event: line.event,
                run: line.run,
                fence: line.fence,
                phase: line.phase,
                outcome: line.outcome,
                reason: line.reason,
            });
        }
    }
    told.sort_by_key(|told| told.at_us);
    Ok(told)
}

fn unreadable(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::NotMeasured(format!("{}: {why}", path.display()))
}
