//! Claims, saves and ends on the fake store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::transition::{self, Candidate};
use lease_core::{
    Claim, ClaimNext, ClaimVerdict, Claimed, Fail, FailVerdict, Hold, LeaseStore, LostReason, Release,
    ReleaseVerdict, Run, RunId, Save, SaveVerdict, Status, StoreError, Timestamp, WorkSignal,
};

use super::FakeStore;
use super::tables::{EffectRow, Tables};
use crate::journal::{Exchange, Operation};

#[async_trait]
impl LeaseStore for FakeStore {
    async fn claim(&self, claim: &Claim) -> Result<ClaimVerdict, StoreError> {
        let claim = claim.clone();
        self.request(Operation::Claim, Some(claim.run), move |tables, now| {
            let verdict = match tables.rows.get_mut(&claim.run) {
                Some(row) => row.write(transition::claim(&row.run, &claim, now), now)?,
                None => ClaimVerdict::Gone,
            };
            Ok((verdict.clone(), Exchange::Claim(claim, verdict)))
        })
        .await
    }

    async fn claim_next(&self, claim: &ClaimNext) -> Result<Claimed, StoreError> {
        let claim = claim.clone();
        self.request(Operation::ClaimNext, None, move |tables, now| {
            let claimed = claim_next(tables, &claim, now)?;
            Ok((claimed.clone(), Exchange::ClaimNext(claim, claimed)))
        })
        .await
    }

    async fn save(&self, save: &Save) -> Result<SaveVerdict, StoreError> {
        let save = save.clone();
        self.request(Operation::Save, Some(save.lease().run), move |tables, now| {
            let verdict = write_save(tables, &save, now)?;
            Ok((verdict.clone(), Exchange::Save(save, verdict)))
        })
        .await
    }

    async fn release(&self, release: &Release) -> Result<ReleaseVerdict, StoreError> {
        let release = release.clone();
        self.request(Operation::Release, Some(release.lease.run), move |tables, now| {
            let verdict = match tables.rows.get_mut(&release.lease.run) {
                Some(row) => row.write(transition::release(&row.run, &release, now), now)?,
                None => ReleaseVerdict::Refused(LostReason::Gone),
            };
            Ok((verdict.clone(), Exchange::Release(release, verdict)))
        })
        .await
    }

    async fn fail(&self, fail: &Fail) -> Result<FailVerdict, StoreError> {
        let fail = fail.clone();
        self.request(Operation::Fail, Some(fail.lease.run), move |tables, now| {
            let verdict = match tables.rows.get_mut(&fail.lease.run) {
                Some(row) => row.write(transition::fail(&row.run, &fail, now), now)?,
                None => FailVerdict::Refused(LostReason::Gone),
            };
            Ok((verdict.clone(), Exchange::Fail(fail, verdict)))
        })
        .await
    }

    fn work_signal(&self) -> Option<Arc<dyn WorkSignal>> {
        Some(Arc::new(self.bell.listener()))
    }
}

/// Writes a save with its effects, or nothing of it.
fn write_save(tables: &mut Tables, save: &Save, now: Timestamp) -> Result<SaveVerdict, StoreError> {
    let lease = save.lease();
    let Some(row) = tables.rows.get_mut(&lease.run) else {
        return Ok(SaveVerdict::Refused(LostReason::Gone));
    };
    let decision = transition::save(&row.run, save, now);
    let lands = decision.change.is_some();
    let effects = save.effects().as_slice();
    let refused = effects.iter().find(|effect| tables.refused.contains(&effect.kind));
    if let Some(effect) = refused.filter(|_| lands) {
        let message = format!("effects of kind {} are refused here", effect.kind.as_str());
        return Ok(SaveVerdict::EffectRefused { message });
    }
    let verdict = row.write(decision, now)?;
    if lands {
        tables.effects.extend(effects.iter().map(|effect| EffectRow {
            kind: effect.kind.clone(),
            body: effect.body.clone(),
            run: lease.run,
            fence: lease.fence,
        }));
    }
    Ok(verdict)
}

/// Claims the first of the queue, one for each owner. A run that is set aside takes no owner's place.
fn claim_next(tables: &mut Tables, claim: &ClaimNext, now: Timestamp) -> Result<Claimed, StoreError> {
    let mut queue: Vec<(Candidate, RunId)> = (tables.rows.values())
        .filter(|row| !tables.is_locked(row.run.id) && !claim.except.contains(&row.run.id))
        .filter_map(|row| Some((transition::claimable(&row.run, &claim.plans, now)?, row.run.id)))
        .collect();
    queue.sort();
    let mut owners = claim.owners.iter().take(ClaimNext::LIMIT).peekable();
    let mut claimed = Claimed::default();
    for (_, run) in queue {
        let Some(owner) = owners.peek() else { break };
        let Some(row) = tables.rows.get_mut(&run) else { continue };
        let one = Claim {
            run,
            owner: (*owner).clone(),
            ttl: claim.ttl,
            plans: claim.plans.clone(),
            loss_limit: claim.loss_limit,
        };
        match row.write(transition::claim(&row.run, &one, now), now)? {
            ClaimVerdict::Granted(grant) => {
                claimed.grants.push(*grant);
                owners.next();
            }
            ClaimVerdict::SetAside(failure) => {
                claimed.set_aside.push((run, row.run.key.clone(), failure));
            }
            ClaimVerdict::Busy { .. }
            | ClaimVerdict::NotDue { .. }
            | ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::Finished(_)
            | ClaimVerdict::UnknownPlan(_)
            | ClaimVerdict::Lapsed { .. }
            | ClaimVerdict::Gone => {}
        }
    }
    if owners.peek().is_some() {
        let runs = || {
            let known = |run: &&Run| claim.plans.contains(&run.plan.id.digest);
            tables.rows.values().map(|row| &row.run).filter(known).filter(|run| !run.paused)
        };
        let passed_over = |run: &Run| !claim.except.contains(&run.id);
        let still = |wait: &Duration, run: &Run| !wait.is_zero() || passed_over(run);
        let waits = |until: fn(&Run, Timestamp) -> Option<Duration>| {
            runs().filter_map(|run| until(run, now).filter(|wait| still(wait, run))).min()
        };
        claimed.next_due_in = waits(due_in);
        claimed.next_lapse_in = waits(lapse_in);
    }
    Ok(claimed)
}

/// Until a free run falls due; zero for one that is due and was passed over.
fn due_in(run: &Run, now: Timestamp) -> Option<Duration> {
    let free = run.status == Status::Open && !matches!(run.hold, Hold::Held { .. });
    free.then(|| run.due_at.since(now))
}

/// Until a run's lease runs out; zero for one that has run out and was passed over.
fn lapse_in(run: &Run, now: Timestamp) -> Option<Duration> {
    match &run.hold {
        Hold::Held { expires_at, .. } => Some(expires_at.since(now)),
        Hold::Ended { .. } | Hold::Never => None,
    }
}
