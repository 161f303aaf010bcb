//! The worker's main loop: fill the free slots, wait for something to change, stop in good order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lease_core::{
    Claim, ClaimNext, ClaimVerdict, Claimed, Clock, Digest, Ending, Failure, Grant, LeaseStore, Moment,
    Renewals, RunId, RunKey, RunReader, StoreError, WorkSignal,
};
use tokio::task::{JoinError, JoinSet};

use super::answers::{Answer, Answers};
use super::event::{Event, EventKind, Events};
use super::ids::{Random, new_owner};
use super::job::{self, JobEnd};
use super::lanes::{Lanes, OwnedTask};
use super::living::{Living, Slot};
use super::queue::{Queue, Take};
use super::report::WorkReport;
use super::settings::{WorkerSettings, WorkerSettingsError};
use super::stop::{Stopper, Stopping};
use crate::plan::RunnablePlan;

/// The shortest wait of an idle worker: while a due run's row is locked by somebody, "now" is the
/// answer every time.
const SOONEST: Duration = Duration::from_millis(50);

/// What a worker needs of a store.
pub trait WorkerStore: LeaseStore + RunReader {}

impl<S: LeaseStore + RunReader> WorkerStore for S {}

/// Everything a worker works with; set the fields and call [`Worker::run`].
pub struct Worker {
    /// Its settings.
    pub settings: WorkerSettings,
    /// The plans it runs.
    pub plans: Vec<Arc<RunnablePlan>>,
    /// Where claims, saves and reads go.
    pub store: Arc<dyn WorkerStore>,
    /// Where renewals go: a store with a connection of its own, made on the heartbeat lane.
    pub renewals: Arc<dyn Renewals>,
    /// Its own clock.
    pub clock: Arc<dyn Clock>,
    /// Where steps and heartbeats run.
    pub lanes: Lanes,
    /// Who hears of what it does.
    pub events: Arc<dyn Events>,
    /// Where owners' random parts and the jitter of retries come from.
    pub random: Arc<dyn Random>,
}

/// What all parts of a worker share.
pub(super) struct Context {
    pub(super) settings: WorkerSettings,
    plans: HashMap<Digest, Arc<RunnablePlan>>,
    pub(super) store: Arc<dyn WorkerStore>,
    pub(super) renewals: Arc<dyn Renewals>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) lanes: Lanes,
    pub(super) events: Arc<dyn Events>,
    pub(super) random: Arc<dyn Random>,
    pub(super) stopping: Stopping,
    pub(super) living: Arc<Living>,
}

impl Context {
    pub(super) fn plan(&self, digest: &Digest) -> Option<&Arc<RunnablePlan>> {
        self.plans.get(digest)
    }

    pub(super) fn known(&self) -> Vec<Digest> {
        self.plans.keys().copied().collect()
    }
}

/// A claim of one run, answered or given up.
struct Asked {
    run: RunId,
    sent_at: Moment,
    answer: Result<ClaimVerdict, StoreError>,
    /// The slot that its work would take.
    slot: Slot,
}

/// What filling the slots came to.
enum Filled {
    /// Nothing more will come: the worker can end once its jobs have.
    Finished,
    /// To be done again at this instant at the latest.
    Again(Moment),
}

impl Worker {
    /// Works until told to stop, or until `take` is done.
    ///
    /// # Errors
    /// When the settings do not fit.
    ///
    /// # Cancel safety
    /// Dropping the future ends all steps; leases run out by themselves.
    pub async fn run(
        self,
        take: Take,
        stopper: &Stopper,
        stopping: Stopping,
    ) -> Result<WorkReport, WorkerSettingsError> {
        self.settings.check()?;
        let grace_keeper = {
            let (stopper, clock, grace) = (stopper.clone(), Arc::clone(&self.clock), self.settings.grace);
            OwnedTask::spawn(&tokio::runtime::Handle::current(), async move {
                stopper.keep_grace(&*clock, grace).await;
            })
        };
        let living = Living::new(self.settings.concurrency);
        let plans = self.plans.into_iter().map(|plan| (plan.plan.id.digest, plan)).collect();
        let context = Arc::new(Context {
            settings: self.settings,
            plans,
            store: self.store,
            renewals: self.renewals,
            clock: self.clock,
            lanes: self.lanes,
            events: self.events,
            random: self.random,
            stopping,
            living,
        });
        let report = Watch::new(context, &take).run(&take).await;
        drop(grace_keeper);
        Ok(report)
    }
}

/// The loop's own state.
struct Watch {
    context: Arc<Context>,
    jobs: JoinSet<JobEnd>,
    /// Claims of runs that were asked for. Each waits for its own row, and for no other.
    claims: JoinSet<Asked>,
    queue: Option<Queue>,
    report: WorkReport,
    signal: Option<Arc<dyn WorkSignal>>,
    answers: Answers,
    /// Whether the store refused its claims too often.
    given_up: bool,
    /// Whether it ends by itself, so that it also ends when the store will not have its claims.
    ends: bool,
    /// Which run a job is for, also where the job breaks off.
    runs: HashMap<tokio::task::Id, RunId>,
}

