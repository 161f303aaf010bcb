//! The rows that are measured on: one run made by the store itself, copied many times.

use std::path::Path;
use std::time::Duration;

use lease_core::{
    AfterSave, Claim, ClaimVerdict, Document, Due, Effects, FencingToken, LeaseId, LeaseStore as _,
    LossLimit, Operator as _, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName, PlanVersion, Priority,
    Release, ReleaseVerdict, RunId, RunKey, Save, SaveVerdict, Submit, SubmitVerdict, Ttl, WorkerName,
};
use lease_sqlite::{HISTORY, SqliteSettings, SqliteStore};
use serde_json::json;
use uuid::Uuid;

use crate::trouble::Trouble;
use crate::{Operation, Turn};

/// How many runs there are at first; more where a turn runs out of them.
pub(crate) const RUNS_AT_FIRST: u32 = 4_000;

/// How many saves a run has room for: the pattern has saved the first phase, and the last one would
/// complete it.
const SAVES_PER_RUN: u32 = PHASES as u32 - 2;

const PHASES: u16 = 64;

/// The run that the others are copies of.
const PATTERN: u32 = 900_000_000;

/// One row like the pattern's, for each number from 0 up: what differs, by column.
const COPIES: [(&str, &[(&str, &str)]); 3] = [
    ("lease_runs", &[("id", ID), ("key", "'bench-' || n")]),
    ("lease_receipts", &[("run_id", ID)]),
    ("lease_attempts", &[("run_id", ID)]),
];

const ID: &str = "printf('00000000-0000-4000-8000-%012d', n)";

/// Where an operation is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The run's number.
    pub(crate) run: u32,
    /// The phase that it stands at, counted from 1.
    pub(crate) phase: u32,
}

/// Where one of those that do it at once goes on after so many; `None` where it has no run left. Each has
/// runs of its own.
pub(crate) fn place(turn: Turn, which: u32, done: u32) -> Option<Place> {
    let own = turn.runs / turn.at_once;
    let (nth, phase) = match turn.operation {
        Operation::Claim => (done, 1),
        Operation::Renew => (done % own, 1),
        Operation::Save => (done / SAVES_PER_RUN, 1 + done % SAVES_PER_RUN),
    };
    (nth < own).then_some(Place { run: which * own + nth, phase })
}

/// A run by its number.
pub(crate) fn run(number: u32) -> RunId {
    RunId::new(Uuid::parse_str(&format!("00000000-0000-4000-8000-{number:012}")).expect("digits make an id"))
}

/// A phase of the plan, counted from 1.
pub(crate) fn phase(number: u32) -> PhaseName {
    PhaseName::new(format!("p{number}")).expect("a letter and digits")
}

/// Who holds the runs.
pub(crate) fn owner() -> OwnerId {
    WorkerName::new("bench").expect("a short plain name").owner(0x5eed_cafe_5eed_cafe_5eed_cafe_5eed_cafe)
}

/// Long enough that no lease lapses here.
pub(crate) fn ttl() -> Ttl {
    Ttl::new(Duration::from_secs(24 * 60 * 60)).expect("a day is in range")
}

/// The lease that a run is held with.
pub(crate) fn held(number: u32) -> LeaseId {
    LeaseId { run: run(number), owner: owner(), fence: FencingToken::FIRST }
}

/// What a step of the size of the built-in ones returns.
pub(crate) fn receipt() -> Document {
    let body =
        json!({ "setup": "S-1001", "checked": ["iban", "bic", "tax_id"], "at": "2026-01-01T00:00:00Z" });
    Document::from_value(body).expect("a small object")
}

/// A claim of a run.
pub(crate) fn claim(run: RunId) -> Claim {
    Claim { run, owner: owner(), ttl: ttl(), plans: vec![plan().id.digest], loss_limit: LossLimit::DEFAULT }
}

/// A save of the next phase, on a run that stands at this one; at none for 0.
pub(crate) fn save(lease: &LeaseId, at: u32) -> Save {
    let from = if at == 0 { Phase::Submitted } else { Phase::Saved(phase(at)) };
    Save::new(lease, from, phase(at + 1), receipt(), Effects::none(), ttl())
}

fn plan() -> Plan {
    let phases = (1..=u32::from(PHASES)).map(phase).collect();
    let phases = PhaseList::new(phases).expect("64 phases with 64 names");
    let version = PlanVersion::new(1).expect("one is a version");
    Plan::new(PlanName::new("bench").expect("a short plain name"), version, phases, "bench")
}

/// The store on a file.
pub(crate) async fn open(file: &Path) -> Result<SqliteStore, Trouble> {
    Ok(SqliteStore::open_or_create(file, &SqliteSettings::for_ttl(ttl())).await?)
}

/// Makes the file: the pattern by the store's own operations, and copies of it.
pub(crate) async fn fill(file: &Path, operation: Operation, runs: u32) -> Result<(), Trouble> {
    let store = open(file).await?;
    store.migrate(&[&HISTORY]).await?;
    let input = json!({
        "key": "S-1001", "legal_name": "Nordlicht Werkzeugbau GmbH", "country": "DE", "tax_id": "DE123456704",
        "iban": "DE89370400440532013000", "bic": "EXABDE22XXX", "currency": "EUR", "spending_limit": "250000.00",
    });
    let submit = Submit {
        id: run(PATTERN),
        key: RunKey::new("pattern").expect("a short key"),
        plan: plan(),
        priority: Priority::default(),
        input: Document::from_value(input).expect("a small object"),
    };
    let opened = store.submit(&submit).await?;
    let granted = store.claim(&claim(submit.id)).await?;
    if opened != SubmitVerdict::Opened || !matches!(granted, ClaimVerdict::Granted(_)) {
        return Err(Trouble::Answer(format!("{opened:?}, {granted:?}")));
    }
    let lease = held(PATTERN);
    let saved = store.save(&save(&lease, 0)).await?;
    if saved != SaveVerdict::Saved(AfterSave::Held { yield_asked: false }) {
        return Err(Trouble::Answer(format!("{saved:?}")));
    }
    if operation == Operation::Claim {
        let release = Release { lease, from: Phase::Saved(phase(1)), due: Due::Now };
        let verdict = store.release(&release).await?;
        if verdict != ReleaseVerdict::Released {
            return Err(Trouble::Answer(format!("{verdict:?}")));
        }
    }
    drop(store);
    copy(file, runs)
}

fn copy(file: &Path, runs: u32) -> Result<(), Trouble> {
    let connection = rusqlite::Connection::open(file)?;
    let pattern = run(PATTERN).to_string();
    for (table, differing) in COPIES {
        let columns = "SELECT name FROM pragma_table_info(?1)";
        let mut columns = connection.prepare(columns)?;
        let names = columns.query_map([table], |row| row.get::<_, String>(0))?;
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let values = names.iter().map(|name| {
            let other = differing.iter().find(|(column, _)| column == name);
            other.map_or(name.as_str(), |(_, value)| *value)
        });
        let (values, names) = (values.collect::<Vec<_>>().join(", "), names.join(", "));
        let key = differing[0].0;
        let ask = format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)
             INSERT INTO {table} ({names}) SELECT {values} FROM {table} pattern, numbers WHERE pattern.{key} = ?1"
        );
        connection.execute(&ask, rusqlite::params![pattern, runs])?;
    }
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}
