//! The store under test and the rules, taken through the same steps.

use std::error::Error as _;
use std::sync::Arc;

use lease_core::{EffectKind, FencingToken, LeaseId, StoreError};

use super::kept;
use super::levers::Levers;
use super::request::{Answer, Request};
use super::step::Step;
use crate::conformance::Store;
use crate::{FakeStore, StoreClock, drive};

/// Where the store and the rules differ, in words.
pub(super) type Difference = String;

/// Both of them.
pub(super) struct Pair<'h> {
    pub(super) fake: FakeStore,
    pub(super) levers: &'h dyn Levers,
    store: Arc<dyn Store>,
    steps: usize,
}

/// After how many steps the store's own reads are compared, too.
const PORTS_EVERY: usize = 10;

impl<'h> Pair<'h> {
    /// Both of them, empty.
    pub(super) async fn new(levers: &'h dyn Levers) -> Self {
        levers.clear().await;
        let fake = FakeStore::new(StoreClock::default());
        fake.refuse_effect(&EffectKind::new("refused").expect("a plain word"));
        Self { fake, levers, store: levers.store().await, steps: 0 }
    }

    /// Takes a step, and compares the answers and everything that is kept. The answers, in the order of
    /// the requests.
    pub(super) async fn take(&mut self, step: &Step) -> Result<Vec<Answer>, Difference> {
        let answers = match step {
            Step::InTurn(requests) => self.in_turn(requests).await?,
            Step::Together(together) => self.together(together).await?,
            Step::Clock { back: true, by } => {
                self.fake.clock().set_back(*by);
                self.levers.set_back(*by).await;
                Vec::new()
            }
            Step::Clock { back: false, by } => {
                self.fake.clock().advance(*by);
                self.levers.elapse(*by).await;
                Vec::new()
            }
            Step::TopFence(run) => {
                let top = Some(FencingToken::LAST);
                self.fake.set_fence(*run, top);
                self.levers.set_fence(*run, top).await;
                Vec::new()
            }
        };
        match step {
            // Compared already: that is how the order was found.
            Step::Together(_) => {}
            Step::InTurn(_) | Step::Clock { .. } | Step::TopFence(_) => {
                kept::difference(self.levers, &self.fake).await.map_or(Ok(()), Err)?;
            }
        }
        self.steps += 1;
        if self.steps.is_multiple_of(PORTS_EVERY) {
            self.compare_ports().await?;
        }
        Ok(answers)
    }

    /// Compares what the store's own reads answer.
    pub(super) async fn compare_ports(&self) -> Result<(), Difference> {
        match kept::ports_differ(&*self.store, &self.fake).await {
            Ok(None) => Ok(()),
            Ok(Some(difference)) => Err(difference),
            Err(failed) => Err(format!("a read is not answered: {}", chain(&failed))),
        }
    }

    async fn in_turn(&self, requests: &[Request]) -> Result<Vec<Answer>, Difference> {
        let mut answers = Vec::new();
        for request in requests {
            let by_rules = by_the_rules(&self.fake, request).expect("nobody holds up the fake");
            let real = verdict(request.ask(&*self.store).await)?;
            if real != by_rules {
                return Err(format!("the answer is {real:?}, and by the rules {by_rules:?}"));
            }
            answers.push(real);
        }
        Ok(answers)
    }
}

/// What the rules say to a request; nothing where it has to wait.
pub(super) fn by_the_rules(fake: &FakeStore, request: &Request) -> Option<Answer> {
    drive::at_once(request.ask(fake)).map(|answer| answer.expect("no fault is ordered"))
}

/// Every request has to get its verdict.
pub(super) fn verdict(answer: Result<Answer, StoreError>) -> Result<Answer, Difference> {
    answer.map_err(|failed| format!("there is no verdict: {}", chain(&failed)))
}

/// The leases that answers grant.
pub(super) fn granted(answers: &[Answer]) -> Vec<LeaseId> {
    answers.iter().flat_map(Answer::granted).collect()
}

fn chain(failed: &StoreError) -> String {
    let mut text = failed.to_string();
    let mut source = failed.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
