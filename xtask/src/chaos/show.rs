//! The run itself: workers at work, suppliers coming in, and one fault after the other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::Signal;

use crate::chore::Failure;

use super::faults::{self, Kind};
use super::history::{Fault, Life, Micros};
use super::intake::Intake;
use super::proxy::{Flow, Way};
use super::stage::Stage;
use super::workers::{Recipe, Worker, machine_us, product};

/// How many seconds lie between two times at which suppliers are handed in.
const SUBMIT_EVERY: u32 = 2;

/// How long the workers have for what is left once nothing is done to them any more.
const LAST_WORK: Duration = Duration::from_secs(120);

/// What is to be done at some time.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Strike,
    Submit,
    /// Start the worker again.
    Start(usize),
    /// Let the worker go on.
    Continue(usize),
    /// Let everything through again, after a cut or without one.
    Heal(usize, bool),
    /// The worker may be chosen again.
    Rest(usize),
}

/// How it is to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Script {
    pub(super) lasts: Duration,
    /// How many faults are wanted in that time.
    pub(super) faults: u32,
    /// Suppliers for each second.
    pub(super) rate: u32,
    pub(super) ttl: Duration,
}

/// A run under way.
pub(super) struct Show<'s> {
    pub(super) stage: &'s mut Stage,
    pub(super) recipe: &'s Recipe,
    pub(super) workers: Vec<Worker>,
    pub(super) kinds: &'static [(Kind, u32)],
    pub(super) script: Script,
    random: Rng,
    began: Instant,
    due: Vec<(Instant, Deed)>,
    last: BTreeMap<Kind, Instant>,
    /// Programs under way, each with the place of its fault.
    beside: Vec<(Child, usize)>,
    ahead_ms: i64,
    intake: Intake,
    pub(super) faults: Vec<Fault>,
    pub(super) lives: Vec<Life>,
    /// Ends that a worker must not have.
    pub(super) odd_ends: Vec<String>,
}

impl<'s> Show<'s> {
    pub(super) fn new(
        stage: &'s mut Stage,
        recipe: &'s Recipe,
        workers: Vec<Worker>,
        kinds: &'static [(Kind, u32)],
        script: Script,
        seed: u64,
    ) -> Self {
        Self {
            stage,
            recipe,
            workers,
            kinds,
            script,
            random: Rng::with_seed(seed),
            began: Instant::now(),
            due: Vec::new(),
            last: BTreeMap::new(),
            beside: Vec::new(),
            ahead_ms: 0,
            intake: Intake::default(),
            faults: Vec::new(),
            lives: Vec::new(),
            odd_ends: Vec::new(),
        }
    }

    /// Runs it to its end. How many suppliers were handed in.
    pub(super) fn run(&mut self) -> Result<u32, Failure> {
        let recipe = self.recipe;
        self.began = Instant::now();
        for worker in &mut self.workers {
            worker.start(recipe)?;
        }
        self.at(Duration::ZERO, Deed::Submit);
        self.at(Duration::from_secs(1), Deed::Strike);
        while self.began.elapsed() < self.script.lasts {
            self.reap()?;
            let now = Instant::now();
            if let Some(next) =
                (0..self.due.len()).filter(|at| self.due[*at].0 <= now).min_by_key(|at| self.due[*at].0)
            {
                let (_, deed) = self.due.swap_remove(next);
                self.act(deed)?;
            } else {
                thread::sleep(Duration::from_millis(5));
            }
        }
        self.finish()?;
        Ok(self.intake.taken())
    }

    fn at(&mut self, after: Duration, deed: Deed) {
        self.due.push((Instant::now() + after, deed));
    }

    fn act(&mut self, deed: Deed) -> Result<(), Failure> {
        match deed {
            Deed::Strike => {
                let gap = faults::millis(&mut self.random, 20, 200);
                if self.is_behind() {
                    self.strike()?;
                }
                self.at(gap, Deed::Strike);
            }
            Deed::Submit => {
                let count = self.script.rate * SUBMIT_EVERY;
                self.intake.hand_in(self.recipe, &self.stage.url(), count)?;
                self.at(Duration::from_secs(u64::from(SUBMIT_EVERY)), Deed::Submit);
            }
            Deed::Start(worker) => self.workers[worker].start(self.recipe)?,
            Deed::Continue(worker) => self.workers[worker].signal(Signal::CONT),
            Deed::Heal(worker, cut) => {
                if let Some(link) = &self.workers[worker].link {
                    link.heal();
                    if cut {
                        link.cut();
                    }
                }
            }
            Deed::Rest(worker) => {
                self.workers[worker].occupied = false;
                // It has lasted until now, whatever was planned.
                let of_worker = |fault: &&mut Fault| fault.worker == Some(worker);
                if let Some(fault) = self.faults.iter_mut().rev().find(of_worker) {
                    fault.to_us = fault.to_us.max(machine_us());
                }
            }
        }
        Ok(())
    }

