//! What a heartbeat asks of the fake store.

use async_trait::async_trait;
use lease_core::transition;
use lease_core::{
    BlockedVerdict, Document, LeaseId, LostReason, RenewVerdict, Renewals, Standing, StoreError, Timestamp,
    Ttl,
};

use super::FakeStore;
use super::tables::Tables;
use crate::journal::{Exchange, Operation};

#[async_trait]
impl Renewals for FakeStore {
    async fn renew(&self, lease: &LeaseId, ttl: Ttl) -> Result<RenewVerdict, StoreError> {
        let lease = lease.clone();
        self.request(Operation::Renew, Some(lease.run), move |tables, now| {
            let verdict = renew(tables, &lease, ttl, now)?;
            Ok((verdict.clone(), Exchange::Renew(lease, ttl, verdict)))
        })
        .await
    }

    async fn renew_many(&self, leases: &[LeaseId], ttl: Ttl) -> Result<Vec<RenewVerdict>, StoreError> {
        let leases = leases.to_vec();
        self.request(Operation::RenewMany, None, move |tables, now| {
            let verdicts: Result<Vec<_>, _> = leases
                .iter()
                .map(|lease| {
                    let locked = tables.is_locked(lease.run);
                    if locked { Ok(RenewVerdict::NotJudged) } else { renew(tables, lease, ttl, now) }
                })
                .collect();
            let verdicts = verdicts?;
            Ok((verdicts.clone(), Exchange::RenewMany(leases, ttl, verdicts)))
        })
        .await
    }

    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError> {
        let lease = lease.clone();
        self.request(Operation::Standing, None, move |tables, now| {
            let standing = match tables.rows.get(&lease.run) {
                Some(row) => row.run.standing(&lease, now),
                None => Standing::Lost(LostReason::Gone),
            };
            Ok((standing.clone(), Exchange::Standing(lease, standing)))
        })
        .await
    }

    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError> {
        let (lease, reason) = (lease.clone(), reason.clone());
        self.request(Operation::MarkBlocked, None, move |tables, now| {
            let attempts = tables.rows.get_mut(&lease.run).map(|row| &mut row.attempts);
            let attempt = attempts
                .and_then(|attempts| attempts.iter_mut().find(|attempt| attempt.fence == lease.fence));
            let (verdict, changed) = transition::mark_blocked(attempt.as_deref(), &lease, &reason, now);
            if let (Some(attempt), Some(changed)) = (attempt, changed) {
                *attempt = changed;
            }
            Ok((verdict.clone(), Exchange::MarkBlocked(lease, verdict)))
        })
        .await
    }
}

fn renew(tables: &mut Tables, lease: &LeaseId, ttl: Ttl, now: Timestamp) -> Result<RenewVerdict, StoreError> {
    match tables.rows.get_mut(&lease.run) {
        Some(row) => row.write(transition::renew(&row.run, lease, ttl, now), now),
        None => Ok(RenewVerdict::Refused(LostReason::Gone)),
    }
}
