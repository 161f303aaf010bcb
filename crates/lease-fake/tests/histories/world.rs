//! The world of a history: a store, its clock, workers whose clocks run apart from it and from each
//! other, and what befalls them step by step.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use lease_core::{
    Action, Clock, Due, EffectKind, Failure, FailureKind, FencingToken, IdempotencyKey, LeaseSettings,
    LeaseStore, Operator, OwnerId, Phase, PhaseList, PhaseName, Plan, PlanName, PlanVersion, Priority,
    Renewals, RunId, RunKey, Save, Submit, Timestamp, Ttl, Who, WorkerName,
};
use lease_fake::{Exchange, FakeClock, FakeStore, Fault, Operation, RowLock, StoreClock, Until, drive};

use crate::invariants as must;
use crate::ledger::PHASES;
use crate::steps::Step;
use crate::witness::Witness;
use crate::worker::{Report, Shop, retired, work};

pub(crate) const LOSS_LIMIT: u32 = 1;
pub(crate) const POLL: Duration = Duration::from_secs(2);
/// How finely time passes. With the drift below, and TTL and margin as they are, a worker notices
/// its deadline in time: 12 s less 1.2 s, a clock that is 5 % slow, and a slice.
const SLICE: Duration = Duration::from_millis(250);

pub(crate) fn settings() -> LeaseSettings {
    let ttl = Ttl::new(Duration::from_secs(12)).expect("a ttl");
    LeaseSettings::with_ttl(ttl).expect("the defaults fit")
}

pub(crate) fn ttl() -> Ttl {
    settings().ttl()
}

pub(crate) fn plan() -> Plan {
    let phases = PhaseList::from_names(PHASES[1..].iter().copied()).expect("six phases");
    let version = PlanVersion::new(1).expect("a version");
    Plan::new(PlanName::new("plan").expect("a name"), version, phases, "")
}

struct Worker {
    clock: FakeClock,
    /// Its clock's speed, in percent of the store's.
    percent: u32,
    stalled: u8,
    lives: u64,
    task: Pin<Box<dyn Future<Output = ()>>>,
}

pub(crate) struct World {
    shop: Shop,
    runs: Vec<RunId>,
    workers: Vec<Worker>,
    locks: Vec<(RowLock, u8)>,
    witness: Witness,
}

impl World {
    /// `skews` has the reading in hours and the speed in percent of each worker's clock.
    pub(crate) fn new(seed: u64, skews: &[(u16, u32)], clock_moves_on: bool) -> Self {
        crate::worker::check(&settings());
        let store = FakeStore::new(StoreClock::default());
        store.refuse_effect(&EffectKind::new("refused").expect("a plain word"));
        let runs: Vec<RunId> = (1..=2).map(|number| RunId::new(uuid::Uuid::from_u128(number))).collect();
        for run in &runs {
            let submit = Submit {
                id: *run,
                key: RunKey::new(run.to_string()).expect("a short key"),
                plan: plan(),
                priority: Priority::default(),
                input: lease_core::Document::default(),
            };
            let opened = drive::at_once(store.submit(&submit)).expect("no fault is ordered");
            let _ = opened.expect("no fault is ordered");
        }
        let witness = Witness::new(store.clone(), &runs, clock_moves_on);
        let shop = Shop {
            store,
            seed,
            reports: Default::default(),
            retired: Default::default(),
            calm: Default::default(),
            clock_moves_on,
        };
        let workers = (1..).zip(skews).map(|(number, (hours, percent))| {
            let clock = FakeClock::starting_at(Duration::from_secs(u64::from(*hours) * 3_600));
            let task = hire(&shop, &clock, number, 0);
            Worker { clock, percent: *percent, stalled: 0, lives: number, task }
        });
        let workers = workers.collect();
        Self { shop, runs, workers, locks: Vec::new(), witness }
    }

    pub(crate) fn take(&mut self, step: &Step) {
        match step {
            Step::Pass { slices } => self.pass(*slices),
            Step::Stall { worker, slices } => self.chosen(*worker).stalled = *slices,
            Step::StallAll { slices } => {
                self.workers.iter_mut().for_each(|worker| worker.stalled = *slices);
            }
            Step::Crash { worker } => {
                let shop = self.shop.clone();
                let worker = self.chosen(*worker);
                worker.lives += 100;
                worker.task = hire(&shop, &worker.clock, worker.lives % 100, worker.lives);
            }
            Step::Fault { operation, fault, slices, times } => {
                self.order(*operation, *fault, *slices, *times);
            }
            Step::CutOff { slices } => {
                let late = self.shop.store.clock().now().plus(SLICE * u32::from(*slices));
                let late = Fault::AnswerDelayed(Until::Store(late));
                self.shop.store.order(Operation::Renew, &late, 1);
                self.shop.store.order(Operation::Renew, &Fault::Unreachable, 40);
            }
            Step::Lock { run, slices } => {
                let run = self.runs[usize::from(*run) % self.runs.len()];
                self.locks.push((self.shop.store.lock_row(run), *slices));
            }
            Step::Act { run, action } => self.act(*run, *action),
            Step::Replay { which } => self.replay(*which),
            Step::Stray { lease, request, to } => self.stray(*lease, *request, *to),
            Step::SetClock { seconds } => {
                let clock = self.shop.store.clock();
                let micros = clock.now().as_micros() + i64::from(*seconds) * 1_000_000;
                clock.set(Timestamp::from_micros(micros));
            }
        }
        self.witness.look();
    }

