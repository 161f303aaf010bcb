//! Claims, saves and ends.

use std::time::Duration;

use async_trait::async_trait;
use lease_core::stored::{BadValue, invalid};
use lease_core::transition::{self, Decision};
use lease_core::{
    AfterSave, Claim, ClaimNext, ClaimVerdict, Claimed, Digest, Fail, FailVerdict, Hold, LeaseStore,
    LostReason, Release, ReleaseVerdict, Run, RunId, Save, SaveVerdict, StoreError, Timestamp,
};

use crate::connections::Use;
use crate::effect::{EffectError, EffectWriter, SavedPhase};
use crate::error::{self, Class};
use crate::request::Ask;
use crate::row::{self, get};
use crate::sql;
use crate::store::SqliteStore;
use crate::transaction::{Outcome, Transaction};
use crate::write;

#[async_trait]
impl LeaseStore for SqliteStore {
    async fn claim(&self, claim: &Claim) -> Result<ClaimVerdict, StoreError> {
        let claim = claim.clone();
        let ((verdict, expiry), end) = self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let (found, now) = write::read(transaction, claim.run).await?;
                    let Some(run) = found else { return Ok(Outcome::RollBack((ClaimVerdict::Gone, None))) };
                    let decision = transition::claim(&run, &claim, now);
                    let expiry = decision.change.as_ref().and_then(|change| expiry(&change.run));
                    Ok(match decide(transaction, &run, decision, now) {
                        Outcome::Commit(verdict) => Outcome::Commit((verdict, expiry)),
                        Outcome::RollBack(verdict) => Outcome::RollBack((verdict, None)),
                    })
                })
            })
            .await?;
        // The lease ran out while it was written down.
        if let ClaimVerdict::Granted(grant) = &verdict
            && expiry.is_some_and(|expiry| expiry <= end)
        {
            return Ok(ClaimVerdict::Lapsed { fence: grant.lease.fence });
        }
        Ok(verdict)
    }

    async fn claim_next(&self, claim: &ClaimNext) -> Result<Claimed, StoreError> {
        let claim = claim.clone();
        let ttl = claim.ttl.as_duration();
        let ((mut claimed, now), end) = self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let (claimed, now) = claim_next(transaction, &claim).await?;
                    let quiet = claimed.grants.is_empty() && claimed.set_aside.is_empty();
                    let value = (claimed, now);
                    Ok(if quiet { Outcome::RollBack(value) } else { Outcome::Commit(value) })
                })
            })
            .await?;
        if now.is_some_and(|now| now.plus(ttl) <= end) {
            claimed.grants.clear();
        }
        Ok(claimed)
    }

    async fn save(&self, save: &Save) -> Result<SaveVerdict, StoreError> {
        let (save, writer) = (save.clone(), self.effects.clone());
        let ((verdict, expiry), end) = self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move { write_save(transaction, &*writer, &save).await })
            })
            .await?;
        let lapsed = expiry.filter(|expiry| *expiry <= end);
        Ok(match (verdict, lapsed) {
            (SaveVerdict::Saved(AfterSave::Held { .. }), Some(expiry)) => {
                let late_by = Some(end.since(expiry));
                SaveVerdict::Saved(AfterSave::Lost(LostReason::Expired { late_by }))
            }
            (verdict, _) => verdict,
        })
    }

    async fn release(&self, release: &Release) -> Result<ReleaseVerdict, StoreError> {
        let release = release.clone();
        Ok(self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let (found, now) = write::read(transaction, release.lease.run).await?;
                    match found {
                        Some(run) => {
                            Ok(decide(transaction, &run, transition::release(&run, &release, now), now))
                        }
                        None => Ok(Outcome::RollBack(ReleaseVerdict::Refused(LostReason::Gone))),
                    }
                })
            })
            .await?
            .0)
    }

    async fn fail(&self, fail: &Fail) -> Result<FailVerdict, StoreError> {
        let fail = fail.clone();
        Ok(self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let (found, now) = write::read(transaction, fail.lease.run).await?;
                    match found {
                        Some(run) => Ok(decide(transaction, &run, transition::fail(&run, &fail, now), now)),
                        None => Ok(Outcome::RollBack(FailVerdict::Refused(LostReason::Gone))),
                    }
                })
            })
            .await?
            .0)
    }
}

/// Writes what was decided; commits only where there is something to.
pub(crate) fn decide<V>(
    transaction: &mut Transaction,
    before: &Run,
    decision: Decision<V>,
    now: Timestamp,
) -> Outcome<V> {
    match decision.change {
        Some(change) => {
            write::change(transaction, before, *change, now);
            Outcome::Commit(decision.verdict)
        }
        None => Outcome::RollBack(decision.verdict),
    }
}

fn expiry(run: &Run) -> Option<Timestamp> {
    match &run.hold {
        Hold::Held { expires_at, .. } => Some(*expires_at),
        Hold::Never | Hold::Ended { .. } => None,
    }
}

