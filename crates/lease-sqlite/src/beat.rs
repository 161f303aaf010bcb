//! Renewals, and what goes with a lost lease.
//!
//! Renewals have a connection of their own, on which a commit need not reach the disk: a power cut may
//! take a renewal back, and then the lease only runs out sooner.

use std::collections::BTreeMap;

use async_trait::async_trait;
use lease_core::stored::{BadValue, invalid, present};
use lease_core::{
    BlockedVerdict, Document, LeaseId, LostReason, RenewVerdict, Renewals, RunId, Standing, StoreError,
    Timestamp, Ttl, transition,
};
use serde_json::json;
use sqlx::sqlite::SqliteRow;

use crate::connections::Use;
use crate::request::Ask;
use crate::row::{self, HoldRow};
use crate::sql;
use crate::store::SqliteStore;
use crate::transaction::Outcome;
use crate::write;

#[async_trait]
impl Renewals for SqliteStore {
    async fn renew(&self, lease: &LeaseId, ttl: Ttl) -> Result<RenewVerdict, StoreError> {
        let verdicts = self.renew_many(std::slice::from_ref(lease), ttl).await?;
        Ok(verdicts.into_iter().next().expect("one lease, one verdict"))
    }

    async fn renew_many(&self, leases: &[LeaseId], ttl: Ttl) -> Result<Vec<RenewVerdict>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let (listed, ttl_us) = (list(leases), ttl.as_millis() * 1_000);
        // Nothing is decided between reading, writing and the commit, so they go to SQLite together.
        let asks =
            vec![Ask::new(sql::HOLD).bind(listed.clone()), Ask::new(sql::RENEW).bind(listed).bind(ttl_us)];
        let (answers, end) = self.at_once(Use::Beat, asks).await?;
        let [found, renewed] = answers.as_slice() else {
            return Err(BadValue::Contradiction("the statements and their answers").into());
        };
        if found.rows.len() != leases.len() {
            return Err(BadValue::Contradiction("the leases and the holds that were read").into());
        }
        let renewed = renewed.rows.iter().map(renewal).collect::<Result<BTreeMap<_, _>, _>>()?;
        let verdict = |(lease, found)| verdict(lease, found, renewed.get(&lease.run), end);
        Ok(leases.iter().zip(&found.rows).map(verdict).collect::<Result<_, _>>()?)
    }

    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError> {
        let rows = self.rows(Ask::new(sql::HOLD).bind(list(std::slice::from_ref(lease)))).await?;
        let row = rows.first().ok_or(lease_core::stored::BadValue::Missing("now_us"))?;
        Ok(match row::hold(row)? {
            Some(held) => held.hold.standing(held.status, lease, row::now(row)?),
            None => Standing::Lost(LostReason::Gone),
        })
    }

    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError> {
        let (lease, reason) = (lease.clone(), reason.clone());
        Ok(self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let (run, fence) = (lease.run.to_string(), lease.fence.to_column());
                    let ask = Ask::new(sql::ATTEMPT).bind(run.as_str()).bind(fence);
                    let row = write::one(transaction, ask).await?;
                    let (found, now) = (row::attempt(&row)?, row::now(&row)?);
                    let (verdict, changed) = transition::mark_blocked(found.as_ref(), &lease, &reason, now);
                    let Some(end) = changed.and_then(|attempt| attempt.end) else {
                        return Ok(Outcome::RollBack(verdict));
                    };
                    let ask = Ask::new(sql::BLOCK_ATTEMPT)
                        .bind(run)
                        .bind(fence)
                        .bind(lease.owner.as_str())
                        .bind(end.1.as_micros())
                        .bind(reason.to_json());
                    transaction.write_one(ask);
                    Ok(Outcome::Commit(verdict))
                })
            })
            .await?
            .0)
    }
}

/// Leases as the statements take them.
fn list(leases: &[LeaseId]) -> String {
    let lease =
        |lease: &LeaseId| json!([lease.run.to_string(), lease.owner.as_str(), lease.fence.to_column()]);
    leases.iter().map(lease).collect::<serde_json::Value>().to_string()
}

/// A renewed hold, with its run.
fn renewal(row: &SqliteRow) -> Result<(RunId, HoldRow), BadValue> {
    let run = row::get::<String>(row, "id")?.parse().map_err(invalid("id"))?;
    Ok((run, present("fence", row::hold(row)?)?))
}

/// What became of a lease: by its hold as it was renewed, where it was, and else by the one that was
/// found just before.
fn verdict(
    lease: &LeaseId,
    found: &SqliteRow,
    renewed: Option<&HoldRow>,
    end: Timestamp,
) -> Result<RenewVerdict, BadValue> {
    if let Some(renewed) = renewed {
        // At the end, since it may have run out while it was written down.
        return Ok(match renewed.hold.standing(renewed.status, lease, end) {
            Standing::Held => RenewVerdict::Renewed { yield_asked: renewed.paused },
            Standing::Lost(why) => RenewVerdict::Refused(why),
        });
    }
    let Some(held) = row::hold(found)? else { return Ok(RenewVerdict::Refused(LostReason::Gone)) };
    // One that ran out between the reading and the writing is told by the end.
    for now in [row::now(found)?, end] {
        if let Standing::Lost(why) = held.hold.standing(held.status, lease, now) {
            return Ok(RenewVerdict::Refused(why));
        }
    }
    Err(BadValue::Contradiction("a live lease and its renewal"))
}
