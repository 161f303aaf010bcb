//! Several workers, a store and their clock, with faults, operators and misbehaving steps drawn from a
//! seed. Whatever happens, what the workers told has to be what the store kept.
//!
//! A failure names its seed; `LEASE_SEED=… cargo test` replays exactly that one, and `LEASE_HISTORIES=…`
//! takes more of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lease_core::{
    Action, Attempt, AttemptOutcome, Clock, Ending, FailureKind, FencingToken, LossLimit, Operator, RunId,
    Status, Who,
};
use lease_fake::differential::Dose;
use lease_fake::{Fault, Operation, Until};
use supplier_runner::step::StepEnd;
use supplier_runner::worker::{Event, EventKind, Events, Random, Take, WorkReport, WorkerSettings};

use crate::world::{AtWork, Call, SECOND, World, again, done};

const PHASES: [&str; 3] = ["a", "b", "c"];
const RUNS: usize = 3;

/// A small generator (xorshift64*): the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.roll(items.len() as u64)).unwrap()]
    }

    fn seconds(&mut self, most: u64) -> Duration {
        SECOND * u32::try_from(self.roll(most)).unwrap()
    }
}

/// Random parts from the seed: what one worker draws, all of them draw from.
struct Drawn(Mutex<Dice>);

impl Random for Drawn {
    fn next(&self) -> u128 {
        let mut dice = self.0.lock().unwrap();
        (0..4).fold(0, |number, _| (number << 31) | u128::from(dice.roll(1 << 31)))
    }
}

/// What one worker told.
#[derive(Default)]
struct Told(Mutex<Vec<Event>>);