    /// Whether fewer faults have come than should have by now.
    fn is_behind(&self) -> bool {
        let wanted = f64::from(self.script.faults) * self.began.elapsed().as_secs_f64()
            / self.script.lasts.as_secs_f64();
        f64::from(u32::try_from(self.faults.len()).unwrap_or(u32::MAX)) < wanted
    }

    fn note(&mut self, kind: Kind, worker: Option<usize>, from_us: Micros, lasts: Duration) {
        let pid = worker.and_then(|worker| self.workers[worker].pid());
        let to_us = machine_us().max(from_us) + i64::try_from(lasts.as_micros()).unwrap_or(i64::MAX);
        self.faults.push(Fault { kind: kind.name().to_owned(), worker, pid, from_us, to_us });
    }

    fn strike(&mut self) -> Result<(), Failure> {
        let Some(kind) = faults::choose(&mut self.random, self.kinds) else { return Ok(()) };
        let now = Instant::now();
        if self.last.get(&kind).is_some_and(|last| now.duration_since(*last) < kind.spacing()) {
            return self.strike();
        }
        if kind.is_for_one() {
            let free: Vec<usize> = self
                .workers
                .iter()
                .filter(|worker| !worker.occupied && worker.pid().is_some())
                .map(|worker| worker.index)
                .collect();
            // Somebody has to be left for the work.
            if free.len() > 1 {
                let worker = free[self.random.usize(0..free.len())];
                self.strike_one(kind, worker);
            }
            return Ok(());
        }
        self.last.insert(kind, now);
        self.strike_all(kind)
    }

    fn strike_one(&mut self, kind: Kind, worker: usize) {
        let from = machine_us();
        let ttl = u64::try_from(self.script.ttl.as_millis()).unwrap_or(u64::MAX);
        let random = &mut self.random;
        let link = self.workers[worker].link.clone();
        let flow = |way, flow| {
            if let Some(link) = &link {
                link.set(way, flow);
            }
        };
        let either = if random.bool() { Way::Up } else { Way::Down };
        let (lasts, then) = match kind {
            Kind::Kill => {
                let lasts = faults::millis(random, 100, 1_500);
                self.workers[worker].signal(Signal::KILL);
                (lasts, Deed::Start(worker))
            }
            Kind::Stop => {
                let lasts = faults::millis(random, ttl + 300, ttl + 2_000);
                self.workers[worker].signal(Signal::STOP);
                (lasts, Deed::Continue(worker))
            }
            Kind::Cut => {
                if let Some(link) = &link {
                    link.cut();
                }
                (Duration::from_millis(10), Deed::Rest(worker))
            }
            Kind::Delay => {
                let late = faults::millis(random, 30, 700);
                flow(Way::Up, Flow::Delayed(late));
                flow(Way::Down, Flow::Delayed(late));
                (faults::millis(random, 500, 2_500), Deed::Heal(worker, false))
            }
            Kind::Drop => {
                flow(either, Flow::Swallowed);
                (faults::millis(random, 200, 1_200), Deed::Heal(worker, true))
            }
            Kind::HoleUp => {
                flow(Way::Up, Flow::Held);
                (faults::millis(random, 300, ttl + 1_500), Deed::Heal(worker, random.bool()))
            }
            Kind::HoleDown => {
                flow(Way::Down, Flow::Held);
                (faults::millis(random, 300, ttl + 1_500), Deed::Heal(worker, random.bool()))
            }
            Kind::Terminate | Kind::Crash | Kind::Clock | Kind::Migrate | Kind::Busy | Kind::Checkpoint => {
                return;
            }
        };
        self.workers[worker].occupied = true;
        self.note(kind, Some(worker), from, lasts);
        self.at(lasts, then);
        self.at(lasts + Duration::from_millis(50), Deed::Rest(worker));
    }

