//! The rows that are measured on: one run made by the store itself, copied many times.
//!
//! The sides, pgbench and this program, have rows of their own with the same content. A run's id
//! and key are made from its number.

use std::time::Duration;

use lease_core::{
    AfterSave, Claim, ClaimVerdict, Document, Due, Effects, FencingToken, LeaseId, LeaseStore as _,
    LossLimit, Operator as _, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName, PlanVersion, Priority,
    Release, ReleaseVerdict, RunId, RunKey, Save, SaveVerdict, Submit, SubmitVerdict, Ttl, WorkerName,
};
use lease_postgres::{HISTORY, PgSettings, PgStore};
use serde_json::json;
use sqlx::{Connection as _, PgConnection, Row as _};
use uuid::Uuid;

use crate::operation::Operation;
use crate::trouble::Trouble;

/// What every run's id begins with; its number follows, in decimal digits.
const ID_PREFIX: &str = "00000000-0000-4000-8000-";

/// The run that the others are copies of.
const PATTERN: u64 = 100_000_000_000;

/// The first runs of either side.
pub(crate) const FIRST: [u64; 2] = [200_000_000_000, 300_000_000_000];

/// How many saves a run has room for: the pattern has saved the first phase, and the last one would
/// complete it.
pub(crate) const SAVES_PER_RUN: u16 = PHASES - 2;

const PHASES: u16 = 64;

/// One row like the pattern's, of one table, for each number.
const COPY_RUNS: &str = "INSERT INTO lease.runs
    SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2 || n::text, 'key', 'bench-' || n::text))).*
    FROM lease.runs r, generate_series($3::bigint, $3::bigint + $4::bigint - 1) n WHERE r.id = $1";
const COPY_RECEIPTS: &str = "INSERT INTO lease.receipts
    SELECT (jsonb_populate_record(r, jsonb_build_object('run_id', $2 || n::text))).*
    FROM lease.receipts r, generate_series($3::bigint, $3::bigint + $4::bigint - 1) n WHERE r.run_id = $1";
const COPY_ATTEMPTS: &str = "INSERT INTO lease.attempts
    SELECT (jsonb_populate_record(a, jsonb_build_object('run_id', $2 || n::text))).*
    FROM lease.attempts a, generate_series($3::bigint, $3::bigint + $4::bigint - 1) n WHERE a.run_id = $1";

/// A run by its number.
pub(crate) fn run(number: u64) -> RunId {
    let id = format!("{ID_PREFIX}{number:012}");
    RunId::new(Uuid::parse_str(&id).expect("decimal digits are hexadecimal ones"))
}

/// The plan of all runs.
pub(crate) fn plan() -> Plan {
    let phases = PhaseList::new((1..=PHASES).map(phase).collect()).expect("64 phases with 64 names");
    let version = PlanVersion::new(1).expect("one is a version");
    Plan::new(PlanName::new("bench").expect("a short plain name"), version, phases, "bench")
}

