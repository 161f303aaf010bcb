//! A worker, a store and their clocks, all moved by the test.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    AttemptOutcome, Clock, Document, Effects, LeaseSettings, LossLimit, Operator, Phase, PhaseList, Plan,
    PlanName, PlanVersion, Priority, RunId, RunKey, Submit, SubmitVerdict, Timestamp, Ttl, WorkerName,
};
use lease_fake::{FakeClock, FakeStore, Stored};
use supplier_runner::plan::{PhaseStep, RetryPolicy, RunnablePlan};
use supplier_runner::step::{Step, StepDone, StepEnd, StepRequest};
use supplier_runner::worker::{
    BatchedRenewals, Event, Events, Lanes, Random, Stopper, SystemRandom, Take, WorkReport, Worker,
    WorkerSettings, new_run_id, stopper,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// TTL 60 s, a heartbeat every 20 s, margin 6 s.
pub(crate) const TTL: Duration = Duration::from_secs(60);

type Doing = Pin<Box<dyn Future<Output = StepEnd> + Send>>;
type Body = dyn Fn(Call) -> Doing + Send + Sync;

/// What a test's step is told.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) phase: String,
    pub(crate) fence: u64,
    pub(crate) idempotency_key: String,
    pub(crate) document: String,
    /// The world's clock, for steps that take their time.
    pub(crate) clock: FakeClock,
}

impl Call {
    /// Takes so long.
    pub(crate) async fn take(&self, time: Duration) {
        self.clock.sleep_until(self.clock.now().plus(time)).await;
    }
}

struct TestStep {
    clock: FakeClock,
    quick: bool,
    body: Box<Body>,
}

#[async_trait]
impl Step for TestStep {
    fn is_quick(&self) -> bool {
        self.quick
    }

    async fn run(&self, request: &StepRequest) -> StepEnd {
        let call = Call {
            phase: request.phase().to_string(),
            fence: request.fence().get(),
            idempotency_key: request.idempotency_key().to_owned(),
            document: request.document().to_string(),
            clock: self.clock.clone(),
        };
        (self.body)(call).await
    }
}

/// Remembers events.
#[derive(Default)]
pub(crate) struct Recorder(Mutex<Vec<Event>>);

