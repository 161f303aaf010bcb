//! A request to a store, and its answer, as values: drawn once, sent to any store, kept in a history.

use lease_core::{
    Action, BlockedVerdict, Claim, ClaimNext, ClaimVerdict, Claimed, Document, Fail, FailVerdict, LeaseId,
    OperatorVerdict, PlanId, PlanVerdict, Release, ReleaseVerdict, RenewVerdict, RunId, Save, SaveVerdict,
    Standing, StoreError, Submit, SubmitVerdict, Ttl,
};

use crate::conformance::Store;
use crate::conformance::words::who;

/// What is asked of a store.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Submit(Submit),
    CheckPlan(PlanId),
    Claim(Claim),
    ClaimNext(ClaimNext),
    Renew(LeaseId, Ttl),
    RenewMany(Vec<LeaseId>, Ttl),
    Save(Save),
    Release(Release),
    Fail(Fail),
    Standing(LeaseId),
    MarkBlocked(LeaseId, Document),
    Act(RunId, Action),
}

/// What a store says to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Submit(SubmitVerdict),
    CheckPlan(PlanVerdict),
    Claim(ClaimVerdict),
    ClaimNext(Claimed),
    Renew(RenewVerdict),
    RenewMany(Vec<RenewVerdict>),
    Save(SaveVerdict),
    Release(ReleaseVerdict),
    Fail(FailVerdict),
    Standing(Standing),
    MarkBlocked(BlockedVerdict),
    Act(OperatorVerdict),
}

impl Request {
    /// Sends it.
    pub(super) async fn ask<S: Store + ?Sized>(&self, store: &S) -> Result<Answer, StoreError> {
        Ok(match self {
            Self::Submit(submit) => Answer::Submit(store.submit(submit).await?),
            Self::CheckPlan(plan) => Answer::CheckPlan(store.check_plan(plan).await?),
            Self::Claim(claim) => Answer::Claim(store.claim(claim).await?),
            Self::ClaimNext(claim) => Answer::ClaimNext(store.claim_next(claim).await?),
            Self::Renew(lease, ttl) => Answer::Renew(store.renew(lease, *ttl).await?),
            Self::RenewMany(leases, ttl) => Answer::RenewMany(store.renew_many(leases, *ttl).await?),
            Self::Save(save) => Answer::Save(without_words(store.save(save).await?)),
            Self::Release(release) => Answer::Release(store.release(release).await?),
            Self::Fail(fail) => Answer::Fail(store.fail(fail).await?),
            Self::Standing(lease) => Answer::Standing(store.standing(lease).await?),
            Self::MarkBlocked(lease, why) => Answer::MarkBlocked(store.mark_blocked(lease, why).await?),
            Self::Act(run, action) => Answer::Act(store.act(*run, action, &who()).await?),
        })
    }
}

/// The wording of a refused effect is each store's own.
fn without_words(verdict: SaveVerdict) -> SaveVerdict {
    match verdict {
        SaveVerdict::EffectRefused { message: _ } => SaveVerdict::EffectRefused { message: String::new() },
        SaveVerdict::Saved(_) | SaveVerdict::AlreadySaved(_) | SaveVerdict::Refused(_) => verdict,
    }
}

impl Answer {
    /// The leases that it grants.
    pub(super) fn granted(&self) -> Vec<LeaseId> {
        match self {
            Self::Claim(ClaimVerdict::Granted(grant)) => vec![grant.lease.clone()],
            Self::ClaimNext(claimed) => claimed.grants.iter().map(|grant| grant.lease.clone()).collect(),
            Self::Claim(
                ClaimVerdict::Busy { .. }
                | ClaimVerdict::NotDue { .. }
                | ClaimVerdict::Waiting { .. }
                | ClaimVerdict::Paused
                | ClaimVerdict::Finished(_)
                | ClaimVerdict::UnknownPlan(_)
                | ClaimVerdict::SetAside(_)
                | ClaimVerdict::Lapsed { .. }
                | ClaimVerdict::Gone,
            )
            | Self::Submit(_)
            | Self::CheckPlan(_)
            | Self::Renew(_)
            | Self::RenewMany(_)
            | Self::Save(_)
            | Self::Release(_)
            | Self::Fail(_)
            | Self::Standing(_)
            | Self::MarkBlocked(_)
            | Self::Act(_) => Vec::new(),
        }
    }
}
