//! Many histories, on as many lanes as one likes, and the shortest that differs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::draw::Draw;
use super::levers::Levers;
use super::pair::{Difference, Pair, granted};
use super::request::Answer;
use super::step::Step;

/// How many histories, from which seed on, and how long each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dose {
    /// How many.
    pub histories: u64,
    /// The first seed; the others follow it.
    pub seed: u64,
    /// How many steps each has.
    pub steps: usize,
}

impl Dose {
    /// This one, with what `LEASE_HISTORIES`, `LEASE_SEED` and `LEASE_STEPS` say in its place. A seed alone
    /// means that history alone.
    ///
    /// # Panics
    /// Where one of them is no number.
    #[must_use]
    pub fn or_from_environment(self) -> Self {
        let number = |name: &str| -> Option<u64> {
            let text = std::env::var(name).ok()?;
            Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text}, which is no number")))
        };
        let seed = number("LEASE_SEED");
        let histories = number("LEASE_HISTORIES").or(seed.map(|_| 1)).unwrap_or(self.histories);
        let steps = number("LEASE_STEPS").and_then(|steps| usize::try_from(steps).ok());
        Self { histories, seed: seed.unwrap_or(self.seed), steps: steps.unwrap_or(self.steps) }
    }

    /// How many lanes are worth their stores: a few for a small dose.
    #[must_use]
    pub fn lanes(&self) -> u64 {
        (self.histories / 4).clamp(1, 4)
    }
}

/// A dose that several lanes share, each with a store of its own.
#[derive(Debug)]
pub struct Search {
    dose: Dose,
    /// How many histories were begun.
    begun: AtomicU64,
    found: Mutex<Option<Found>>,
}

/// A history that ended in a difference.
#[derive(Debug)]
struct Found {
    seed: u64,
    steps: usize,
    failed: Failed,
}

/// The steps up to the one that ended in a difference, and what was answered before it.
#[derive(Debug)]
struct Failed {
    steps: Vec<Step>,
    answers: Vec<Vec<Answer>>,
    difference: Difference,
}

/// Every so many histories a line says how far it is.
const LINE_EVERY: u64 = 1_000;

/// How many histories are tried at the most to make one shorter.
const TRIES: usize = 500;

impl Search {
    /// Nothing of this dose is done yet.
    #[must_use]
    pub fn new(dose: Dose) -> Self {
        Self { dose, begun: AtomicU64::new(0), found: Mutex::new(None) }
    }

    /// Takes one history after the other, until none is left or one ended in a difference; that one is
    /// made as short as it can be.
    pub async fn lane(&self, levers: &dyn Levers) {
        while self.found.lock().expect("nothing panics while it holds it").is_none() {
            let number = self.begun.fetch_add(1, Ordering::Relaxed);
            if number >= self.dose.histories {
                return;
            }
            if number > 0 && number.is_multiple_of(LINE_EVERY) {
                println!("{number} histories");
            }
            let seed = self.dose.seed.wrapping_add(number);
            if let Err(failed) = random(levers, seed, self.dose.steps).await {
                let steps = failed.steps.len();
                let failed = shortest(levers, failed).await;
                let found = Found { seed, steps, failed };
                let mut first = self.found.lock().expect("nothing panics while it holds it");
                *first = first.take().or(Some(found));
            }
        }
    }

    /// The history that ended in a difference, in words, if a lane found one.
    ///
    /// # Panics
    /// Where a lane panicked.
    #[must_use]
    pub fn difference(self) -> Option<String> {
        let Found { seed, steps, failed } = self.found.into_inner().expect("no lane panicked")?;
        let mut told = format!(
            "LEASE_SEED={seed} LEASE_STEPS={steps} ends in a difference, and so do these of its steps:"
        );
        let answers = failed.answers.iter().map(Some).chain(std::iter::repeat(None));
        for (step, answers) in failed.steps.iter().zip(answers) {
            told += &format!("\n  {step:?}");
            for answer in answers.into_iter().flatten() {
                told += &format!("\n    {answer:?}");
            }
        }
        Some(format!("{told}\n{}", failed.difference))
    }

    /// Ends the search.
    ///
    /// # Panics
    /// Where a lane found a difference, with the history.
    pub fn end(self) {
        if let Some(told) = self.difference() {
            panic!("{told}");
        }
    }
}

/// A history from a seed.
async fn random(levers: &dyn Levers, seed: u64, count: usize) -> Result<(), Failed> {
    let mut pair = Pair::new(levers).await;
    let fake = pair.fake.clone();
    let mut draw = Draw::new(seed, &fake, levers);
    let (mut steps, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..count {
        steps.push(draw.step());
        match pair.take(&steps[steps.len() - 1]).await {
            Ok(all) => {
                draw.granted(granted(&all));
                answers.push(all);
            }
            Err(difference) => return Err(Failed { steps, answers, difference }),
        }
    }
    pair.compare_ports().await.map_err(|difference| Failed { steps, answers, difference })
}

/// These steps again, from the start.
async fn again(levers: &dyn Levers, steps: &[Step]) -> Result<(), Failed> {
    let mut pair = Pair::new(levers).await;
    let mut answers = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        match pair.take(step).await {
            Ok(all) => answers.push(all),
            Err(difference) => {
                return Err(Failed { steps: steps[..=place].to_vec(), answers, difference });
            }
        }
    }
    let ended = pair.compare_ports().await;
    ended.map_err(|difference| Failed { steps: steps.to_vec(), answers, difference })
}

/// The shortest history that is found by leaving out steps, many at once first, and by making single
/// steps simpler.
async fn shortest(levers: &dyn Levers, mut failed: Failed) -> Failed {
    let mut tries = 0;
    let mut chunk = failed.steps.len().div_ceil(2).max(1);
    loop {
        let mut shorter = None;
        for candidate in candidates(&failed.steps, chunk) {
            tries += 1;
            if tries > TRIES {
                return failed;
            }
            if let Err(found) = again(levers, &candidate).await {
                shorter = Some(found);
                break;
            }
        }
        match shorter {
            Some(found) => failed = found,
            None if chunk == 1 => return failed,
            None => chunk /= 2,
        }
        chunk = chunk.min(failed.steps.len()).max(1);
    }
}

/// Histories that are simpler than this one: without so many steps in a row or, once that is one, with
/// one of them simpler.
fn candidates(steps: &[Step], chunk: usize) -> Vec<Vec<Step>> {
    let mut candidates: Vec<Vec<Step>> = Vec::new();
    for from in (0..steps.len()).step_by(chunk) {
        let to = (from + chunk).min(steps.len());
        candidates.push([&steps[..from], &steps[to..]].concat());
    }
    if chunk == 1 {
        for (place, step) in steps.iter().enumerate() {
            candidates.extend(step.simpler().into_iter().map(|simpler| {
                let mut steps = steps.to_vec();
                steps[place] = simpler;
                steps
            }));
        }
    }
    candidates
}
