//! Runs a step under its lease's heartbeat, on whatever executor polls it.
//!
//! The order is fixed: renew, then work while renewing at every interval, then renew once more.
//! Keeps these:
//!
//! * a refused renewal wins over finished work, also in the same instant (the heartbeat is polled
//!   first, and once more after the work is done);
//! * SELF-STOP: at the local deadline the work is dropped before anything else happens;
//! * a renewal in flight when the work ends is waited for, so none is left behind when the caller
//!   saves.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use crate::clock::{Clock, Moment};
use crate::heartbeat::{Beat, Heartbeat};
use crate::lease::{Lease, LeaseId};
use crate::lost_reason::LostReason;
use crate::run::Standing;
use crate::settings::LeaseSettings;
use crate::store::Renewals;
use crate::verdict::RenewVerdict;

/// How work under a lease came out.
#[derive(Debug)]
#[must_use]
pub enum Guarded<T> {
    /// The work is done and the lease was confirmed after it was.
    Finished {
        /// The lease, still held.
        lease: Lease,
        /// What the work returned.
        value: T,
        /// The run was paused: stop before the next phase.
        yield_asked: bool,
    },
    /// The lease is lost. The work was dropped, or its result was.
    Lost(LostReason),
}

/// Runs `work` under the lease: see the module's head for the order.
///
/// `work` is not polled before the first renewal is confirmed. To keep heartbeats going while work
/// blocks its thread, poll this on a thread of its own and let `work` only wait for the rest.
///
/// # Cancel safety
/// Dropping the future drops the work and stops the renewals; the lease then runs out by itself. A
/// renewal in flight may still take effect.
pub async fn under_lease<W: Future>(
    store: &dyn Renewals,
    clock: &dyn Clock,
    lease: Lease,
    work: W,
) -> Guarded<W::Output> {
    let mut work = Box::pin(work);
    let mut beats = Beats::new(store, clock, lease);
    // Only this task reads and writes it. It is atomic so that the future can move between threads.
    let done = AtomicBool::new(false);
    let kept = match beats.renew_once().await {
        Err(why) => Err(why),
        Ok(()) => watch(&mut beats, work.as_mut(), &done).await,
    };
    // The work ends here, before the store is asked anything more.
    drop(work);
    match kept {
        Ok(value) => Guarded::Finished { lease: beats.lease, value, yield_asked: beats.yield_asked },
        Err(why) => Guarded::Lost(beats.true_reason(why).await),
    }
}

/// Polls the heartbeat and the work, the heartbeat first, until the work is done and confirmed or
/// the lease is lost.
async fn watch<W: Future>(
    beats: &mut Beats<'_>,
    mut work: Pin<&mut W>,
    done: &AtomicBool,
) -> Result<W::Output, LostReason> {
    let mut value = None;
    let mut beating = pin!(beats.until_confirmed_after(done));
    poll_fn(|context| {
        let mut kept = beating.as_mut().poll(context);
        if kept.is_pending()
            && !done.load(Ordering::Relaxed)
            && let Poll::Ready(output) = work.as_mut().poll(context)
        {
            value = Some(output);
            done.store(true, Ordering::Relaxed);
            kept = beating.as_mut().poll(context);
        }
        match kept {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(why)) => Poll::Ready(Err(why)),
            Poll::Ready(Ok(())) => {
                let output = value.take().expect("the heartbeat ends well only after the work is done");
                Poll::Ready(Ok(output))
            }
        }
    })
    .await
}

/// The heartbeat of one lease with what it needs to send renewals.
struct Beats<'a> {
    store: &'a dyn Renewals,
    clock: &'a dyn Clock,
    lease: Lease,
    heartbeat: Heartbeat,
    yield_asked: bool,
    /// What the store answered last, where that was an error that asking again does not help.
    trouble: Option<LostReason>,
}

impl<'a> Beats<'a> {
    fn new(store: &'a dyn Renewals, clock: &'a dyn Clock, lease: Lease) -> Self {
        let heartbeat = Heartbeat::new(*lease.settings(), lease.deadline(), clock.now());
        Self { store, clock, lease, heartbeat, yield_asked: false, trouble: None }
    }