impl Watch {
    fn new(context: Arc<Context>, take: &Take) -> Self {
        let (poll, now) = (context.settings.poll, context.clock.now());
        let queue = match take {
            Take::Any | Take::UntilNoneIsOpen => None,
            Take::Only(run) => Some(Queue::new(&[*run], true, poll, now)),
            Take::AsFarAsPossible(runs) => Some(Queue::new(runs, false, poll, now)),
        };
        let signal = context.store.work_signal();
        Self {
            answers: Answers::new(Arc::clone(&context)),
            context,
            jobs: JoinSet::new(),
            claims: JoinSet::new(),
            queue,
            report: WorkReport::default(),
            signal,
            given_up: false,
            ends: *take != Take::Any,
            runs: HashMap::new(),
        }
    }

    async fn run(mut self, take: &Take) -> WorkReport {
        let context = Arc::clone(&self.context);
        while !context.stopping.is_draining() {
            while let Some(joined) = self.jobs.try_join_next_with_id() {
                self.note_end(joined);
            }
            while let Some(joined) = self.claims.try_join_next() {
                self.note_claim(joined);
            }
            if self.given_up {
                break;
            }
            // Never dropped half-way: a claim that was sent may be granted, and then its lease has
            // to be released for the next worker.
            let Filled::Again(instant) = self.fill(take).await else { break };
            self.wait(instant).await;
        }
        self.finish().await
    }