impl Events for Told {
    fn emit(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// What a step does: drawn from the seed, the phase and the number, so that a replay does the same.
async fn step(seed: u64, call: Call) -> StepEnd {
    let letter = u64::from(call.phase.as_bytes()[0]);
    let mut dice = Dice::new(seed ^ (letter << 32) ^ (call.fence << 40));
    dice.roll(2);
    match dice.roll(16) {
        0 => again("not now"),
        1 => StepEnd::Failed { kind: FailureKind::STEP, message: "it does not work".to_owned() },
        // As a panic does, but without a word on standard error.
        2 => std::panic::resume_unwind(Box::new("a step that panics")),
        // Past its time limit, if nothing ends it before.
        3 => {
            call.take(SECOND * 2_000).await;
            done()
        }
        // To the very instants of renewals, deadlines and expiries.
        4..=8 => {
            call.take(SECOND * dice.pick(&[20, 40, 54, 60, 80])).await;
            done()
        }
        9 => {
            call.take(dice.seconds(200)).await;
            StepEnd::AwaitApproval
        }
        _ => {
            call.take(dice.seconds(30)).await;
            done()
        }
    }
}

fn fault(dice: &mut Dice, world: &World) -> Fault {
    let later =
        |dice: &mut Dice| Until::Worker(world.clock.clone(), world.clock.now().plus(dice.seconds(90)));
    match dice.roll(7) {
        0 => Fault::Unreachable,
        1 => Fault::NotApplied,
        2 => Fault::UnknownBefore,
        3 => Fault::UnknownAfter,
        4 => Fault::RequestDelayed(later(dice)),
        5 => Fault::AnswerDelayed(later(dice)),
        _ => Fault::RequestDelayed(Until::Never),
    }
}

async fn meddle(dice: &mut Dice, world: &World, runs: &[RunId]) {
    const OPERATIONS: [Operation; 9] = [
        Operation::ClaimNext,
        Operation::Renew,
        Operation::RenewMany,
        Operation::Standing,
        Operation::Save,
        Operation::Release,
        Operation::Fail,
        Operation::MarkBlocked,
        Operation::Read,
    ];
    let run = dice.pick(runs);
    match dice.roll(12) {
        0 => act(world, run, &Action::Pause).await,
        1 => act(world, run, &Action::Resume).await,
        2 if dice.roll(4) == 0 => act(world, run, &Action::Cancel).await,
        2 | 3 => {
            if let Some(fence) = world.stored(run).run.hold.fence() {
                act(world, run, &Action::Revoke { fence }).await;
            }
        }
        _ => {
            let times = usize::try_from(dice.roll(6)).unwrap() + 1;
            let operation = dice.pick(&OPERATIONS);
            for _ in 0..times {
                let fault = fault(dice, world);
                world.store.order(operation, &fault, 1);
            }
        }
    }
}

/// Whether it fits the run's state makes no difference here.
async fn act(world: &World, run: RunId, action: &Action) {
    let who = Who::new("kim", None).unwrap();
    let _verdict = world.store.act(run, action, &who).await.unwrap();
}

/// One history, from its seed alone. Everything that was told and kept, as text.
async fn simulate(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut world = World::new(&PHASES, move |call| step(seed, call));
    // Where something is still under way when time moves on, that is one more history.
    world.turns = 30;
    world.random = Arc::new(Drawn(Mutex::new(Dice::new(!seed))));
    let world = world;
    let mut runs = Vec::new();
    for number in 0..RUNS {
        let id = RunId::new(uuid::Uuid::from_u128(number as u128 + 1));
        runs.push(world.submit_as(id, &format!("K-{number}")).await);
    }
    let mut workers: Vec<(Arc<Told>, AtWork)> = Vec::new();
    let loss_limit = LossLimit::new(u32::try_from(dice.roll(3)).unwrap() + 1).unwrap();
    let start = |workers: &mut Vec<(Arc<Told>, AtWork)>| {
        let told = Arc::new(Told::default());
        let settings = WorkerSettings { loss_limit, ..world.settings() };
        let (clock, store, events) = (world.clock.clone(), world.store.clone(), Arc::clone(&told));
        let at_work = world.start_all(Take::UntilNoneIsOpen, settings, clock, store, events);
        workers.push((told, at_work));
    };
    for _ in 0..=dice.roll(2) {
        start(&mut workers);
    }
    for _ in 0..4 + dice.roll(8) {
        meddle(&mut dice, &world, &runs).await;
        for _ in 0..dice.roll(6) {
            world.settle().await;
            world.clock.advance_to_next_wake();
        }
        match dice.roll(10) {
            // One is told to stop, and another one comes.
            0 => {
                workers[0].1.stopper.drain();
                start(&mut workers);
            }
            // All of them stand still, past leases and deadlines: nobody is polled meanwhile.
            1 => world.clock.advance(dice.seconds(150)),
            _ => {}
        }
        check(seed, &world, &runs, &workers);
    }
    // The calm: everything that can go on does.
    world.store.no_more_faults();
    for &run in &runs {
        act(&world, run, &Action::Resume).await;
    }
    start(&mut workers);
    let mut reports = Vec::new();
    for (told, at_work) in workers {
        reports.push((told, world.end_of(at_work).await));
    }
    for &run in &runs {
        let stored = world.stored(run);
        assert!(stored.run.status != Status::Open, "seed {seed}: LIVENESS: {:?}", stored.run);
        let open = stored.attempts.iter().filter(|attempt| attempt.end.is_none()).count();
        assert_eq!(open, 0, "seed {seed}: TRUTH: attempts without an end: {:?}", stored.attempts);
    }
    let mut text = String::new();
    for (told, report) in &reports {
        let told = told.0.lock().unwrap();
        check_told(seed, &world, &told);
        check_report(seed, report, &told);
        text.push_str(&format!("{told:?}\n{:?}\n", (report.completed, report.failed)));
    }
    for &run in &runs {
        text.push_str(&format!("{:?}\n", world.stored(run)));
    }
    text
}

fn check(seed: u64, world: &World, runs: &[RunId], workers: &[(Arc<Told>, AtWork)]) {
    for &run in runs {
        check_kept(seed, world, run);
    }
    for (told, _) in workers {
        check_told(seed, world, &told.0.lock().unwrap());
    }
}

/// FENCE-UP, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING.
fn check_kept(seed: u64, world: &World, run: RunId) {
    let stored = world.stored(run);
    let fences: Vec<u64> = stored.attempts.iter().map(|attempt| attempt.fence.get()).collect();
    assert_eq!(fences, (1..=fences.len() as u64).collect::<Vec<_>>(), "seed {seed}: FENCE-UP");
    let saved: Vec<&str> = stored.receipts.iter().map(|receipt| receipt.phase.as_str()).collect();
    assert_eq!(saved, PHASES[..saved.len()], "seed {seed}: IN-ORDER, ONE-RECEIPT");
    assert!(stored.receipts.is_sorted_by_key(|receipt| receipt.fence), "seed {seed}: ONE-RECEIPT");
    let stands = saved.last().map_or("submitted", |phase| phase);
    assert_eq!(stored.run.phase.as_str(), stands, "seed {seed}: ALL-OR-NOTHING");
    let all = saved.len() == PHASES.len();
    assert_eq!(stored.run.status == Status::Completed, all, "seed {seed}: ALL-OR-NOTHING");
}

/// TRUTH, RESUME, BLOCKED-NOT-FAILED: each thing that was told is so in the store.
fn check_told(seed: u64, world: &World, told: &[Event]) {
    let mut ended: HashMap<(RunId, FencingToken), AttemptOutcome> = HashMap::new();
    for event in told {
        let stored = world.stored(event.run);
        let fence = event.fence;
        let attempt = fence.and_then(|fence| stored.attempts.iter().find(|attempt| attempt.fence == fence));
        match &event.kind {
            EventKind::Claimed { from } => {
                let attempt = attempt.expect("a claim has its attempt");
                assert_eq!(*from, attempt.from_phase, "seed {seed}: RESUME");
            }
            EventKind::PhaseSaved { phase } => {
                let receipt = stored.receipts.iter().find(|receipt| receipt.phase == *phase);
                let by = receipt.map(|receipt| receipt.fence);
                assert_eq!(by, fence, "seed {seed}: TRUTH: {phase} was told to be saved");
            }
            EventKind::AttemptEnded { outcome, reason, .. } => {
                let attempt = attempt.expect("an attempt that ended is there");
                assert!(
                    is_true(*outcome, attempt),
                    "seed {seed}: TRUTH: told {outcome}, {reason:?}: {attempt:?}"
                );
                let before = ended.insert((event.run, attempt.fence), *outcome);
                assert_eq!(before, None, "seed {seed}: TRUTH: it ended twice");
            }
            EventKind::RunEnded { ending, .. } => {
                let outcome = fence.and_then(|fence| ended.get(&(event.run, fence)));
                assert_ne!(outcome, Some(&AttemptOutcome::Blocked), "seed {seed}: BLOCKED-NOT-FAILED");
                if *ending == Ending::Completed {
                    assert_eq!(stored.run.phase.as_str(), "c", "seed {seed}: TRUTH");
                }
                // A run that was set aside has no attempt of its own.
                if let (Ending::Failed, Some(attempt)) = (ending, attempt) {
                    assert_eq!(attempt.outcome(), Some(AttemptOutcome::Failed), "seed {seed}: TRUTH");
                }
            }
            EventKind::StepStarted { .. } | EventKind::NotClaimed(_) => {}
        }
    }
}

/// Whether an attempt may be told to have ended so. A worker that gave up says blocked; that may not have
/// been written down yet, or its last request landed after that and is what the store keeps.
fn is_true(told: AttemptOutcome, attempt: &Attempt) -> bool {
    match (told, attempt.outcome()) {
        (AttemptOutcome::Blocked, None | Some(AttemptOutcome::Superseded)) => true,
        (AttemptOutcome::Blocked, Some(kept)) => {
            kept == AttemptOutcome::Blocked
                || kept.is_the_holders_own()
                || matches!(kept, AttemptOutcome::Cancelled | AttemptOutcome::Revoked)
        }
        (told, kept) => kept == Some(told),
    }
}

/// TRUTH: the report counts what was told.
fn check_report(seed: u64, report: &WorkReport, told: &[Event]) {
    let count =
        |counts: fn(&EventKind) -> bool| told.iter().filter(|event| counts(&event.kind)).count() as u64;
    let completed = count(|kind| matches!(kind, EventKind::RunEnded { ending: Ending::Completed, .. }));
    let failed = count(|kind| matches!(kind, EventKind::RunEnded { ending: Ending::Failed, .. }));
    let blocked =
        count(|kind| matches!(kind, EventKind::AttemptEnded { outcome: AttemptOutcome::Blocked, .. }));
    let lost: u64 = report.lost.values().sum();
    assert_eq!((report.completed, report.failed, lost), (completed, failed, blocked), "seed {seed}: TRUTH");
    assert_eq!(report.broken, 0, "seed {seed}: a job broke off");
}

/// FENCE-UP, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME, TRUTH, BLOCKED-NOT-FAILED, LIVENESS.
#[tokio::test]
async fn truth_what_workers_tell_is_what_the_store_keeps_whatever_goes_wrong() {
    let dose = Dose { histories: 10_000, seed: 1, steps: 0 }.or_from_environment();
    let began = std::time::Instant::now();
    for seed in dose.seed..dose.seed + dose.histories {
        println!("LEASE_SEED={seed}");
        let _text = simulate(seed).await;
    }
    println!("{} histories in {:.1} s", dose.histories, began.elapsed().as_secs_f64());
}

#[tokio::test]
async fn one_seed_replays_one_history_exactly() {
    for seed in 1..=50 {
        assert_eq!(simulate(seed).await, simulate(seed).await, "seed {seed}");
    }
}
