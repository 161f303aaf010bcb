//! The operations through the store.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use lease_core::{AfterSave, ClaimVerdict, LeaseStore as _, RenewVerdict, Renewals as _, SaveVerdict};
use lease_sqlite::SqliteStore;

use crate::trouble::Trouble;
use crate::{Measured, Operation, Turn, library, rows, together};

/// Does it until the time is up.
pub(crate) async fn repeat(file: &Path, turn: Turn) -> Result<Measured, Trouble> {
    let store = Arc::new(rows::open(file).await?);
    let looking = library::open(file, turn.operation)?;
    let before = library::evidence(&looking, turn.operation)?;
    // On threads of the runtime, as everything in a worker is.
    let all: Vec<_> =
        (0..turn.at_once).map(|which| tokio::spawn(one(Arc::clone(&store), turn, which))).collect();
    let mut done = Vec::new();
    for one in all {
        done.push(one.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())));
    }
    together(done, &looking, turn, before)
}

async fn one(store: Arc<SqliteStore>, turn: Turn, which: u32) -> Result<Measured, Trouble> {
    let mut claim = rows::claim(rows::run(0));
    let mut lease = rows::held(0);
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < turn.span {
        let Some(place) = rows::place(turn, which, done) else { return Ok(None) };
        (claim.run, lease.run) = (rows::run(place.run), rows::run(place.run));
        match turn.operation {
            Operation::Claim => {
                let verdict = store.claim(&claim).await?;
                let granted =
                    matches!(&verdict, ClaimVerdict::Granted(grant) if grant.lease.run == claim.run);
                insist(granted, &verdict)?;
            }
            Operation::Renew => {
                let verdict = store.renew(&lease, rows::ttl()).await?;
                insist(verdict == RenewVerdict::Renewed { yield_asked: false }, &verdict)?;
            }
            Operation::Save => {
                let verdict = store.save(&rows::save(&lease, place.phase)).await?;
                insist(verdict == SaveVerdict::Saved(AfterSave::Held { yield_asked: false }), &verdict)?;
            }
        }
        done += 1;
    }
    Ok(Some((done, began.elapsed().as_micros())))
}

fn insist(as_measured: bool, verdict: &impl std::fmt::Debug) -> Result<(), Trouble> {
    if as_measured { Ok(()) } else { Err(Trouble::Answer(format!("{verdict:?}"))) }
}
