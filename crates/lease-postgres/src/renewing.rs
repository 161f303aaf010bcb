//! Renewals, and what goes with a lost lease.

use async_trait::async_trait;
use lease_core::{
    BlockedVerdict, Document, LeaseId, LostReason, RenewVerdict, Renewals, Standing, StoreError, Ttl,
};
use uuid::Uuid;

use crate::holder_row::{HolderAnswer, HolderRow, Judged, Word, out_of_place};
use crate::row::row;
use crate::sql;
use crate::store::PgStore;
use lease_core::stored::{BadValue, invalid, present};

row! {
    /// Columns of `mark_blocked`.
    BlockedRow {
        verdict: Option<String>,
        outcome: Option<String>,
    }
}

#[async_trait]
impl Renewals for PgStore {
    async fn renew(&self, lease: &LeaseId, ttl: Ttl) -> Result<RenewVerdict, StoreError> {
        let ask = sqlx::query(sql::RENEW)
            .bind(lease.run.as_uuid())
            .bind(lease.owner.as_str())
            .bind(lease.fence.to_column())
            .bind(ttl.as_millis());
        let row: HolderRow = self.connections.one(ask).await?;
        Ok(renewed(row.try_into()?, lease)?)
    }

    async fn renew_many(&self, leases: &[LeaseId], ttl: Ttl) -> Result<Vec<RenewVerdict>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let runs: Vec<Uuid> = leases.iter().map(|lease| lease.run.as_uuid()).collect();
        let owners: Vec<String> = leases.iter().map(|lease| lease.owner.as_str().to_owned()).collect();
        let fences: Vec<i64> = leases.iter().map(|lease| lease.fence.to_column()).collect();
        let ask = sqlx::query(sql::RENEW_MANY).bind(runs).bind(owners).bind(fences).bind(ttl.as_millis());
        let rows: Vec<HolderRow> = self.connections.all(ask).await?;
        if rows.len() != leases.len() {
            return Err(BadValue::Contradiction("as many answers as leases").into());
        }
        let verdicts = rows.into_iter().zip(leases).map(|(row, lease)| {
            let verdict = HolderAnswer::try_from(row).and_then(|answer| renewed(answer, lease));
            // One row that cannot be read costs the others nothing: asked for alone, it says why.
            verdict.unwrap_or(RenewVerdict::NotJudged)
        });
        Ok(verdicts.collect())
    }

    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError> {
        let row: HolderRow =
            self.connections.one(sqlx::query(sql::STANDING).bind(lease.run.as_uuid())).await?;
        match row.try_into()? {
            HolderAnswer::Gone => Ok(Standing::Lost(LostReason::Gone)),
            HolderAnswer::Judged(judged) => Ok(judged.standing(lease)),
            HolderAnswer::NotJudged => Err(BadValue::Answer(Some("not_judged".to_owned())).into()),
        }
    }

    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError> {
        let ask = sqlx::query(sql::MARK_BLOCKED)
            .bind(lease.run.as_uuid())
            .bind(lease.owner.as_str())
            .bind(lease.fence.to_column())
            .bind(reason.to_json());
        let BlockedRow { verdict, outcome } = self.connections.one(ask).await?;
        match verdict.as_deref() {
            Some("recorded") => Ok(BlockedVerdict::Recorded),
            Some("gone") => Ok(BlockedVerdict::Gone),
            Some("ended") => {
                let outcome = present("outcome", outcome)?.parse().map_err(invalid("outcome"))?;
                Ok(BlockedVerdict::AlreadyEnded(outcome))
            }
            Some(_) | None => Err(BadValue::Answer(verdict).into()),
        }
    }
}

fn renewed(answer: HolderAnswer, lease: &LeaseId) -> Result<RenewVerdict, BadValue> {
    match answer {
        HolderAnswer::Gone => Ok(RenewVerdict::Refused(LostReason::Gone)),
        HolderAnswer::NotJudged => Ok(RenewVerdict::NotJudged),
        HolderAnswer::Judged(judged) => judged_renewal(&judged, lease),
    }
}

fn judged_renewal(judged: &Judged, lease: &LeaseId) -> Result<RenewVerdict, BadValue> {
    match judged.word {
        Word::Done => Ok(match judged.lapsed_meanwhile() {
            Some(why) => RenewVerdict::Refused(why),
            None => RenewVerdict::Renewed { yield_asked: judged.paused },
        }),
        Word::Lost => Ok(RenewVerdict::Refused(judged.why(lease)?)),
        other @ (Word::Already | Word::ReceiptConflict | Word::PhaseConflict | Word::Seen) => {
            Err(out_of_place(other))
        }
    }
}
