//! Renewals of many leases, sent as one statement.
//!
//! Leases of one worker beat at the same instants (see `lease_core::Heartbeat`). Whatever asks for
//! a renewal while a statement is under way goes with the next one, so n leases cost one round trip
//! per interval and not n. A lease whose row somebody has locked is not judged there; it is asked for
//! alone then, and waits for its row without holding up the others.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    BlockedVerdict, Clock, Document, LeaseId, RenewVerdict, Renewals, Standing, StoreError, Ttl,
};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// The most leases one statement renews.
const BATCH_LIMIT: usize = 512;

/// One lease to renew, and where its verdict goes.
struct Ask {
    lease: LeaseId,
    ttl: Ttl,
    answer: oneshot::Sender<Result<RenewVerdict, StoreError>>,
}

/// A store whose single renewals are gathered and sent together.
pub struct BatchedRenewals {
    store: Arc<dyn Renewals>,
    asks: mpsc::UnboundedSender<Ask>,
    /// One lease at a time waits for its row, so that a connection is left for the others.
    alone: Semaphore,
}

impl BatchedRenewals {
    /// Gathers renewals for `store` on `lane`. A statement without an answer is given up after
    /// `patience`.
    #[must_use]
    pub fn start(lane: &Handle, store: Arc<dyn Renewals>, clock: Arc<dyn Clock>, patience: Duration) -> Self {
        let (asks, queue) = mpsc::unbounded_channel();
        lane.spawn(send_batches(queue, Arc::clone(&store), clock, patience));
        Self { store, asks, alone: Semaphore::new(1) }
    }
}

/// Sends what has been asked for, again and again, until nobody can ask any more.
async fn send_batches(
    mut queue: mpsc::UnboundedReceiver<Ask>,
    store: Arc<dyn Renewals>,
    clock: Arc<dyn Clock>,
    patience: Duration,
) {
    let mut asked = Vec::new();
    let mut silent = false;
    loop {
        // Those that wake at the same instant get to ask before the statement goes.
        tokio::task::yield_now().await;
        if queue.recv_many(&mut asked, BATCH_LIMIT).await == 0 {
            return;
        }
        // Who has given up in the meantime is not waited for.
        asked.retain(|ask| !ask.answer.is_closed());
        let Some(ttl) = asked.iter().map(|ask| ask.ttl).min() else { continue };
        let leases: Vec<LeaseId> = asked.iter().map(|ask| ask.lease.clone()).collect();
        let give_up = clock.now().plus(patience);
        let answer = tokio::select! {
            biased;
            answer = store.renew_many(&leases, ttl) => answer,
            () = clock.sleep_until(give_up) => Err(StoreError::Unknown("no answer in time".into())),
        };
        silent = tell_of_silence(silent, leases.len(), answer.as_ref().err());
        hand_out(asked.drain(..), answer);
    }
}

/// Says once when renewals stop being answered, and once when they are again. Whether they are not.
fn tell_of_silence(silent: bool, leases: usize, error: Option<&StoreError>) -> bool {
    match error {
        Some(error) if !silent => {
            let error: &dyn std::error::Error = error;
            tracing::warn!(leases, error, "cannot renew leases; trying again until their deadlines");
            true
        }
        None if silent => {
            tracing::info!(leases, "leases are renewed again");
            false
        }
        Some(_) | None => silent,
    }
}

/// Gives everyone their verdict. Whoever is not there any more has given up by itself.
fn hand_out(asked: impl ExactSizeIterator<Item = Ask>, answer: Result<Vec<RenewVerdict>, StoreError>) {
    match answer {
        Ok(verdicts) if verdicts.len() == asked.len() => {
            for (ask, verdict) in asked.zip(verdicts) {
                let _given_up = ask.answer.send(Ok(verdict));
            }
        }
        Ok(verdicts) => {
            let wrong = format!("{} verdicts for {} leases", verdicts.len(), asked.len());
            for ask in asked {
                let _given_up = ask.answer.send(Err(StoreError::Corrupt(wrong.clone().into())));
            }
        }
        Err(error) => {
            let shared = Arc::new(error);
            for ask in asked {
                let _given_up = ask.answer.send(Err(shared_error(&shared)));
            }
        }
    }
}

/// One error for many: what can be done about it stays, its cause is told as text.
fn shared_error(error: &StoreError) -> StoreError {
    let cause = std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
    if !error.may_try_again() {
        StoreError::Unexpected(cause.into())
    } else if error.may_have_landed() {
        StoreError::Unknown(cause.into())
    } else {
        StoreError::NotApplied(cause.into())
    }
}

#[async_trait]
impl Renewals for BatchedRenewals {
    async fn renew(&self, lease: &LeaseId, ttl: Ttl) -> Result<RenewVerdict, StoreError> {
        let (answer, verdict) = oneshot::channel();
        let ask = Ask { lease: lease.clone(), ttl, answer };
        if self.asks.send(ask).is_err() {
            return Err(StoreError::Unreachable("the heartbeat thread has ended".into()));
        }
        match verdict.await {
            Ok(Ok(RenewVerdict::NotJudged)) => match self.alone.try_acquire() {
                Ok(_turn) => self.store.renew(lease, ttl).await,
                Err(_) => Ok(RenewVerdict::NotJudged),
            },
            Ok(verdict) => verdict,
            Err(_) => Err(StoreError::Unknown("the heartbeat thread has ended".into())),
        }
    }

    async fn renew_many(&self, leases: &[LeaseId], ttl: Ttl) -> Result<Vec<RenewVerdict>, StoreError> {
        self.store.renew_many(leases, ttl).await
    }

    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError> {
        self.store.standing(lease).await
    }

    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError> {
        self.store.mark_blocked(lease, reason).await
    }
}