    pub(crate) fn journal(&self) -> Vec<lease_fake::Judged> {
        self.shop.store.journal()
    }

    pub(crate) fn attempts(&self) -> Vec<lease_core::Attempt> {
        let stored = self.runs.iter().filter_map(|run| self.shop.store.stored(*run));
        stored.flat_map(|stored| stored.attempts).collect()
    }

    fn chosen(&mut self, worker: u8) -> &mut Worker {
        let place = usize::from(worker) % self.workers.len();
        &mut self.workers[place]
    }

    fn pass(&mut self, slices: u8) {
        for _ in 0..slices {
            self.shop.store.clock().advance(SLICE);
            self.locks.retain_mut(|(_, left)| {
                *left = left.saturating_sub(1);
                *left > 0
            });
            for worker in &mut self.workers {
                worker.clock.advance(SLICE * worker.percent / 100);
                if worker.stalled > 0 {
                    worker.stalled -= 1;
                    continue;
                }
                assert!(drive::until_stalled(worker.task.as_mut()).is_pending(), "a worker never ends");
            }
            self.witness.look();
            self.check_reports();
        }
    }

    fn check_reports(&self) {
        for report in self.shop.reports.borrow_mut().drain(..) {
            match report {
                Report::Saved(lease, phase) => {
                    let stored = self.shop.store.stored(lease.run).expect("runs stay");
                    must::truth_of_a_report(&lease, &phase, &stored);
                }
                Report::Lost(lease, loss) => {
                    let stored = self.shop.store.stored(lease.run).expect("runs stay");
                    must::blocked_not_failed_by(&lease, &loss, &stored);
                }
            }
        }
    }

    fn order(&self, operation: u8, fault: u8, slices: u8, times: u8) {
        const OPERATIONS: [Operation; 10] = [
            Operation::ClaimNext,
            Operation::Renew,
            Operation::Save,
            Operation::Renew,
            Operation::Save,
            Operation::Release,
            Operation::Fail,
            Operation::Standing,
            Operation::MarkBlocked,
            Operation::Read,
        ];
        let operation = OPERATIONS[usize::from(operation) % OPERATIONS.len()];
        let late = Until::Store(self.shop.store.clock().now().plus(SLICE * u32::from(slices)));
        let worker = &self.workers[usize::from(slices) % self.workers.len()].clock;
        let late_by_worker = Until::Worker(worker.clone(), worker.now().plus(SLICE * u32::from(slices)));
        let fault = match fault % 9 {
            0 => Fault::Unreachable,
            1 => Fault::NotApplied,
            2 => Fault::UnknownBefore,
            3 => Fault::UnknownAfter,
            4 => Fault::RequestDelayed(late),
            5 => Fault::AnswerDelayed(late),
            6 => Fault::RequestDelayed(late_by_worker),
            7 => Fault::RequestDelayed(Until::Never),
            _ => Fault::AnswerDelayed(Until::Never),
        };
        self.shop.store.order(operation, &fault, usize::from(times));
    }

    fn act(&mut self, run: u8, action: u8) {
        let run = self.runs[usize::from(run) % self.runs.len()];
        let ledger = self.witness.ledger(run);
        let phase = ledger.next_phase().unwrap_or_else(|| PhaseName::new("f").expect("a phase"));
        let fence = FencingToken::new(ledger.fence()).unwrap_or(FencingToken::FIRST);
        let owner = OwnerId::from_stored(format!("ops#{}", ledger.fence())).expect("a short name");
        let action = match action % 10 {
            0 | 1 => Action::Approve { phase, owner },
            // The last approval again, if the last save was one.
            2 => match (ledger.phase(), ledger.saved.last()) {
                (Phase::Saved(phase), Some(last)) => Action::Approve { phase, owner: last.owner.clone() },
                (Phase::Submitted | Phase::Saved(_), _) => Action::Approve { phase, owner },
            },
            3 => Action::Reject { phase },
            4 => Action::Retry(IdempotencyKey::Same),
            5 => Action::Retry(IdempotencyKey::New),
            6 => Action::Pause,
            7 => Action::Resume,
            8 => Action::Revoke { fence },
            // Rarely, since nothing happens to a cancelled run any more.
            _ if action > 200 => Action::Cancel,
            _ => Action::Revoke { fence: FencingToken::FIRST },
        };
        let who = Who::new("olga", None).expect("a short name");
        let _ = drive::at_once(self.shop.store.act(run, &action, &who));
    }

