//! A worker: claims, runs steps under the heartbeat, saves, and reports what came of it.
//!
//! It is the driver of the rules crate on a clock of its own, with steps whose length and outcome are
//! drawn from the history's seed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use lease_core::{
    Claimed, Clock, Document, Due, Effect, EffectKind, Effects, Ended, Failure, FailureKind, Grant, Guarded,
    Job, Lease, LeaseId, LeaseSettings, LeaseStore, Loss, LossLimit, LostReason, Moment, Phase, PhaseName,
    Refused, Renewals, RunId, RunReader, Save, SaveEnd, SaveFate, WorkerName, give_back, give_up, save_phase,
    under_lease,
};
use lease_fake::{FakeClock, FakeStore};
use serde_json::json;

use crate::invariants as must;
use crate::world::{LOSS_LIMIT, POLL, plan, settings};

/// What a worker says became of a phase.
#[derive(Debug, Clone)]
pub(crate) enum Report {
    Saved(LeaseId, PhaseName),
    Lost(LeaseId, Loss),
}

/// What all workers of a history share.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) store: FakeStore,
    pub(crate) seed: u64,
    pub(crate) reports: Rc<RefCell<Vec<Report>>>,
    /// Leases that no worker uses any more.
    pub(crate) retired: Rc<RefCell<Vec<LeaseId>>>,
    /// From now on every step is short and fine.
    pub(crate) calm: Rc<RefCell<bool>>,
    /// Whether SELF-STOP can be asked for: the store's clock is never set.
    pub(crate) clock_moves_on: bool,
}

/// What a step comes to.
enum Outcome {
    Save { refused: bool },
    Retry,
    Fail,
    Approval,
}

/// Says that a lease is used no more, also when the worker is dropped in the middle.
struct InUse(LeaseId, Shop);

impl Drop for InUse {
    fn drop(&mut self) {
        self.1.retired.borrow_mut().push(self.0.clone());
    }
}

pub(crate) async fn work(shop: Shop, clock: FakeClock, name: WorkerName, life: u64) {
    for round in 0_u64.. {
        let owner = name.owner(u128::from(dice(shop.seed, &[life, round])));
        let claim = lease_core::ClaimNext {
            owners: vec![owner],
            ttl: settings().ttl(),
            plans: vec![plan().id.digest],
            loss_limit: LossLimit::new(LOSS_LIMIT).expect("above zero"),
            except: Vec::new(),
        };
        let sent_at = clock.now();
        let answer_by = sent_at.plus(settings().heartbeat());
        let claimed = within(&clock, answer_by, shop.store.claim_next(&claim)).await;
        let Some(Ok(Claimed { grants, .. })) = claimed else {
            clock.sleep_until(clock.now().plus(POLL)).await;
            continue;
        };
        if grants.is_empty() {
            clock.sleep_until(clock.now().plus(POLL)).await;
        }
        for grant in grants {
            let in_use = InUse(grant.lease.clone(), shop.clone());
            if let Err((lease, loss)) = go_through(&shop, &clock, grant, sent_at).await {
                shop.reports.borrow_mut().push(Report::Lost(lease.clone(), loss.clone()));
                let reason = loss.to_document();
                let blocked = shop.store.mark_blocked(&lease, &reason);
                let _ = within(&clock, clock.now().plus(POLL), blocked).await;
            }
            drop(in_use);
        }
    }
}

/// Saves one phase after the other, until the run or the lease is over.
async fn go_through(
    shop: &Shop,
    clock: &FakeClock,
    grant: Grant,
    sent_at: Moment,
) -> Result<(), (LeaseId, Loss)> {
    let id = grant.lease.clone();
    let (mut lease, job) = grant.accept(settings(), sent_at);
    let mut at = job.phase.clone();
    while let Some(next) = job.plan.phases.next_after(&at).cloned() {
        let lost = |refused, why| (id.clone(), Loss::before_save(refused, next.clone(), why));
        let step = step(shop, clock, &job, &id, &next);
        let (held, outcome, yields) = match under_lease(&shop.store, clock, lease, step).await {
            Guarded::Finished { lease, value, yield_asked } => (lease, value, yield_asked),
            Guarded::Lost(why) => return Err(lost(Refused::Renew, why)),
        };
        let Outcome::Save { refused } = outcome else {
            return end(shop, clock, held, at, &next, &outcome).await.map_err(|why| lost(Refused::Fail, why));
        };
        let save = save(&id, &at, &next, refused);
        lease = match save_phase(&shop.store, clock, held, &save).await {
            SaveEnd::Held { lease, yield_asked } => {
                shop.reports.borrow_mut().push(Report::Saved(id.clone(), next.clone()));
                if yields || yield_asked {
                    let ended = give_back(&shop.store, clock, lease, next.clone().into(), Due::Now).await;
                    return ended_well(ended).map_err(|why| lost(Refused::Release, why));
                }
                lease
            }
            SaveEnd::Completed => {
                shop.reports.borrow_mut().push(Report::Saved(id.clone(), next.clone()));
                return Ok(());
            }
            SaveEnd::EffectRefused { lease, .. } => {
                let ended = end(shop, clock, lease, at, &next, &Outcome::Retry).await;
                return ended.map_err(|why| lost(Refused::Release, why));
            }
            SaveEnd::Lost { why, save } => {
                if save == SaveFate::Saved {
                    shop.reports.borrow_mut().push(Report::Saved(id.clone(), next.clone()));
                }
                return Err((id, Loss { refused: Refused::Save, phase: next, save, why }));
            }
            SaveEnd::Error { error, .. } => panic!("no such fault is ordered: {error}"),
        };
        at = next.into();
    }
    Ok(())
}