    /// Waits until a job ends, a slot is freed, work may have come, the worker is told to stop, or
    /// `instant`.
    async fn wait(&mut self, instant: Moment) {
        let context = Arc::clone(&self.context);
        let signal = self.signal.clone();
        let work = async {
            match signal {
                Some(signal) => signal.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = context.stopping.draining() => {}
            Some(joined) = self.jobs.join_next_with_id() => self.note_end(joined),
            Some(joined) = self.claims.join_next() => self.note_claim(joined),
            () = context.living.freed() => {}
            () = context.clock.sleep_until(instant) => {}
            () = work => {
                if let Some(queue) = &mut self.queue {
                    queue.look_again(context.clock.now());
                }
            }
        }
    }

    /// Waits for the jobs under way: they end by themselves, or when their grace is over.
    async fn finish(mut self) -> WorkReport {
        let context = Arc::clone(&self.context);
        while !(self.jobs.is_empty() && self.claims.is_empty()) {
            tokio::select! {
                biased;
                () = context.stopping.now() => {
                    self.end_now().await;
                    break;
                }
                Some(joined) = self.jobs.join_next_with_id() => self.note_end(joined),
                // A grant that comes now is released, for the next worker.
                Some(joined) = self.claims.join_next() => self.note_claim(joined),
            }
        }
        self.report.stopped = context.stopping.is_draining();
        if let Some(queue) = self.queue {
            self.report.asked = queue.stands();
        }
        self.report
    }

    /// Ends everything: drops the jobs, and waits a moment for the steps' processes to be ended.
    async fn end_now(&mut self) {
        const STEPS_END_WITHIN: Duration = Duration::from_secs(1);
        self.report.stopped_now = true;
        // What has ended by now has ended, whatever is dropped next.
        while let Some(joined) = self.jobs.try_join_next_with_id() {
            self.note_end(joined);
        }
        self.claims.shutdown().await;
        self.jobs.shutdown().await;
        let context = Arc::clone(&self.context);
        let give_up = context.clock.now().plus(STEPS_END_WITHIN);
        while !context.living.runs().is_empty() {
            tokio::select! {
                biased;
                () = context.living.freed() => {}
                () = context.clock.sleep_until(give_up) => break,
            }
        }
    }

    fn note_end(&mut self, joined: Result<(tokio::task::Id, JobEnd), JoinError>) {
        let (task, end) = match joined {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "a job broke off; its lease runs out by itself");
                (error.id(), JobEnd::Broken)
            }
        };
        let run = self.runs.remove(&task).expect("every job's run is noted when it starts");
        match &end {
            JobEnd::Completed => {
                self.report.completed += 1;
                if self.report.lost.contains_key(&run) {
                    self.report.recovered.insert(run);
                }
            }
            JobEnd::Failed => self.report.failed += 1,
            JobEnd::Lost(_) => *self.report.lost.entry(run).or_default() += 1,
            JobEnd::Broken => self.report.broken += 1,
            JobEnd::Released | JobEnd::Waiting(_) | JobEnd::Dropped => {}
        }
        if let Some(queue) = &mut self.queue {
            queue.ended(run, &end, self.context.clock.now());
        }
    }

    async fn fill(&mut self, take: &Take) -> Filled {
        match self.queue.take() {
            None => self.fill_with_any(*take == Take::UntilNoneIsOpen).await,
            Some(mut queue) => {
                let filled = self.fill_from(&mut queue);
                self.queue = Some(queue);
                filled
            }
        }
    }

    /// Claims the next runs of any known plan.
    async fn fill_with_any(&mut self, ends: bool) -> Filled {
        let context = Arc::clone(&self.context);
        let settings = &context.settings;
        let (free, sent_at) = (context.living.free(), context.clock.now());
        if free == 0 {
            return Filled::Again(sent_at.plus(settings.poll));
        }
        let claim = ClaimNext {
            owners: (0..free.min(ClaimNext::LIMIT))
                .map(|_| new_owner(&*context.random, &settings.name))
                .collect(),
            ttl: settings.lease.ttl(),
            plans: context.known(),
            loss_limit: settings.loss_limit,
            except: context.living.runs(),
        };
        let answer = Answers::wait_for(&context, context.store.claim_next(&claim), sent_at).await;
        let claimed = match self.answers.note(answer) {
            Answer::Came(claimed) => claimed,
            Answer::None => {
                return Filled::Again(context.clock.now().plus(self.context.settings.claim_pause()));
            }
            Answer::Refused(error) => return self.refused(error),
        };
        let Claimed { grants, set_aside, next_due_in, next_lapse_in } = claimed;
        let quiet = grants.is_empty() && set_aside.is_empty();
        for (run, key, failure) in set_aside {
            self.set_aside(run, Some(key), failure);
        }
        for grant in grants {
            let slot = context.living.take(grant.lease.run);
            self.start(grant, sent_at, slot);
        }
        let next = next_due_in.into_iter().chain(next_lapse_in).min();
        if ends && quiet && next.is_none() && self.jobs.is_empty() && claim.except.is_empty() {
            return Filled::Finished;
        }
        if !quiet {
            return Filled::Again(context.clock.now());
        }
        self.answers.tell_of_stranded();
        let wait = next.map_or(settings.poll, |next| next.max(SOONEST).min(settings.poll));
        Filled::Again(context.clock.now().plus(wait))
    }

    /// Claims the runs that were asked for, as far as there are slots.
    fn fill_from(&mut self, queue: &mut Queue) -> Filled {
        let context = Arc::clone(&self.context);
        let settings = &context.settings;
        while context.living.free() > 0 && !context.stopping.is_draining() {
            let sent_at = context.clock.now();
            let Some(run) = queue.next(sent_at) else { break };
            if context.living.has(run) {
                queue.later(run, settings.lease.retry_pause(), sent_at);
                continue;
            }
            let claim = Claim {
                run,
                owner: new_owner(&*context.random, &settings.name),
                ttl: settings.lease.ttl(),
                plans: context.known(),
                loss_limit: settings.loss_limit,
            };
            let (context, slot) = (Arc::clone(&context), context.living.take(run));
            self.claims.spawn(async move {
                let answer = Answers::wait_for(&context, context.store.claim(&claim), sent_at).await;
                Asked { run, sent_at, answer, slot }
            });
        }
        let poll = context.clock.now().plus(settings.poll);
        if queue.is_finished() {
            Filled::Finished
        } else if context.living.free() == 0 {
            Filled::Again(poll)
        } else {
            Filled::Again(queue.next_look().map_or(poll, |look| look.min(poll)))
        }
    }

    /// Takes in what came of the claim of a run that was asked for.
    fn note_claim(&mut self, joined: Result<Asked, JoinError>) {
        let Asked { run, sent_at, answer, slot } = match joined {
            Ok(asked) => asked,
            Err(error) => {
                tracing::error!(%error, "a claim broke off");
                self.report.broken += 1;
                self.given_up = true;
                return;
            }
        };
        let (now, pause) = (self.context.clock.now(), self.context.settings.claim_pause());
        let answer = self.answers.note(answer);
        let Some(queue) = &mut self.queue else { return };
        match answer {
            Answer::None => queue.later(run, pause, now),
            Answer::Refused(error) => {
                queue.later(run, pause, now);
                self.given_up |= matches!(self.refused(error), Filled::Finished);
            }
            Answer::Came(ClaimVerdict::Granted(grant)) => self.start(*grant, sent_at, slot),
            Answer::Came(refusal) => {
                queue.refused(run, &refusal, now);
                if let ClaimVerdict::SetAside(failure) = refusal {
                    self.set_aside(run, None, failure);
                } else {
                    self.emit(run, None, EventKind::NotClaimed(refusal));
                }
            }
        }
    }

    /// The store will not have the worker's claims.
    fn refused(&mut self, error: StoreError) -> Filled {
        if self.ends {
            self.report.store_error = Some(Arc::new(error));
            return Filled::Finished;
        }
        Filled::Again(self.context.clock.now().plus(self.context.settings.claim_pause()))
    }

    fn start(&mut self, grant: Grant, sent_at: Moment, slot: Slot) {
        let run = grant.lease.run;
        let context = Arc::clone(&self.context);
        let job = self.jobs.spawn(job::Claim::work(context, grant, sent_at, slot));
        self.runs.insert(job.id(), run);
    }

    fn set_aside(&mut self, run: RunId, key: Option<RunKey>, failure: Failure) {
        tracing::warn!(%run, "set aside: {failure}");
        self.report.failed += 1;
        self.emit(run, key, EventKind::RunEnded { ending: Ending::Failed, failure: Some(failure) });
    }

    fn emit(&self, run: RunId, key: Option<RunKey>, kind: EventKind) {
        self.context.events.emit(&Event { run, key, fence: None, kind });
    }
}
