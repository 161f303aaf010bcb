//! Claims, saves and ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    Claim, ClaimNext, ClaimVerdict, Claimed, Digest, Due, Fail, FailVerdict, LeaseEnd, LeaseStore,
    LostReason, Release, ReleaseVerdict, Save, SaveVerdict, StoreError, WorkSignal,
};
use uuid::Uuid;

use crate::claim_row::{self, ClaimRow, NextRow};
use crate::holder_row::{HolderAnswer, HolderRow, Word, out_of_place};
use crate::listening::Listening;
use crate::store::PgStore;
use crate::{saving, sql};
use lease_core::stored::BadValue;

/// The longest delay that is told apart from "never": a thousand years.
const LONGEST_DELAY: Duration = Duration::from_secs(1_000 * 366 * 24 * 60 * 60);

#[async_trait]
impl LeaseStore for PgStore {
    async fn claim(&self, claim: &Claim) -> Result<ClaimVerdict, StoreError> {
        let ask = sqlx::query(sql::CLAIM)
            .bind(claim.run.as_uuid())
            .bind(claim.owner.as_str())
            .bind(claim.ttl.as_millis())
            .bind(digests(&claim.plans))
            .bind(limit_column(claim.loss_limit));
        let row: ClaimRow = self.connections.one(ask).await?;
        Ok(row.verdict(claim.run, &claim.owner)?)
    }

    async fn claim_next(&self, claim: &ClaimNext) -> Result<Claimed, StoreError> {
        let owners: Vec<String> =
            claim.owners.iter().take(ClaimNext::LIMIT).map(|owner| owner.as_str().to_owned()).collect();
        if owners.is_empty() {
            return Ok(Claimed::default());
        }
        let except: Vec<Uuid> = claim.except.iter().map(|run| run.as_uuid()).collect();
        let ask = sqlx::query(sql::CLAIM_NEXT)
            .bind(owners)
            .bind(claim.ttl.as_millis())
            .bind(digests(&claim.plans))
            .bind(limit_column(claim.loss_limit))
            .bind(except);
        let rows: Vec<NextRow> = self.connections.all(ask).await?;
        let mut claimed = Claimed::default();
        for row in rows {
            let run = row.run;
            // One run that cannot be read must not cost the others their leases. Its own lease runs
            // out, and past the limit on losses it is set aside.
            if let Err(bad) = claim_row::take(&mut claimed, row) {
                let error: &dyn std::error::Error = &bad;
                tracing::error!(?run, error, "a run that was claimed cannot be read");
            }
        }
        Ok(claimed)
    }

    async fn save(&self, save: &Save) -> Result<SaveVerdict, StoreError> {
        if save.effects().is_empty() {
            saving::save_alone(&self.connections, save).await
        } else {
            saving::save_with_effects(&self.connections, &self.turns, &self.effects, save).await
        }
    }

    async fn release(&self, release: &Release) -> Result<ReleaseVerdict, StoreError> {
        let (how, delay, reason) = match &release.due {
            Due::Now => (LeaseEnd::Yielded, None, None),
            Due::Later { delay, failure } => {
                (LeaseEnd::Retrying, Some(micros(*delay)), Some(failure.to_document().to_json()))
            }
            Due::Approval => (LeaseEnd::Waiting, None, None),
        };
        let lease = &release.lease;
        let ask = sqlx::query(sql::RELEASE)
            .bind(lease.run.as_uuid())
            .bind(lease.owner.as_str())
            .bind(lease.fence.to_column())
            .bind(release.from.as_str())
            .bind(how.as_str())
            .bind(delay)
            .bind(reason);
        let row: HolderRow = self.connections.one(ask).await?;
        let judged = match row.try_into()? {
            HolderAnswer::Gone => return Ok(ReleaseVerdict::Refused(LostReason::Gone)),
            HolderAnswer::NotJudged => return Err(BadValue::Answer(Some("not_judged".to_owned())).into()),
            HolderAnswer::Judged(judged) => judged,
        };
        match judged.word {
            Word::Done => Ok(ReleaseVerdict::Released),
            Word::Already => Ok(ReleaseVerdict::AlreadyReleased),
            Word::PhaseConflict => Ok(ReleaseVerdict::Refused(judged.conflict(&release.from))),
            Word::Lost => Ok(ReleaseVerdict::Refused(judged.why(lease)?)),
            other @ (Word::ReceiptConflict | Word::Seen) => Err(out_of_place(other).into()),
        }
    }

    async fn fail(&self, fail: &Fail) -> Result<FailVerdict, StoreError> {
        let lease = &fail.lease;
        let ask = sqlx::query(sql::FAIL)
            .bind(lease.run.as_uuid())
            .bind(lease.owner.as_str())
            .bind(lease.fence.to_column())
            .bind(fail.from.as_str())
            .bind(fail.failure.to_document().to_json());
        let row: HolderRow = self.connections.one(ask).await?;
        let judged = match row.try_into()? {
            HolderAnswer::Gone => return Ok(FailVerdict::Refused(LostReason::Gone)),
            HolderAnswer::NotJudged => return Err(BadValue::Answer(Some("not_judged".to_owned())).into()),
            HolderAnswer::Judged(judged) => judged,
        };
        match judged.word {
            Word::Done => Ok(FailVerdict::Failed),
            Word::Already => Ok(FailVerdict::AlreadyFailed),
            Word::PhaseConflict => Ok(FailVerdict::Refused(judged.conflict(&fail.from))),
            Word::Lost => Ok(FailVerdict::Refused(judged.why(lease)?)),
            other @ (Word::ReceiptConflict | Word::Seen) => Err(out_of_place(other).into()),
        }
    }

    /// Each call gives a signal of its own, with a connection of its own that is opened at once and
    /// again whenever it breaks. `None` outside a tokio runtime.
    fn work_signal(&self) -> Option<Arc<dyn WorkSignal>> {
        let listening = Listening::start(self.connections.options())?;
        Some(Arc::new(listening))
    }
}

pub(crate) fn digests(plans: &[Digest]) -> Vec<String> {
    plans.iter().map(Digest::to_string).collect()
}

fn limit_column(limit: lease_core::LossLimit) -> i32 {
    i32::try_from(limit.get()).expect("a loss limit is at most i32::MAX")
}

fn micros(delay: Duration) -> i64 {
    i64::try_from(delay.min(LONGEST_DELAY).as_micros()).expect("a thousand years fit in 64 bits")
}