    /// Renews at every interval until `done`, and then once more.
    async fn until_confirmed_after(&mut self, done: &AtomicBool) -> Result<(), LostReason> {
        while !done.load(Ordering::Relaxed) {
            match self.heartbeat.decide(self.clock.now()) {
                Beat::SleepUntil(instant) => until(done, self.clock.sleep_until(instant)).await,
                Beat::Renew { answer_by } => self.renew(answer_by).await.map(drop)?,
                Beat::Stop => return Err(self.given_up()),
            }
        }
        self.heartbeat.renew_at(self.clock.now());
        self.renew_once().await
    }

    /// Renews until one renewal is confirmed.
    async fn renew_once(&mut self) -> Result<(), LostReason> {
        loop {
            match self.heartbeat.decide(self.clock.now()) {
                Beat::SleepUntil(instant) => self.clock.sleep_until(instant).await,
                Beat::Renew { answer_by } => {
                    if self.renew(answer_by).await? {
                        return Ok(());
                    }
                }
                Beat::Stop => return Err(self.given_up()),
            }
        }
    }

    /// Sends one renewal; whether it was confirmed. An answer that comes at or after the local
    /// deadline is not trusted.
    async fn renew(&mut self, answer_by: Moment) -> Result<bool, LostReason> {
        let sent_at = self.clock.now();
        let ttl = self.lease.settings().ttl();
        let answer = within(self.clock, answer_by, self.store.renew(self.lease.id(), ttl)).await;
        let now = self.clock.now();
        self.trouble = match &answer {
            Some(Err(error)) if !error.may_try_again() => Some(LostReason::store_failed(error)),
            Some(Ok(_) | Err(_)) | None => None,
        };
        match answer {
            Some(Ok(RenewVerdict::Refused(why))) => Err(why),
            Some(Ok(RenewVerdict::Renewed { yield_asked })) if now < self.heartbeat.deadline() => {
                self.heartbeat.confirmed(sent_at);
                self.lease.confirm(sent_at);
                self.yield_asked = yield_asked;
                Ok(true)
            }
            Some(Ok(RenewVerdict::Renewed { .. } | RenewVerdict::NotJudged) | Err(_)) | None => {
                self.heartbeat.unanswered(now);
                Ok(false)
            }
        }
    }

    /// The reason at the local deadline.
    fn given_up(&mut self) -> LostReason {
        self.trouble.take().unwrap_or(LostReason::Unconfirmed)
    }

    /// After the work was ended for want of an answer: asks once more, to name the true reason.
    async fn true_reason(&self, why: LostReason) -> LostReason {
        if why.is_verdict() {
            return why;
        }
        why_lost(self.store, self.clock, self.lease.settings(), self.lease.id()).await.unwrap_or(why)
    }
}

/// Asks the store once why a lease that the worker has given up is lost; `None` where it does not
/// answer within an interval, or still holds the lease as live.
///
/// # Cancel safety
/// It changes nothing, so the future can be dropped at any time.
pub async fn why_lost(
    store: &dyn Renewals,
    clock: &dyn Clock,
    settings: &LeaseSettings,
    lease: &LeaseId,
) -> Option<LostReason> {
    let answer_by = clock.now().plus(settings.heartbeat());
    match within(clock, answer_by, store.standing(lease)).await {
        Some(Ok(Standing::Lost(why))) => Some(why),
        Some(Ok(Standing::Held) | Err(_)) | None => None,
    }
}

/// The answer of `request`, or `None` once the clock stands at `instant`.
pub(crate) async fn within<F: Future>(clock: &dyn Clock, instant: Moment, request: F) -> Option<F::Output> {
    let mut request = pin!(request);
    let mut alarm = clock.sleep_until(instant);
    poll_fn(|context| {
        if let Poll::Ready(answer) = request.as_mut().poll(context) {
            return Poll::Ready(Some(answer));
        }
        alarm.as_mut().poll(context).map(|()| None)
    })
    .await
}

/// Waits for `alarm`, or until `done` is set by whoever polls this.
async fn until(done: &AtomicBool, mut alarm: Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
    poll_fn(|context| {
        let is_done = done.load(Ordering::Relaxed);
        if is_done { Poll::Ready(()) } else { alarm.as_mut().poll(context) }
    })
    .await;
}
