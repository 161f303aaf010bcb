//! A request's way: through the faults ordered for it, past the lock of its row, to its judgement,
//! and back with the answer.
//!
//! The clock is read when the row is free, not when the request was sent.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use lease_core::{RunId, StoreError, Timestamp};

use super::tables::Tables;
use super::{FakeStore, State};
use crate::fault::{Fault, Injected, Until};
use crate::journal::{Exchange, Judged, Operation};

/// An answer, and what goes into the journal with it.
pub(super) type Judgement<V> = Result<(V, Exchange), StoreError>;

/// Judges a request under the store's lock and puts its answer where its sender waits. Whom to wake.
type Judge = Box<dyn FnOnce(&mut State, Timestamp) -> Option<Waker> + Send>;

/// A request that was sent and is not judged yet.
pub(super) struct InFlight {
    number: u64,
    operation: Operation,
    sent_at: Timestamp,
    /// `None`: it arrived when it was sent.
    arrives: Option<Until>,
    /// The run whose row it has to lock.
    row: Option<RunId>,
    judge: Judge,
}

/// Where a sender waits for its answer.
struct Slot<V> {
    answer: Option<Result<V, StoreError>>,
    waker: Option<Waker>,
}

impl FakeStore {
    /// Sends a request. `row` is the run whose row it has to lock, and waits for.
    pub(super) async fn request<V, J>(
        &self,
        operation: Operation,
        row: Option<RunId>,
        judge: J,
    ) -> Result<V, StoreError>
    where
        V: Send + 'static,
        J: FnOnce(&mut Tables, Timestamp) -> Judgement<V> + Send + 'static,
    {
        self.settle();
        let fault = self.lock().faults.take(operation);
        if let Some(error) = fault.as_ref().and_then(Fault::refusal) {
            return Err(error);
        }
        let delay = match &fault {
            Some(Fault::RequestDelayed(until)) => Some(until.clone()),
            Some(_) | None => None,
        };
        let slot = Arc::new(Mutex::new(Slot { answer: None, waker: None }));
        self.send(operation, delay.clone(), row, judge_into(&slot, judge));
        let answer = self.answer(&slot, delay).await;
        match fault {
            Some(Fault::UnknownAfter) => return Err(StoreError::Unknown(Box::new(Injected))),
            Some(Fault::AnswerDelayed(until)) => until.wait(&self.clock).await,
            Some(_) | None => {}
        }
        answer
    }

    fn send(&self, operation: Operation, arrives: Option<Until>, row: Option<RunId>, judge: Judge) {
        {
            let sent_at = self.clock.now();
            let mut state = self.lock();
            state.next_request += 1;
            let number = state.next_request;
            state.in_flight.push(InFlight { number, operation, sent_at, arrives, row, judge });
        }
        self.settle();
    }

    /// Judges every request that has arrived and whose row is free, in the order they arrived.
    ///
    /// The store does so by itself whenever it is used; a test calls it to be sure of it.
    pub fn settle(&self) {
        loop {
            let now = self.clock.now();
            let mut state = self.lock();
            let Some((at, place)) = state.first_ready(now) else { return };
            let request = state.in_flight.remove(place);
            let waker = (request.judge)(&mut state, at);
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
            // What these do may let a run be claimed.
            if matches!(request.operation, Operation::Submit | Operation::Release | Operation::Act) {
                self.bell.ring();
            }
        }
    }

    /// How many requests are under way: delayed, or waiting for a locked row.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.settle();
        self.lock().in_flight.len()
    }

    async fn answer<V>(&self, slot: &Mutex<Slot<V>>, delay: Option<Until>) -> Result<V, StoreError> {
        let mut alarm: Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = match &delay {
            Some(until) => Some(Box::pin(until.wait(&self.clock))),
            None => None,
        };
        poll_fn(|context| {
            if let Some(waiting) = &mut alarm
                && waiting.as_mut().poll(context).is_ready()
            {
                alarm = None;
                self.settle();
            }
            let mut slot = slot.lock().expect("nothing panics while it holds a slot");
            if let Some(answer) = slot.answer.take() {
                return Poll::Ready(answer);
            }
            slot.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl State {
    /// The request that is to be judged first, and the instant at which it is: when it arrived, or
    /// when its row became free, if that was later. Nothing arrives before it was sent.
    fn first_ready(&self, now: Timestamp) -> Option<(Timestamp, usize)> {
        let ready = self.in_flight.iter().enumerate().filter_map(|(place, request)| {
            let arrived = request.arrives.as_ref().map_or(Some(now), |until| until.arrived(now))?;
            let free_since = match request.row {
                Some(row) => self.tables.free_since(row)?,
                None => None,
            };
            let arrived = arrived.max(request.sent_at);
            let at = free_since.map_or(arrived, |free| free.max(arrived)).min(now);
            Some((at, request.number, place))
        });
        ready.min().map(|(at, _, place)| (at, place))
    }
}

fn judge_into<V, J>(slot: &Arc<Mutex<Slot<V>>>, judge: J) -> Judge
where
    V: Send + 'static,
    J: FnOnce(&mut Tables, Timestamp) -> Judgement<V> + Send + 'static,
{
    let slot = Arc::clone(slot);
    Box::new(move |state, at| {
        let answer = judge(&mut state.tables, at).map(|(answer, exchange)| {
            state.journal.push(Judged { at, exchange });
            answer
        });
        let mut slot = slot.lock().expect("nothing panics while it holds a slot");
        slot.answer = Some(answer);
        slot.waker.take()
    })
}
