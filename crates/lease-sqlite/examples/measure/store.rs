//! The operations through the store.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lease_core::{AfterSave, ClaimVerdict, LeaseStore as _, RenewVerdict, Renewals as _, SaveVerdict};

use crate::trouble::Trouble;
use crate::{Measured, Operation, checked, library, rows};

/// Does it until the time is up.
pub(crate) async fn repeat(
    file: PathBuf,
    operation: Operation,
    span: Duration,
    runs: u32,
) -> Result<Measured, Trouble> {
    let store = rows::open(&file).await?;
    let looking = library::open(&file, operation)?;
    let before = library::evidence(&looking, operation)?;
    let mut claim = rows::claim(rows::run(0));
    let mut lease = rows::held(0);
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < span {
        let Some(place) = rows::place(operation, done, runs) else { return Ok(None) };
        (claim.run, lease.run) = (rows::run(place.run), rows::run(place.run));
        match operation {
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
    let micros = began.elapsed().as_micros();
    checked(&looking, operation, before, done)?;
    Ok(Some((done, micros)))
}

fn insist(as_measured: bool, verdict: &impl std::fmt::Debug) -> Result<(), Trouble> {
    if as_measured { Ok(()) } else { Err(Trouble::Answer(format!("{verdict:?}"))) }
}