    fn strike_all(&mut self, kind: Kind) -> Result<(), Failure> {
        let from = machine_us();
        match kind {
            Kind::Terminate => {
                // About a third of the workers' sessions.
                let third = self.random.u32(0..3);
                self.stage.script(&format!(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'chaos'
                     AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND pid % 3 = {third};"
                ))?;
            }
            Kind::Crash => {
                let Stage::Postgres(postgres) = &mut *self.stage else { return Ok(()) };
                postgres.server.crash()?;
                thread::sleep(faults::millis(&mut self.random, 0, 700));
                postgres.server.restart()?;
            }
            Kind::Clock => {
                let Stage::Postgres(postgres) = &*self.stage else { return Ok(()) };
                // Back towards the machine's time when it is far off.
                let step = i64::from(self.random.u32(500..6_000));
                let forward =
                    if self.ahead_ms.abs() > 10_000 { self.ahead_ms < 0 } else { self.random.bool() };
                self.ahead_ms += if forward { step } else { -step };
                postgres.move_clock(self.ahead_ms)?;
                // A clock that was set back leaves leases and due times in its future for so long.
                let lasts = if forward { Duration::ZERO } else { Duration::from_millis(step.unsigned_abs()) };
                self.note(kind, None, from, lasts);
                return Ok(());
            }
            Kind::Migrate => {
                let mut migrate = product(&self.recipe.program, &self.stage.url());
                return self.run_beside(kind, migrate.arg("migrate"));
            }
            Kind::Busy | Kind::Checkpoint => {
                let Stage::Sqlite { file } = &*self.stage else { return Ok(()) };
                // The lock may have to be waited for, as long as a stopped worker has it.
                let mut sqlite3 = Command::new("sqlite3");
                sqlite3.args(["-batch", "-cmd", ".timeout 60000"]).arg(file).stdin(Stdio::null());
                if kind == Kind::Busy {
                    let lasts = faults::millis(&mut self.random, 200, 1_500).as_secs_f32();
                    sqlite3.args(["BEGIN IMMEDIATE;", &format!(".shell sleep {lasts}"), "COMMIT;"]);
                } else {
                    sqlite3.arg("PRAGMA wal_checkpoint(TRUNCATE);");
                }
                return self.run_beside(kind, &mut sqlite3);
            }
            Kind::Kill
            | Kind::Stop
            | Kind::Cut
            | Kind::Delay
            | Kind::Drop
            | Kind::HoleUp
            | Kind::HoleDown => {}
        }
        self.note(kind, None, from, Duration::ZERO);
        Ok(())
    }

    /// Starts a program, with whose end the fault is over.
    fn run_beside(&mut self, kind: Kind, command: &mut Command) -> Result<(), Failure> {
        let child = spawned(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
        self.note(kind, None, machine_us(), Duration::ZERO);
        self.beside.push((child, self.faults.len() - 1));
        Ok(())
    }

    /// Starts workers anew that have ended.
    fn reap(&mut self) -> Result<(), Failure> {
        let mut again = Vec::new();
        for worker in &mut self.workers {
            let Some(ended) = worker.reap()? else { continue };
            // One that cannot reach the database at its start says so and ends.
            if !matches!(ended.code, None | Some(69)) {
                self.odd_ends.push(format!("worker {} ended with {:?}", worker.index, ended.code));
            }
            if ended.code.is_some() {
                again.push(worker.index);
            }
            self.lives.push(ended.life);
        }
        for worker in again {
            self.at(Duration::from_millis(300), Deed::Start(worker));
        }
        self.odd_ends.extend(self.intake.look()?);
        let faults = &mut self.faults;
        self.beside.retain_mut(|(child, fault)| {
            faults[*fault].to_us = machine_us();
            matches!(child.try_wait(), Ok(None))
        });
        Ok(())
    }

    /// Lets everything go on, waits until nothing is left to do, and stops the workers.
    fn finish(&mut self) -> Result<(), Failure> {
        let recipe = self.recipe;
        for worker in &mut self.workers {
            worker.signal(Signal::CONT);
            if let Some(link) = &worker.link {
                link.heal();
            }
        }
        let give_up = Instant::now() + LAST_WORK;
        while self.intake.is_under_way() && Instant::now() < give_up {
            self.odd_ends.extend(self.intake.look()?);
            thread::sleep(Duration::from_millis(20));
        }
        let open = match self.stage {
            Stage::Postgres(_) => "SELECT count(*) FROM lease.runs WHERE status = 'open';",
            Stage::Sqlite { .. } => "SELECT count(*) FROM lease_runs WHERE status = 'open';",
        };
        while Instant::now() < give_up && self.stage.script(open)?.trim() != "0" {
            self.reap()?;
            for worker in &mut self.workers {
                worker.start(recipe)?;
            }
            thread::sleep(Duration::from_millis(300));
        }
        for worker in &self.workers {
            worker.signal(Signal::TERM);
        }
        let give_up = Instant::now() + Duration::from_secs(40);
        while self.workers.iter().any(|worker| worker.pid().is_some()) {
            if Instant::now() >= give_up {
                for worker in self.workers.iter().filter(|worker| worker.pid().is_some()) {
                    self.odd_ends.push(format!("worker {} did not end when it was told to", worker.index));
                    worker.signal(Signal::KILL);
                }
            }
            for worker in &mut self.workers {
                if let Some(ended) = worker.reap()? {
                    if !matches!(ended.code, Some(0 | 69)) {
                        self.odd_ends.push(format!("worker {} ended with {:?}", worker.index, ended.code));
                    }
                    self.lives.push(ended.life);
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
        for (child, _) in &mut self.beside {
            child.wait().map_err(Failure::system("cannot wait for a program"))?;
        }
        Ok(())
    }

    /// Where a file of this run lies.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.recipe.folder.join(name)
    }
}

fn spawned(command: &mut Command) -> Result<Child, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.spawn().map_err(|source| Failure::Run { program, source })
}