/// A phase of it, counted from 1.
pub(crate) fn phase(number: u16) -> PhaseName {
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

/// A save of a phase on a run that stands at the one before.
pub(crate) fn save(lease: &LeaseId, from: u16) -> Save {
    let to = phase(from + 1);
    let from = if from == 0 { Phase::Submitted } else { Phase::Saved(phase(from)) };
    Save::new(lease, from, to, receipt(), Effects::none(), ttl())
}

/// The lease that every run is held with.
pub(crate) fn held(number: u64) -> LeaseId {
    LeaseId { run: run(number), owner: owner(), fence: FencingToken::FIRST }
}

/// Opens a run of the plan.
pub(crate) async fn open(store: &PgStore, number: u64) -> Result<RunId, Trouble> {
    let input = json!({
        "key": "S-1001", "legal_name": "Nordlicht Werkzeugbau GmbH", "country": "DE", "tax_id": "DE123456704",
        "iban": "DE89370400440532013000", "bic": "EXABDE22XXX", "currency": "EUR", "spending_limit": "250000.00",
        "email": "rechnung@nordlicht-werkzeugbau.example", "categories": ["tools", "machining"],
    });
    let submit = Submit {
        id: run(number),
        key: RunKey::new(format!("bench-{number}")).expect("a short key"),
        plan: plan(),
        priority: Priority::default(),
        input: Document::from_value(input).expect("a small object"),
    };
    let verdict = store.submit(&submit).await?;
    if verdict == SubmitVerdict::Opened {
        Ok(submit.id)
    } else {
        Err(Trouble::Answer(format!("{verdict:?}")))
    }
}

/// Claims a run that is free.
pub(crate) async fn hold(store: &PgStore, run: RunId) -> Result<LeaseId, Trouble> {
    let verdict = store.claim(&claim(run)).await?;
    let ClaimVerdict::Granted(grant) = verdict else { return Err(Trouble::Answer(format!("{verdict:?}"))) };
    Ok(grant.lease)
}

/// A store with so many connections.
pub(crate) async fn connect(url: &str, connections: u32) -> Result<PgStore, Trouble> {
    let usual = Ttl::new(Duration::from_secs(120)).expect("two minutes are in range");
    let settings = PgSettings {
        max_connections: connections,
        application_name: "bench".to_owned(),
        ..PgSettings::for_ttl(usual)
    };
    Ok(PgStore::connect(url, &settings).await?)
}

/// Empties the tables, which hold nothing but rows of this program, or makes them.
pub(crate) async fn clear(url: &str) -> Result<(PgStore, PgConnection), Trouble> {
    let store = connect(url, 1).await?;
    store.migrate(&[&HISTORY]).await?;
    let mut session = PgConnection::connect(url).await?;
    let others = "SELECT count(*) FROM lease.runs WHERE key NOT LIKE 'bench-%' OR plan <> 'bench'";
    let others: i64 = sqlx::query(others).fetch_one(&mut session).await?.try_get(0)?;
    if others > 0 {
        return Err(Trouble::OthersRuns(others));
    }
    let truncate = "TRUNCATE lease.runs, lease.receipts, lease.attempts, lease.actions";
    sqlx::raw_sql(truncate).execute(&mut session).await?;
    Ok((store, session))
}

/// Makes the rows and prints what they have in common.
pub(crate) async fn fill(url: &str, operation: Operation, runs: u32) -> Result<(), Trouble> {
    let (store, mut session) = clear(url).await?;
    let pattern = open(&store, PATTERN).await?;
    let lease = hold(&store, pattern).await?;
    match operation {
        Operation::Renew => {}
        Operation::Claim => {
            let release = Release { lease: lease.clone(), from: Phase::Submitted, due: Due::Now };
            let verdict = store.release(&release).await?;
            if verdict != ReleaseVerdict::Released {
                return Err(Trouble::Answer(format!("{verdict:?}")));
            }
        }
        Operation::Save => {
            let verdict = store.save(&save(&lease, 0)).await?;
            if verdict != SaveVerdict::Saved(AfterSave::Held { yield_asked: false }) {
                return Err(Trouble::Answer(format!("{verdict:?}")));
            }
        }
    }
    for first in FIRST {
        for copy in [COPY_RUNS, COPY_RECEIPTS, COPY_ATTEMPTS] {
            let ask = sqlx::query(copy).bind(pattern.as_uuid()).bind(ID_PREFIX);
            ask.bind(number_column(first)).bind(i64::from(runs)).execute(&mut session).await?;
        }
    }
    for settle in ["VACUUM (ANALYZE) lease.runs, lease.receipts, lease.attempts", "CHECKPOINT"] {
        sqlx::raw_sql(settle).execute(&mut session).await?;
    }
    let values = [
        ("id_prefix", ID_PREFIX.to_owned()),
        ("first", FIRST[0].to_string()),
        ("owner", owner().as_str().to_owned()),
        ("fence", lease.fence.to_column().to_string()),
        ("plans", format!("{{{}}}", plan().id.digest)),
        ("loss_limit", LossLimit::DEFAULT.get().to_string()),
        ("ttl", ttl().as_millis().to_string()),
        ("saves_per_run", SAVES_PER_RUN.to_string()),
        ("digest", save(&lease, 1).digest().to_string()),
        ("receipt", receipt().to_json()),
    ];
    for (name, value) in values {
        println!("{name}={value}");
    }
    Ok(())
}

fn number_column(number: u64) -> i64 {
    i64::try_from(number).expect("twelve digits fit")
}
