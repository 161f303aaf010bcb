//! Faults that a test orders on the fake store: what can happen to a request on its way and back.

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;

use lease_core::{Clock, Moment, StoreError, Timestamp};

use crate::clock::FakeClock;
use crate::journal::Operation;
use crate::store_clock::StoreClock;

/// What happens to one request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// It cannot be sent: the store is unreachable. It never takes effect.
    Unreachable,
    /// The store says that it did not carry it out.
    NotApplied,
    /// The store refuses it in a way that asking again does not help. It never takes effect.
    Refused,
    /// The connection breaks before it arrives: it never takes effect, but its sender is told that
    /// it may have.
    UnknownBefore,
    /// The connection breaks after it took effect, and its sender is told that it may have.
    UnknownAfter,
    /// It arrives late, and is judged then. It arrives also if its sender has stopped waiting. With
    /// [`Until::Never`] it gets lost without a sign.
    RequestDelayed(Until),
    /// It is judged now, and its answer arrives late. With [`Until::Never`] the answer gets lost
    /// without a sign.
    AnswerDelayed(Until),
}

/// When something delayed arrives.
#[derive(Debug, Clone)]
pub enum Until {
    /// When the store's clock reads this. A request is judged at this very instant, whenever the
    /// test looks.
    Store(Timestamp),
    /// When this worker's clock reads this. A request is judged by the store's clock as it stands
    /// when the store is next used, or the waiting sender polled.
    Worker(FakeClock, Moment),
    /// Never.
    Never,
}

/// The cause inside an error that was ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the test ordered this")]
pub struct Injected;

/// What is ordered for the coming requests, by kind.
#[derive(Debug, Default)]
pub(crate) struct Faults(BTreeMap<Operation, VecDeque<Option<Fault>>>);

impl Fault {
    /// What the sender gets instead of an answer, before the request was judged.
    pub(crate) fn refusal(&self) -> Option<StoreError> {
        match self {
            Self::Unreachable => Some(StoreError::Unreachable(Box::new(Injected))),
            Self::NotApplied => Some(StoreError::NotApplied(Box::new(Injected))),
            Self::Refused => Some(StoreError::Unexpected(Box::new(Injected))),
            Self::UnknownBefore => Some(StoreError::Unknown(Box::new(Injected))),
            Self::UnknownAfter | Self::RequestDelayed(_) | Self::AnswerDelayed(_) => None,
        }
    }
}

impl Until {
    /// The instant of the store's clock at which it arrived, if it has; `now` is that clock.
    pub(crate) fn arrived(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Store(instant) => (*instant <= now).then_some(*instant),
            Self::Worker(clock, moment) => (*moment <= clock.now()).then_some(now),
            Self::Never => None,
        }
    }

    pub(crate) async fn wait(&self, store: &StoreClock) {
        match self {
            Self::Store(instant) => store.reaches(*instant).await,
            Self::Worker(clock, moment) => clock.sleep_until(*moment).await,
            Self::Never => pending().await,
        }
    }
}

impl Faults {
    pub(crate) fn order(&mut self, operation: Operation, fault: Option<Fault>) {
        self.0.entry(operation).or_default().push_back(fault);
    }

    pub(crate) fn take(&mut self, operation: Operation) -> Option<Fault> {
        self.0.get_mut(&operation)?.pop_front()?
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
