//! The two trials: every step twice, and every step failed once at each point.

use std::time::Duration;

use lease_core::{LeaseSettings, PhaseName, Submit, Ttl};

use super::call::Steps;
use super::finding::{Difference, Findings, Point};
use super::history::{History, Worker};
use super::left::{Left, outside, returned};
use crate::clock::FakeClock;

/// A run to try its plan's steps with.
#[derive(Debug)]
pub struct Trial {
    clock: FakeClock,
    submit: Submit,
    lease: LeaseSettings,
}

impl Trial {
    /// A trial of the steps of the plan that is submitted here. Steps that are tried at the same time and
    /// can see each other need a run id of their own each.
    #[must_use]
    pub fn new(submit: Submit) -> Self {
        let ttl = Ttl::new(Duration::from_secs(60)).expect("a minute is in range");
        let lease = LeaseSettings::with_ttl(ttl).expect("the defaults fit a minute");
        Self { clock: FakeClock::default(), submit, lease }
    }

    /// The workers' clock. It stands still while steps use real time and real connections under an
    /// executor of their own; for steps that sleep on it, [`crate::drive::run`] moves it on.
    #[must_use]
    pub fn clock(&self) -> &FakeClock {
        &self.clock
    }

    /// Runs the plan once and does every step twice under its idempotency key: each worker dies after
    /// its step and before the save; the next one does the step again, and saves.
    ///
    /// Found are steps that say no, steps whose second call returns something else ([`Steps::same`]) and
    /// steps whose second call changes the world outside ([`Steps::seen`]).
    pub async fn every_step_twice<S: Steps>(&self, open: impl AsyncFn() -> S) -> Findings {
        let mut findings = Findings::default();
        let mut failed = None;
        let done = self.do_twice(open().await, &mut failed, &mut findings).await;
        findings.add(failed.as_ref().map(|phase| (phase, Point::BeforeSave)), done.err());
        findings
    }

    /// `failed` is the phase whose worker died, while its step is done again.
    async fn do_twice<S: Steps>(
        &self,
        steps: S,
        failed: &mut Option<PhaseName>,
        findings: &mut Findings,
    ) -> Result<(), Difference> {
        let mut history = History::open(self, steps).await;
        let mut next = history.claim().await?;
        while let Some((worker, phase)) = next.and_then(with_phase) {
            *failed = None;
            let (worker, first) = history.work(worker, &phase).await?;
            let before = history.steps().seen().await;
            *failed = Some(phase.clone());
            let Some(worker) = history.dies(worker).await? else { break };
            let (worker, again) = history.work(worker, &phase).await?;
            let here = Some((&phase, Point::BeforeSave));
            findings.add(here, returned(history.steps(), &phase, &first, &again));
            findings.add(here, outside(&before, &history.steps().seen().await));
            next = history.save(worker, phase.clone(), again).await?;
        }
        Ok(())
    }

    /// Runs the plan again and again, and fails one worker in each run: at each phase, at each
    /// [`Point`]. The next worker goes on from there.
    ///
    /// Found is every run that is not completed with one receipt for each phase, numbers that do not
    /// fall, each effect once, and no call of a step whose receipt was there; and every run that returns
    /// something else ([`Steps::same`]) or leaves the world outside otherwise ([`Steps::seen`]) than one
    /// in which no worker failed. (The numbers and times in the receipts that a step is given do differ.)
    pub async fn every_step_failed_once<S: Steps>(&self, open: impl AsyncFn() -> S) -> Findings {
        let mut findings = Findings::default();
        let calm = match self.carry(open().await, None).await {
            Ok(calm) => calm,
            Err(difference) => {
                findings.add(None, [difference]);
                return findings;
            }
        };
        findings.add(None, calm.broken());
        // Steps that are never the same would be told of at every point.
        findings.add(None, self.judged(open().await, None, &calm).await);
        if !findings.is_empty() {
            return findings;
        }
        for phase in self.submit.plan.phases.as_slice() {
            for point in Point::ALL {
                let failing = Some((phase, point));
                findings.add(failing, self.judged(open().await, failing, &calm).await);
            }
        }
        findings
    }

    /// What is wrong with one run.
    async fn judged<S: Steps>(
        &self,
        steps: S,
        failing: Option<(&PhaseName, Point)>,
        calm: &Left<S>,
    ) -> Vec<Difference> {
        match self.carry(steps, failing).await {
            Ok(left) => {
                let mut found = left.broken();
                found.extend(left.differs_from(calm));
                found
            }
            Err(difference) => vec![difference],
        }
    }

    /// Carries one run to its end, and fails a worker on the way.
    pub(super) async fn carry<S: Steps>(
        &self,
        steps: S,
        mut failing: Option<(&PhaseName, Point)>,
    ) -> Result<Left<S>, Difference> {
        let mut history = History::open(self, steps).await;
        let mut next = history.claim().await?;
        while let Some((worker, phase)) = next.and_then(with_phase) {
            let here = failing.take_if(|(at, _)| **at == phase).map(|(_, point)| point);
            next = match here {
                None => {
                    let (worker, done) = history.work(worker, &phase).await?;
                    history.save(worker, phase, done).await?
                }
                Some(Point::BeforeStep) => history.dies(worker).await?,
                Some(Point::BeforeSave) => {
                    let (worker, _unsaved) = history.work(worker, &phase).await?;
                    history.dies(worker).await?
                }
                Some(Point::BeforeAnswer) => {
                    let (worker, done) = history.work(worker, &phase).await?;
                    history.dies_before_the_answer(worker, phase, done).await?
                }
                Some(Point::Refused) => {
                    let (worker, done) = history.work(worker, &phase).await?;
                    history.is_refused(worker, phase, done).await?
                }
            };
        }
        Ok(history.end().await)
    }

    pub(super) fn submit(&self) -> &Submit {
        &self.submit
    }

    pub(super) fn lease(&self) -> &LeaseSettings {
        &self.lease
    }
}

/// The worker with the phase that it does next.
fn with_phase<P>(worker: Worker<P>) -> Option<(Worker<P>, PhaseName)> {
    let phase = worker.next_phase()?;
    Some((worker, phase))
}