    fn replay(&self, which: u16) {
        let journal = self.shop.store.journal();
        let changes = |judged: &&lease_fake::Judged| {
            !matches!(judged.exchange.operation(), Operation::Read | Operation::Standing)
        };
        let again: Vec<_> = journal.iter().filter(changes).collect();
        let store = &self.shop.store;
        match &again[usize::from(which) % again.len()].exchange {
            Exchange::Claim(claim, _) => drop(drive::at_once(store.claim(claim))),
            Exchange::ClaimNext(claim, _) => drop(drive::at_once(store.claim_next(claim))),
            Exchange::Renew(lease, ttl, _) => drop(drive::at_once(store.renew(lease, *ttl))),
            Exchange::RenewMany(leases, ttl, _) => drop(drive::at_once(store.renew_many(leases, *ttl))),
            Exchange::Save(save, _) => drop(drive::at_once(store.save(save))),
            Exchange::Release(release, _) => drop(drive::at_once(store.release(release))),
            Exchange::Fail(fail, _) => drop(drive::at_once(store.fail(fail))),
            Exchange::MarkBlocked(lease, _) => {
                drop(drive::at_once(store.mark_blocked(lease, &lease_core::Document::default())));
            }
            Exchange::Submit(submit, _) => drop(drive::at_once(store.submit(submit))),
            Exchange::Act(run, action, _) => {
                let who = Who::new("olga", None).expect("a short name");
                drop(drive::at_once(store.act(*run, action, &who)));
            }
            Exchange::Standing(..) | Exchange::Read => {}
        }
    }

    fn granted(&self) -> Vec<lease_core::LeaseId> {
        let leases = |run: &RunId| {
            let attempts = self.shop.store.stored(*run).map(|stored| stored.attempts).unwrap_or_default();
            let run = *run;
            attempts.into_iter().map(move |it| lease_core::LeaseId { run, owner: it.owner, fence: it.fence })
        };
        self.runs.iter().flat_map(leases).collect()
    }

    fn stray(&self, lease: u8, request: u8, to: u8) {
        // A renewal harms nobody, so it may also be of a lease that is in use.
        let leases = if request % 6 < 2 { self.granted() } else { retired(&self.shop) };
        let Some(lease) = leases.iter().rev().nth(usize::from(lease) % leases.len().max(1)) else {
            return;
        };
        let store = &self.shop.store;
        let stands = self.witness.ledger(lease.run).saved.len();
        // Mostly the save that is due, sometimes from or to another phase.
        let last = PHASES.len() - 1;
        let elsewhere = usize::from(to) % last;
        let (from, to) = match to {
            0..=180 => (stands, (stands + 1).min(last)),
            181..=215 => (elsewhere, (stands + 1).min(last)),
            216.. => (stands, elsewhere + 1),
        };
        let from = Phase::new(PHASES[from]).expect("a phase");
        let name = PhaseName::new(PHASES[to]).expect("a phase");
        match request % 6 {
            0 => drop(drive::at_once(store.renew(lease, ttl()))),
            1 => drop(drive::at_once(store.renew_many(&[lease.clone(), lease.clone()], ttl()))),
            2 => {
                let nothing = lease_core::Effects::none();
                let save = Save::new(lease, from, name, Default::default(), nothing, ttl());
                drop(drive::at_once(store.save(&save)));
            }
            3 => {
                let release = lease_core::Release { lease: lease.clone(), from, due: Due::Now };
                drop(drive::at_once(store.release(&release)));
            }
            4 => {
                let failure = Failure::new(name, FailureKind::STEP, "stray", 1);
                let fail = lease_core::Fail { lease: lease.clone(), from, failure };
                drop(drive::at_once(store.fail(&fail)));
            }
            _ => drop(drive::at_once(store.mark_blocked(lease, &lease_core::Document::default()))),
        }
    }

    /// LIVENESS: once nothing disturbs them any more, the workers bring every run to its end.
    pub(crate) fn liveness_in_the_calm(&mut self) {
        self.shop.store.no_more_faults();
        *self.shop.calm.borrow_mut() = true;
        self.locks.clear();
        self.workers.iter_mut().for_each(|worker| worker.stalled = 0);
        for _ in 0..400 {
            let mut ended = true;
            for place in 0..self.runs.len() {
                let ledger = self.witness.ledger(self.runs[place]);
                let place = u8::try_from(place).expect("two runs");
                ended &= matches!(
                    ledger.ending(),
                    Some(lease_core::Ending::Completed | lease_core::Ending::Cancelled)
                );
                let action = match ledger.status {
                    lease_core::Status::Waiting => 0,
                    lease_core::Status::Failed => 4,
                    lease_core::Status::Open
                    | lease_core::Status::Completed
                    | lease_core::Status::Cancelled => 7,
                };
                self.act(place, action);
                self.act(place, 7);
            }
            if ended {
                return;
            }
            self.take(&Step::Pass { slices: 1 });
        }
        panic!("LIVENESS: {:?}", self.runs.iter().map(|run| self.witness.ledger(*run)).collect::<Vec<_>>());
    }
}

fn hire(shop: &Shop, clock: &FakeClock, number: u64, life: u64) -> Pin<Box<dyn Future<Output = ()>>> {
    let name = WorkerName::new(format!("w{number}")).expect("a short name");
    Box::pin(work(shop.clone(), clock.clone(), name, number * 1_000 + life))
}