/// A step: looks at the receipts so far, works for a while, and checks SELF-STOP whenever it runs.
async fn step(shop: &Shop, clock: &FakeClock, job: &Job, lease: &LeaseId, next: &PhaseName) -> Outcome {
    let phase = phase_number(next);
    let draw = |salt| dice(shop.seed, &[run_number(lease.run), lease.fence.get(), phase, salt]);
    let receipts = shop.store.receipts(lease.run);
    if let Some(Ok(receipts)) = within(clock, clock.now().plus(POLL), receipts).await {
        let saved = job.plan.phases.saved_count(&job.phase).unwrap_or_default();
        assert!(receipts.len() >= saved, "RESUME: {} receipts at {}", receipts.len(), job.phase);
    }
    let calm = *shop.calm.borrow();
    let length = match draw(1) % 8 {
        _ if calm => Duration::from_millis(300),
        0 => Duration::from_millis(draw(2) % 30_000),
        1 | 2 => Duration::from_millis(draw(2) % 8_000),
        _ => Duration::from_millis(draw(2) % 1_500),
    };
    let mut working = clock.sleep_until(clock.now().plus(length));
    poll_fn(|context| {
        if shop.clock_moves_on {
            let stored = shop.store.stored(lease.run).expect("runs stay");
            must::self_stop(lease, &stored, shop.store.clock().now());
        }
        working.as_mut().poll(context)
    })
    .await;
    match draw(3) % 16 {
        _ if calm => Outcome::Save { refused: false },
        0 => Outcome::Fail,
        1 => Outcome::Retry,
        2 => Outcome::Approval,
        3 => Outcome::Save { refused: true },
        _ => Outcome::Save { refused: false },
    }
}

fn save(lease: &LeaseId, from: &Phase, to: &PhaseName, refused: bool) -> Save {
    let kind = EffectKind::new(if refused { "refused" } else { "note" }).expect("a plain word");
    let body = Document::from_value(json!({ "fence": lease.fence.get() })).expect("a small object");
    let effects = Effects::new(vec![Effect { kind, body: body.clone() }]).expect("one effect");
    Save::new(lease, from.clone(), to.clone(), body, effects, settings().ttl())
}

async fn end(
    shop: &Shop,
    clock: &FakeClock,
    lease: Lease,
    at: Phase,
    next: &PhaseName,
    outcome: &Outcome,
) -> Result<(), LostReason> {
    let failure = Failure::new(next.clone(), FailureKind::STEP, "drawn so", 1);
    let ended = match outcome {
        Outcome::Fail => give_up(&shop.store, clock, lease, at, failure).await,
        Outcome::Approval => give_back(&shop.store, clock, lease, at, Due::Approval).await,
        Outcome::Retry | Outcome::Save { .. } => {
            let due = Due::Later { delay: Duration::from_secs(1), failure };
            give_back(&shop.store, clock, lease, at, due).await
        }
    };
    ended_well(ended)
}

fn ended_well(ended: Ended) -> Result<(), LostReason> {
    match ended {
        Ended::Done => Ok(()),
        Ended::Lost(why) => Err(why),
        Ended::Error(error) => panic!("no such fault is ordered: {error}"),
    }
}

/// The answer, or `None` once the clock stands at `instant`.
async fn within<F: Future>(clock: &FakeClock, instant: Moment, request: F) -> Option<F::Output> {
    let (mut request, mut alarm) = (pin!(request), clock.sleep_until(instant));
    poll_fn(|context| {
        if let Poll::Ready(answer) = request.as_mut().poll(context) {
            return Poll::Ready(Some(answer));
        }
        alarm.as_mut().poll(context).map(|()| None)
    })
    .await
}

/// A number drawn from a seed and a place: the same place always draws the same.
fn dice(seed: u64, place: &[u64]) -> u64 {
    place.iter().fold(seed, |state, part| {
        let mut mixed = state.wrapping_add(*part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

fn run_number(run: RunId) -> u64 {
    u64::try_from(run.as_uuid().as_u128()).expect("small ids")
}

fn phase_number(phase: &PhaseName) -> u64 {
    phase.as_str().bytes().map(u64::from).sum()
}

/// The leases that were ever used and are no more, without repetition.
pub(crate) fn retired(shop: &Shop) -> Vec<LeaseId> {
    let mut seen = BTreeSet::new();
    let retired = shop.retired.borrow();
    retired.iter().filter(|lease| seen.insert((lease.run, lease.fence))).cloned().collect()
}

/// The settings are checked once, here.
pub(crate) fn check(settings: &LeaseSettings) {
    assert!(settings.trusted() < settings.ttl().as_duration());
}
