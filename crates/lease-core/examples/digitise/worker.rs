//! One claim of a book that is digitised in phases: scanned, recognised, bound.

use lease_core::*;

/// Goes on after the last saved phase. `None`: there was nothing to claim.
pub(crate) async fn digitise(
    (store, clock): (&dyn LeaseStore, &dyn Clock),
    (settings, claim): (LeaseSettings, &Claim),
    work: impl AsyncFn(&PhaseName, &Job) -> Result<Document, String>,
) -> Result<Option<AttemptOutcome>, StoreError> {
    let sent_at = clock.now();
    let (mut lease, job) = match store.claim(claim).await? {
        ClaimVerdict::Granted(grant) => grant.accept(settings, sent_at),
        ClaimVerdict::Waiting { .. } | ClaimVerdict::Paused | ClaimVerdict::UnknownPlan(_) => {
            return Ok(None);
        }
        ClaimVerdict::NotDue { .. } | ClaimVerdict::Lapsed { .. } | ClaimVerdict::Gone => return Ok(None),
        ClaimVerdict::Busy { .. } | ClaimVerdict::Finished(_) | ClaimVerdict::SetAside(_) => return Ok(None),
    };
    let (id, mut from) = (lease.id().clone(), job.phase.clone());
    let lost = async |refused, phase: &PhaseName, save, why| {
        let loss = Loss { refused, phase: phase.clone(), save, why }.to_document();
        store.mark_blocked(&id, &loss).await.map(|_| Some(AttemptOutcome::Blocked))
    };
    let (phase, held, end) = loop {
        let Some(phase) = job.plan.phases.next_after(&from) else { return Ok(None) };
        let (held, receipt) = match under_lease(store, clock, lease, work(phase, &job)).await {
            Guarded::Finished { lease, value: Ok(receipt), .. } => (lease, receipt),
            Guarded::Finished { lease, value: Err(message), .. } => break (phase, lease, Err(message)),
            Guarded::Lost(why) => return lost(Refused::Renew, phase, SaveFate::NotSaved, why).await,
        };
        let save = Save::new(&id, from.clone(), phase.clone(), receipt, Effects::none(), claim.ttl);
        lease = match save_phase(store, clock, held, &save).await {
            SaveEnd::Held { lease, yield_asked: false } => lease,
            SaveEnd::Held { lease, yield_asked: true } => break (phase, lease, Ok(())),
            SaveEnd::EffectRefused { lease, message, .. } => break (phase, lease, Err(message)),
            SaveEnd::Completed => return Ok(Some(AttemptOutcome::Completed)),
            SaveEnd::Lost { why, save } => return lost(Refused::Save, phase, save, why).await,
            SaveEnd::Error { error, .. } => return Err(error),
        };
        from = phase.clone().into();
    };
    let (refused, ended, outcome) = match end {
        Ok(()) => {
            let ended = give_back(store, clock, held, phase.clone().into(), Due::Now).await;
            (Refused::Release, ended, AttemptOutcome::Yielded)
        }
        Err(message) => {
            let failure = Failure::new(phase.clone(), FailureKind::STEP, &message, job.failures + 1);
            (Refused::Fail, give_up(store, clock, held, from, failure).await, AttemptOutcome::Failed)
        }
    };
    match ended {
        Ended::Done => Ok(Some(outcome)),
        Ended::Lost(why) => lost(refused, phase, SaveFate::NotSaved, why).await,
        Ended::Error(error) => Err(error),
    }
}
