//! Renewals, and what goes with a lost lease.
//!
//! Renewals have a connection of their own, on which a commit need not reach the disk: a power cut may
//! take a renewal back, and then the lease only runs out sooner.

use async_trait::async_trait;
use lease_core::{
    BlockedVerdict, Document, LeaseId, LostReason, RenewVerdict, Renewals, Standing, StoreError, Timestamp,
    Ttl, transition,
};
use sqlx::sqlite::SqliteConnection;

use crate::connections::Use;
use crate::row;
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
        let leases = leases.to_vec();
        let (renewed, end) = self
            .transaction(Use::Beat, move |connection| {
                Box::pin(async move {
                    let mut renewed = Vec::with_capacity(leases.len());
                    for lease in &leases {
                        renewed.push(renew(connection, lease, ttl).await?);
                    }
                    let changed = renewed.iter().any(|(_, expiry)| expiry.is_some());
                    Ok(if changed { Outcome::Commit(renewed) } else { Outcome::RollBack(renewed) })
                })
            })
            .await?;
        let verdicts = renewed.into_iter().map(|(verdict, expiry)| match expiry {
            // It ran out while it was written down.
            Some(expiry) if expiry <= end => {
                RenewVerdict::Refused(LostReason::Expired { late_by: Some(end.since(expiry)) })
            }
            Some(_) | None => verdict,
        });
        Ok(verdicts.collect())
    }

    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError> {
        let rows = self.rows(sqlx::query(sql::HOLD).bind(lease.run.to_string())).await?;
        let row = rows.first().ok_or(lease_core::stored::BadValue::Missing("now_us"))?;
        Ok(match row::hold(row)? {
            Some(held) => held.hold.standing(held.status, lease, row::now(row)?),
            None => Standing::Lost(LostReason::Gone),
        })
    }

    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError> {
        let (lease, reason) = (lease.clone(), reason.clone());
        Ok(self
            .transaction(Use::Write, move |connection| {
                Box::pin(async move {
                    let (run, fence) = (lease.run.to_string(), lease.fence.to_column());
                    let ask = sqlx::query(sql::ATTEMPT).bind(run.clone()).bind(fence);
                    let row = write::one(connection, ask).await?;
                    let (found, now) = (row::attempt(&row)?, row::now(&row)?);
                    let (verdict, changed) = transition::mark_blocked(found.as_ref(), &lease, &reason, now);
                    let Some(end) = changed.and_then(|attempt| attempt.end) else {
                        return Ok(Outcome::RollBack(verdict));
                    };
                    let ask = sqlx::query(sql::BLOCK_ATTEMPT)
                        .bind(run)
                        .bind(fence)
                        .bind(lease.owner.as_str().to_owned())
                        .bind(end.1.as_micros())
                        .bind(reason.to_json());
                    write::execute_one(connection, ask).await?;
                    Ok(Outcome::Commit(verdict))
                })
            })
            .await?
            .0)
    }
}

/// Renews one lease; with the new expiry, if it was.
async fn renew(
    connection: &mut SqliteConnection,
    lease: &LeaseId,
    ttl: Ttl,
) -> Result<(RenewVerdict, Option<Timestamp>), StoreError> {
    let run = lease.run.to_string();
    let row = write::one(connection, sqlx::query(sql::HOLD).bind(run.clone())).await?;
    let now = row::now(&row)?;
    let Some(held) = row::hold(&row)? else { return Ok((RenewVerdict::Refused(LostReason::Gone), None)) };
    if let Standing::Lost(why) = held.hold.standing(held.status, lease, now) {
        return Ok((RenewVerdict::Refused(why), None));
    }
    let expiry = now.plus(ttl.as_duration());
    let ask = sqlx::query(sql::RENEW)
        .bind(run)
        .bind(lease.owner.as_str().to_owned())
        .bind(lease.fence.to_column())
        .bind(now.as_micros())
        .bind(expiry.as_micros());
    write::execute_one(connection, ask).await?;
    Ok((RenewVerdict::Renewed { yield_asked: held.paused }, Some(expiry)))
}
