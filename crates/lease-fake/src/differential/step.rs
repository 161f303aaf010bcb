//! The steps of a history, as values: a history that was drawn can be sent again, whole or in part.

use std::time::Duration;

use lease_core::RunId;

use super::levers::Grip;
use super::request::Request;

/// One step.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Requests, each sent once the one before it was answered.
    InTurn(Vec<Request>),
    /// Requests that are under way at the same time.
    Together(Together),
    /// The store's clock moves.
    Clock { back: bool, by: Duration },
    /// A run's number stands at the top of its range, and nobody holds the run.
    TopFence(RunId),
}

/// Requests that wait behind somebody's transaction.
#[derive(Debug, Clone)]
pub(super) struct Together {
    /// The run whose row that transaction has.
    pub(super) run: RunId,
    /// What it does there.
    pub(super) grip: Grip,
    /// In the order in which they are sent.
    pub(super) requests: Vec<Request>,
    /// How far the clock moves on while they wait.
    pub(super) elapse: Duration,
}

impl Step {
    /// Simpler steps that may tell the same, the simplest first.
    pub(super) fn simpler(&self) -> Vec<Self> {
        match self {
            Self::InTurn(requests) if requests.len() > 1 => {
                without_each(requests).into_iter().map(Self::InTurn).collect()
            }
            Self::Together(together) => together.simpler(),
            Self::InTurn(_) | Self::Clock { .. } | Self::TopFence(_) => Vec::new(),
        }
    }
}

impl Together {
    fn simpler(&self) -> Vec<Step> {
        let mut simpler = vec![Step::InTurn(self.requests.clone())];
        if self.requests.len() > 1 {
            let fewer = without_each(&self.requests).into_iter();
            simpler.extend(fewer.map(|requests| Step::Together(Self { requests, ..self.clone() })));
        }
        if !self.elapse.is_zero() {
            simpler.push(Step::Together(Self { elapse: Duration::ZERO, ..self.clone() }));
        }
        if self.grip != Grip::default() {
            simpler.push(Step::Together(Self { grip: Grip::default(), ..self.clone() }));
        }
        simpler
    }
}

fn without_each<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let without = |left_out: usize| {
        let kept = items.iter().enumerate().filter(|(place, _)| *place != left_out);
        kept.map(|(_, item)| item.clone()).collect()
    };
    (0..items.len()).map(without).collect()
}