/// Writes a save with its effects, or nothing of it.
async fn write_save(
    transaction: &mut Transaction,
    writer: &dyn EffectWriter,
    save: &Save,
) -> Result<Outcome<(SaveVerdict, Option<Timestamp>)>, StoreError> {
    let (found, now) = write::read(transaction, save.lease().run).await?;
    let Some(run) = found else {
        return Ok(Outcome::RollBack((SaveVerdict::Refused(LostReason::Gone), None)));
    };
    let decision = transition::save(&run, save, now);
    let Some(change) = decision.change else { return Ok(Outcome::RollBack((decision.verdict, None))) };
    let expiry = expiry(&change.run);
    write::change(transaction, &run, *change, now);
    if !save.effects().is_empty() {
        let saved = SavedPhase {
            run: run.id,
            key: run.key.clone(),
            phase: save.to().clone(),
            fence: save.lease().fence,
        };
        match writer.write(transaction.connection().await?, &saved, save.effects().as_slice()).await {
            Ok(()) => {}
            Err(EffectError::Refused { message }) => {
                return Ok(Outcome::RollBack((SaveVerdict::EffectRefused { message }, None)));
            }
            Err(EffectError::Database(failed)) => {
                let message = refused(&failed).ok_or_else(|| error::before_commit(failed))?;
                return Ok(Outcome::RollBack((SaveVerdict::EffectRefused { message }, None)));
            }
        }
    }
    Ok(Outcome::Commit((decision.verdict, expiry)))
}

/// What the database said, where it will say the same again.
fn refused(failed: &sqlx::Error) -> Option<String> {
    match error::class(failed) {
        Class::Busy | Class::Full | Class::InputOutput | Class::Gone | Class::Damaged | Class::ReadOnly => {
            None
        }
        Class::Constraint | Class::Mismatch | Class::Statement | Class::Unreadable | Class::Unexpected => {
            Some(
                failed
                    .as_database_error()
                    .map_or_else(|| failed.to_string(), |error| error.message().to_owned()),
            )
        }
    }
}

/// Claims the first of the queue, one for each owner, and the instant of the first claim. A run that is
/// set aside takes no owner's place.
async fn claim_next(
    transaction: &mut Transaction,
    claim: &ClaimNext,
) -> Result<(Claimed, Option<Timestamp>), StoreError> {
    let plans = json_array(claim.plans.iter().map(Digest::to_string));
    let except = json_array(claim.except.iter().map(RunId::to_string));
    let mut owners = claim.owners.iter().take(ClaimNext::LIMIT).peekable();
    let (mut claimed, mut first) = (Claimed::default(), None);
    loop {
        let left = i64::try_from(owners.len()).unwrap_or(i64::MAX);
        let ask = Ask::new(sql::CLAIMABLE).bind(plans.clone()).bind(except.clone()).bind(left);
        let rows = transaction.read(ask).await?;
        if rows.is_empty() || left == 0 {
            break;
        }
        for found in &rows {
            let run: RunId = get::<String>(found, "id")?.parse().map_err(invalid("id"))?;
            let Some(owner) = owners.peek() else { break };
            let one = Claim {
                run,
                owner: (*owner).clone(),
                ttl: claim.ttl,
                plans: claim.plans.clone(),
                loss_limit: claim.loss_limit,
            };
            let (found, now) = write::read(transaction, run).await?;
            let run = found.ok_or(BadValue::Missing("id"))?;
            let decision = transition::claim(&run, &one, now);
            let change = decision.change.ok_or(BadValue::Contradiction("what is claimable and its claim"))?;
            write::change(transaction, &run, *change, now);
            first = first.or(Some(now));
            match decision.verdict {
                ClaimVerdict::Granted(grant) => {
                    claimed.grants.push(*grant);
                    owners.next();
                }
                ClaimVerdict::SetAside(failure) => claimed.set_aside.push((run.id, run.key, failure)),
                ClaimVerdict::Busy { .. }
                | ClaimVerdict::NotDue { .. }
                | ClaimVerdict::Waiting { .. }
                | ClaimVerdict::Paused
                | ClaimVerdict::Finished(_)
                | ClaimVerdict::UnknownPlan(_)
                | ClaimVerdict::Lapsed { .. }
                | ClaimVerdict::Gone => {
                    return Err(BadValue::Contradiction("what is claimable and its claim").into());
                }
            }
        }
    }
    if owners.peek().is_some() {
        let row = write::one(transaction, Ask::new(sql::NEXT_LOOK).bind(plans).bind(except)).await?;
        let wait = |column| -> Result<Option<Duration>, BadValue> {
            let micros: Option<i64> = get(&row, column)?;
            Ok(micros.map(|micros| Duration::from_micros(u64::try_from(micros).unwrap_or(0))))
        };
        (claimed.next_due_in, claimed.next_lapse_in) = (wait("due_in_us")?, wait("lapse_in_us")?);
    }
    Ok((claimed, first))
}

pub(crate) fn json_array(items: impl Iterator<Item = String>) -> String {
    serde_json::Value::from(items.collect::<Vec<_>>()).to_string()
}

/// The run and the clock, for what is judged on the whole run.
pub(crate) async fn by_key(
    transaction: &mut Transaction,
    key: &str,
) -> Result<(Option<Run>, Timestamp), StoreError> {
    let row = write::one(transaction, Ask::new(sql::RUN_BY_KEY).bind(key)).await?;
    Ok((row::run(&row)?, row::now(&row)?))
}