impl Events for Recorder {
    fn emit(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

pub(crate) struct World {
    pub(crate) clock: FakeClock,
    pub(crate) store: FakeStore,
    pub(crate) events: Arc<Recorder>,
    pub(crate) calls: Arc<Mutex<Vec<Call>>>,
    plan: Arc<RunnablePlan>,
    /// How often every task gets its turn before time moves on.
    pub(crate) turns: u32,
    pub(crate) random: Arc<dyn Random>,
    /// Where steps run; beside everything else, unless a test says so.
    pub(crate) steps: Option<Handle>,
}

/// A worker at work.
pub(crate) struct AtWork {
    pub(crate) stopper: Stopper,
    task: JoinHandle<WorkReport>,
}

pub(crate) fn done() -> StepEnd {
    StepEnd::Done(StepDone { receipt: Document::default(), effects: Effects::none() })
}

pub(crate) fn again(message: &str) -> StepEnd {
    StepEnd::Again { message: message.to_owned(), after: None }
}

impl World {
    /// A plan of these phases, each of which runs `body`; time limit 15 min, three attempts with 1 s
    /// to 8 s between them.
    pub(crate) fn new<F, D>(phases: &[&str], body: F) -> Self
    where
        F: Fn(Call) -> D + Send + Sync + 'static,
        D: Future<Output = StepEnd> + Send + 'static,
    {
        Self::with_steps(phases, false, body)
    }

    /// The same, with steps that run without a heartbeat.
    pub(crate) fn of_quick_steps<F, D>(phases: &[&str], body: F) -> Self
    where
        F: Fn(Call) -> D + Send + Sync + 'static,
        D: Future<Output = StepEnd> + Send + 'static,
    {
        Self::with_steps(phases, true, body)
    }

    fn with_steps<F, D>(phases: &[&str], quick: bool, body: F) -> Self
    where
        F: Fn(Call) -> D + Send + Sync + 'static,
        D: Future<Output = StepEnd> + Send + 'static,
    {
        let clock = FakeClock::starting_at(SECOND * 1_000);
        let store = FakeStore::new(clock.store_clock(Timestamp::from_micros(1_800_000_000_000_000)));
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let (body, seen) = (Arc::new(body), Arc::clone(&calls));
        let step: Arc<dyn Step> = Arc::new(TestStep {
            clock: clock.clone(),
            quick,
            body: Box::new(move |call: Call| {
                seen.lock().unwrap().push(call.clone());
                let body = Arc::clone(&body);
                Box::pin(async move { body(call).await })
            }),
        });
        let plan = runnable(phases, &step);
        Self {
            clock,
            store,
            events: Arc::default(),
            calls,
            plan: Arc::new(plan),
            turns: 200,
            random: Arc::new(SystemRandom),
            steps: None,
        }
    }

    pub(crate) fn settings(&self) -> WorkerSettings {
        let lease = LeaseSettings::new(Ttl::new(TTL).unwrap(), SECOND * 20, SECOND * 6).unwrap();
        WorkerSettings {
            name: WorkerName::new("worker").unwrap(),
            lease,
            concurrency: 2,
            poll: SECOND * 5,
            grace: SECOND * 30,
            loss_limit: LossLimit::new(3).unwrap(),
        }
    }

    pub(crate) async fn submit(&self, key: &str) -> RunId {
        self.submit_as(new_run_id(), key).await
    }

    pub(crate) async fn submit_as(&self, id: RunId, key: &str) -> RunId {
        let submit = Submit {
            id,
            key: RunKey::new(key).unwrap(),
            plan: self.plan.plan.clone(),
            priority: Priority::default(),
            input: Document::default(),
        };
        assert_eq!(self.store.submit(&submit).await.unwrap(), SubmitVerdict::Opened);
        id
    }

    /// A worker on the world's own clock and store.
    pub(crate) fn start(&self, take: Take) -> AtWork {
        self.start_with(take, self.settings(), self.clock.clone(), self.store.clone())
    }

    /// The same, telling `events`.
    pub(crate) fn start_telling(&self, take: Take, events: Arc<dyn Events>) -> AtWork {
        self.start_all(take, self.settings(), self.clock.clone(), self.store.clone(), events)
    }

    pub(crate) fn start_with(
        &self,
        take: Take,
        settings: WorkerSettings,
        clock: FakeClock,
        store: FakeStore,
    ) -> AtWork {
        self.start_all(take, settings, clock, store, Arc::clone(&self.events) as Arc<dyn Events>)
    }

    pub(crate) fn start_all(
        &self,
        take: Take,
        settings: WorkerSettings,
        clock: FakeClock,
        store: FakeStore,
        events: Arc<dyn Events>,
    ) -> AtWork {
        let here = Handle::current();
        let steps = self.steps.clone().unwrap_or_else(|| here.clone());
        let lanes = Lanes { steps, heartbeats: here.clone() };
        let clock: Arc<dyn Clock> = Arc::new(clock);
        let heartbeat = settings.lease.heartbeat();
        let renewals = BatchedRenewals::start(&here, Arc::new(store.clone()), Arc::clone(&clock), heartbeat);
        let worker = Worker {
            settings,
            plans: vec![Arc::clone(&self.plan)],
            store: Arc::new(store),
            renewals: Arc::new(renewals),
            clock,
            lanes,
            events,
            random: Arc::clone(&self.random),
        };
        let (stopper, stopping) = stopper();
        let telling = stopper.clone();
        let task =
            tokio::spawn(async move { worker.run(take, &telling, stopping).await.expect("settings fit") });
        AtWork { stopper, task }
    }

    /// Works on the runs until the worker ends by itself.
    pub(crate) async fn work(&self, take: Take) -> WorkReport {
        let at_work = self.start(take);
        self.end_of(at_work).await
    }

    /// Moves time on until the worker has ended.
    pub(crate) async fn end_of(&self, at_work: AtWork) -> WorkReport {
        self.until("the worker to end", || at_work.task.is_finished()).await;
        at_work.task.await.expect("the worker does not panic")
    }

    /// Moves time on, from one instant that somebody waits for to the next, until `reached`.
    pub(crate) async fn until(&self, what: &str, reached: impl Fn() -> bool) {
        let give_up = self.clock.now().plus(SECOND * 100_000);
        loop {
            self.settle().await;
            if reached() {
                return;
            }
            assert!(self.clock.now() < give_up, "waited for {what} in vain");
            assert!(self.clock.advance_to_next_wake(), "nobody waits for a time while waiting for {what}");
        }
    }

    /// Lets every task run until all wait.
    pub(crate) async fn settle(&self) {
        for _ in 0..self.turns {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn stored(&self, run: RunId) -> Stored {
        self.store.stored(run).expect("the run is there")
    }

    pub(crate) fn outcomes(&self, run: RunId) -> Vec<Option<AttemptOutcome>> {
        self.stored(run).attempts.iter().map(lease_core::Attempt::outcome).collect()
    }

    /// The phases of all calls so far with the numbers they were made under.
    pub(crate) fn called(&self) -> Vec<(String, u64)> {
        self.calls.lock().unwrap().iter().map(|call| (call.phase.clone(), call.fence)).collect()
    }

    /// The words of all events of a run, with the outcome or phase beside them.
    pub(crate) fn told(&self, run: RunId) -> Vec<String> {
        let events = self.events.0.lock().unwrap();
        events.iter().filter(|event| event.run == run).map(words).collect()
    }

    pub(crate) fn phase(&self, run: RunId) -> Phase {
        self.stored(run).run.phase
    }
}

fn words(event: &Event) -> String {
    use supplier_runner::worker::EventKind;
    match &event.kind {
        EventKind::Claimed { from } => format!("claimed at {from}"),
        EventKind::StepStarted { phase } => format!("started {phase}"),
        EventKind::PhaseSaved { phase } => format!("saved {phase}"),
        EventKind::AttemptEnded { outcome, .. } => format!("attempt {outcome}"),
        EventKind::RunEnded { ending, .. } => format!("run {ending}"),
        EventKind::NotClaimed(verdict) => format!("not claimed: {verdict:?}"),
    }
}

fn runnable(phases: &[&str], step: &Arc<dyn Step>) -> RunnablePlan {
    let list = PhaseList::from_names(phases.iter().copied()).unwrap();
    let plan = Plan::new(PlanName::new("test").unwrap(), PlanVersion::new(1).unwrap(), list.clone(), "test");
    let retry = RetryPolicy { attempts: 3, first: SECOND, longest: SECOND * 8 };
    let steps = list.as_slice().iter().map(|name| PhaseStep {
        name: name.clone(),
        step: Arc::clone(step),
        timeout: SECOND * 900,
        retry,
    });
    RunnablePlan::new(plan, steps.collect()).unwrap()
}
