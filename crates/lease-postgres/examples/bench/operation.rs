//! The measured operations, as one client does them again and again.

use std::time::Instant;

use clap::ValueEnum;
use lease_core::{
    AfterSave, ClaimVerdict, FencingToken, LeaseStore as _, RenewVerdict, Renewals as _, SaveVerdict,
};
use lease_postgres::PgStore;

use crate::rows;
use crate::trouble::Trouble;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// Claims of runs that were released.
    Claim,
    /// Renewals of held leases.
    Renew,
    /// Saves of a phase that is not the last.
    Save,
}

/// The runs of one client, which no other uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane {
    /// The number of the first.
    pub(crate) first: u64,
    /// How many.
    pub(crate) runs: u64,
}

impl Operation {
    /// Does it until the time is up; returns how often it was done.
    pub(crate) async fn repeat(self, store: &PgStore, lane: Lane, until: Instant) -> Result<u64, Trouble> {
        match self {
            Self::Claim => claims(store, lane, until).await,
            Self::Renew => renewals(store, lane, until).await,
            Self::Save => saves(store, lane, until).await,
        }
    }
}

async fn claims(store: &PgStore, lane: Lane, until: Instant) -> Result<u64, Trouble> {
    let mut claim = rows::claim(rows::run(lane.first));
    let second = FencingToken::FIRST.next();
    for done in 0..lane.runs {
        if Instant::now() >= until {
            return Ok(done);
        }
        claim.run = rows::run(lane.first + done);
        let verdict = store.claim(&claim).await?;
        let granted = matches!(&verdict, ClaimVerdict::Granted(grant)
            if grant.lease.run == claim.run && Some(grant.lease.fence) == second);
        if !granted {
            return Err(Trouble::Answer(format!("{verdict:?}")));
        }
    }
    Err(Trouble::RanOut(lane.runs))
}

async fn renewals(store: &PgStore, lane: Lane, until: Instant) -> Result<u64, Trouble> {
    let mut lease = rows::held(lane.first);
    let mut done = 0;
    while Instant::now() < until {
        lease.run = rows::run(lane.first + done % lane.runs);
        let verdict = store.renew(&lease, rows::ttl()).await?;
        if verdict != (RenewVerdict::Renewed { yield_asked: false }) {
            return Err(Trouble::Answer(format!("{verdict:?}")));
        }
        done += 1;
    }
    Ok(done)
}

async fn saves(store: &PgStore, lane: Lane, until: Instant) -> Result<u64, Trouble> {
    let mut done = 0;
    for run in lane.first..lane.first + lane.runs {
        let lease = rows::held(run);
        for from in 1..=rows::SAVES_PER_RUN {
            if Instant::now() >= until {
                return Ok(done);
            }
            let verdict = store.save(&rows::save(&lease, from)).await?;
            if verdict != SaveVerdict::Saved(AfterSave::Held { yield_asked: false }) {
                return Err(Trouble::Answer(format!("{verdict:?}")));
            }
            done += 1;
        }
    }
    Err(Trouble::RanOut(done))
}
