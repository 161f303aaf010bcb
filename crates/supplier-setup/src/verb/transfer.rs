//! `transfer`: moves all runs from a file to PostgreSQL, with their numbers.
//!
//! The file is sealed first, so that nothing can be claimed or saved there any more; then everything
//! goes over in one transaction and is read back inside it; then the seal says that the runs have moved.
//! Where that breaks off, the same transfer again finishes it or takes the seal off. Keeps FENCE-UP and
//! ONE-HOLDER across the two stores.

use std::collections::BTreeSet;
use std::error::Error as _;

use lease_core::{Hasher, RunFilter, RunRecord, StoreError, written_out};
use lease_postgres::{Arrived, Import, PgStore};
use lease_sqlite::{LiveLease, Seal, SqliteStore};
use serde::Serialize;
use serde_json::Value;
use supplier_runner::tables::{POSTGRES_IMPORTS, POSTGRES_TABLES, SQLITE_TABLES};
use uuid::Uuid;

use super::Context;
use crate::arguments::{Common, TransferArguments};
use crate::database::{Database, Schema};
use crate::database_url::DatabaseUrl;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::plain::count;
use crate::worker_settings::plain_connections;

/// How many ids are read at once.
const PAGE: u32 = 1_000;

/// The result.
#[derive(Debug, Serialize)]
struct TransferDocument {
    from: String,
    to: String,
    runs: u64,
    digest: String,
}

pub(super) async fn transfer(context: &Context, arguments: TransferArguments) -> Result<Exit, Error> {
    let TransferArguments { from, to } = arguments;
    let (source, target) = (open(context, &from).await?, open(context, &to).await?);
    let (Some(file), Some(server)) = (source.store().sqlite(), target.store().postgres()) else {
        return Err(Error::TransferDirection);
    };
    let sealing = file.seal(Uuid::new_v4(), &to.to_string()).await;
    let seal = sealing.map_err(|failed| match live_lease(&failed) {
        Some(held) => Error::HeldSource(held),
        None => Error::of_store("seal the file", failed),
    })?;
    if seal.moved {
        return Err(Error::MovedBefore { from: from.to_string(), to: seal.destination });
    }
    if seal.destination != to.to_string() {
        return Err(Error::OtherTransfer { from: from.to_string(), to: seal.destination });
    }
    // A transfer that broke off may have arrived all the same.
    let arrived = match server.find_transfer(seal.transfer).await.map_err(Error::TransferUnknown)? {
        Some(arrived) => arrived,
        None => match carry(file, server, &seal, (&from, &to)).await {
            Ok(arrived) => arrived,
            Err(failed) => return Err(undo(file, server, &seal, failed).await),
        },
    };
    file.seal_moved(&seal).await.map_err(Error::TransferUnknown)?;
    let Arrived { runs, digest } = arrived;
    if context.common.json {
        let (from, to) = (from.to_string(), to.to_string());
        context.output.json(&TransferDocument { from, to, runs, digest: digest.to_string() });
    } else {
        let runs = count(runs, "run", "runs");
        context.output.line(&format!("{runs} moved to {to}, read back and compared (digest {digest})"));
        context.output.line(&format!("{from} is sealed: it can be read, and not worked on any more"));
    }
    Ok(Exit::Done)
}

/// Who holds a run of the file, where that is why it cannot be sealed.
fn live_lease(failed: &StoreError) -> Option<String> {
    let live = failed.source()?.downcast_ref::<LiveLease>()?;
    Some(live.to_string())
}

async fn open(context: &Context, url: &DatabaseUrl) -> Result<Database, Error> {
    let common = Common { database_url: Some(url.clone()), ..context.common.clone() };
    Database::open(&common, &plain_connections(), Schema::MustFit).await
}

/// After a failure: takes the seal off if nothing arrived.
async fn undo(file: &SqliteStore, server: &PgStore, seal: &Seal, failed: Error) -> Error {
    match server.find_transfer(seal.transfer).await {
        Ok(None) => match file.unseal(seal.transfer).await {
            Ok(()) => failed,
            Err(error) => Error::TransferUnknown(error),
        },
        Ok(Some(_)) => Error::TransferUnknown(StoreError::Unknown("the runs arrived".into())),
        Err(error) => Error::TransferUnknown(error),
    }
}

/// Carries everything over, in one transaction, and compares it before that is committed.
async fn carry(
    file: &SqliteStore,
    server: &PgStore,
    seal: &Seal,
    (from, to): (&DatabaseUrl, &DatabaseUrl),
) -> Result<Arrived, Error> {
    let read = Error::store("read the runs");
    let write = Error::store("take in the runs");
    let mut import = server.begin_import().await.map_err(&write)?;
    let (mut runs, mut digest, mut after) = (0_u64, Hasher::new("transfer"), None);
    loop {
        let page = lease_core::RunReader::runs_after(file, after, PAGE).await.map_err(&read)?;
        let Some(last) = page.last().copied() else { break };
        after = Some(last);
        for run in page {
            let record = RunRecord::read(file, run).await.map_err(&read)?;
            let record = record.ok_or_else(|| Error::TransferDiffers(format!("run {run} is gone")))?;
            let key =
                RunFilter { status: None, last_outcome: None, key: Some(record.run.key.clone()), limit: 1 };
            let there = lease_core::RunReader::list(server, &key).await.map_err(&write)?;
            if !there.runs.is_empty() {
                return Err(Error::KeyTaken { at: to.to_string(), key: record.run.key.to_string() });
            }
            import.run(&record).await.map_err(&write)?;
            let (sent, back) = (record.to_value(), import.read_back(run).await.map_err(&write)?);
            if back.as_ref() != Some(&sent) {
                return Err(Error::TransferDiffers(format!("run {run}")));
            }
            digest = digest.field(sent.to_string().as_bytes());
            runs += 1;
        }
    }
    for ((table, target), statement) in SQLITE_TABLES.iter().zip(POSTGRES_TABLES).zip(POSTGRES_IMPORTS) {
        let rows = file.documents(table.read).await.map_err(&read)?;
        let rows: Vec<Value> =
            rows.into_iter().map(|row| written_out(Value::Object(row.into_fields()))).collect();
        carry_rows(&mut import, statement, target.read, &rows).await?;
        for row in rows {
            digest = digest.field(row.to_string().as_bytes());
        }
    }
    let arrived = Arrived { runs, digest: digest.finish() };
    import.commit(seal.transfer, &from.to_string(), &arrived).await.map_err(&write)?;
    Ok(arrived)
}

/// Carries a table's rows over. The target may have rows of its own; those sent have to be among them.
async fn carry_rows(
    import: &mut Import,
    statement: &'static str,
    query: &'static str,
    rows: &[Value],
) -> Result<(), Error> {
    let write = Error::store("take in the supplier's rows");
    for row in rows {
        import.row(statement, row).await.map_err(&write)?;
    }
    let there = import.rows(query).await.map_err(&write)?;
    let there: BTreeSet<String> = there.iter().map(Value::to_string).collect();
    match rows.iter().find(|row| !there.contains(&row.to_string())) {
        None => Ok(()),
        Some(row) => Err(Error::TransferDiffers(format!("the row of supplier {}", row["key"]))),
    }
}
