//! Requests that are under way at the same time: some order of them, one after the other, has to explain
//! what they are answered and what is kept.
//!
//! Somebody's transaction holds the run. The requests are sent, the clock may move on, and the transaction
//! ends. What was answered before that waited for nobody, and is judged by the clock as it stood; all
//! others are judged after the wait, and by the clock as it stands then.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use lease_core::{StoreError, written_out};

use super::kept;
use super::pair::{Difference, Pair, by_the_rules, verdict};
use super::request::Answer;
use super::step::Together;
use crate::conformance::together::Boxed;

/// How often it is looked whether a request waits, before that is called a difference.
const LOOKS: usize = 5_000;

type Answered = Result<Answer, StoreError>;

/// Requests that were sent, and the answers so far.
struct UnderWay<'r> {
    requests: Vec<Boxed<'r, Answered>>,
    answers: Vec<Option<Answered>>,
}

impl UnderWay<'_> {
    fn unanswered(&self) -> usize {
        self.answers.iter().filter(|answer| answer.is_none()).count()
    }

    fn poll(&mut self, context: &mut Context<'_>) {
        for (request, answer) in self.requests.iter_mut().zip(&mut self.answers) {
            if answer.is_none()
                && let Poll::Ready(ready) = request.as_mut().poll(context)
            {
                *answer = Some(ready);
            }
        }
    }

    /// The result of something else, while the requests go on.
    async fn beside<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        poll_fn(|context| {
            self.poll(context);
            other.as_mut().poll(context)
        })
        .await
    }

    async fn answered(&mut self) {
        poll_fn(|context| {
            self.poll(context);
            if self.unanswered() == 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl Pair<'_> {
    /// Sends them, and looks for an order that explains what they do. The answers, in the order of the
    /// requests; the fake is as that order leaves it.
    pub(super) async fn together(&self, step: &Together) -> Result<Vec<Answer>, Difference> {
        let (waited, answers) = self.send(step).await?;
        let answers = answers.into_iter().map(verdict).collect::<Result<Vec<_>, _>>()?;
        let kept = written_out(self.levers.everything().await);
        let (tables, began) = (self.fake.back_up(), self.fake.clock().now());
        let mut failed = Vec::new();
        for order in orders(step.requests.len()) {
            // Those that waited come after those that did not.
            if !order.is_sorted_by_key(|place| waited[*place]) {
                continue;
            }
            self.fake.restore(&tables);
            self.fake.clock().set(began);
            match self.differs(step, &order, &waited, &answers) {
                None => match kept::between(&kept, &kept::by_the_rules(&self.fake)) {
                    None => return Ok(answers),
                    Some(difference) => failed.push(format!("{order:?}: {difference}")),
                },
                Some(difference) => failed.push(format!("{order:?}: {difference}")),
            }
        }
        Err(format!(
            "no order of them explains the answers {answers:?} (waited: {waited:?})\n    {}",
            failed.join("\n    ")
        ))
    }

    /// Which of the requests waited, and what all of them are answered.
    async fn send(&self, step: &Together) -> Result<(Vec<bool>, Vec<Answered>), Difference> {
        let mut stores = Vec::new();
        for place in 0..step.requests.len() {
            stores.push(self.levers.store_of(place).await);
        }
        let mut held = self.levers.hold_up(step.run, step.grip).await;
        let mut under_way = UnderWay { requests: Vec::new(), answers: Vec::new() };
        for (request, store) in step.requests.iter().zip(&stores) {
            under_way.requests.push(Box::pin(request.ask(&**store)));
            under_way.answers.push(None);
            // It is answered, or it waits, before the next is sent.
            let mut looks = 0;
            while under_way.unanswered() > 0 {
                let unanswered = under_way.unanswered();
                if under_way.beside(held.waited_for_by(unanswered)).await {
                    break;
                }
                looks += 1;
                if looks > LOOKS {
                    return Err(format!("{request:?} is not answered, and waits for nobody"));
                }
            }
        }
        let waited = under_way.answers.iter().map(Option::is_none).collect();
        under_way.beside(held.let_go(step.elapse)).await;
        under_way.answered().await;
        Ok((waited, under_way.answers.into_iter().flatten().collect()))
    }

    /// What the rules say otherwise, if the requests come in this order.
    fn differs(
        &self,
        step: &Together,
        order: &[usize],
        waited: &[bool],
        answers: &[Answer],
    ) -> Option<Difference> {
        // A run that is not there has no row to hold.
        let mut held = self.fake.stored(step.run).map(|_| self.fake.lock_row(step.run));
        let mut moves = Some(step.elapse);
        for place in order {
            if waited[*place] {
                drop(held.take());
                self.fake.clock().advance(moves.take().unwrap_or_default());
            }
            let Some(by_rules) = by_the_rules(&self.fake, &step.requests[*place]) else {
                return Some(format!("{place} did not wait, and by the rules it has to"));
            };
            if by_rules != answers[*place] {
                return Some(format!("by the rules the answer to {place} is {by_rules:?}"));
            }
        }
        drop(held);
        self.fake.clock().advance(moves.take().unwrap_or_default());
        None
    }
}

/// All orders of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = orders(last).into_iter();
    shorter
        .flat_map(|order| {
            (0..=order.len()).rev().map(move |at| {
                let mut order = order.clone();
                order.insert(at, last);
                order
            })
        })
        .collect()
}
