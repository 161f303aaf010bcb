//! Many histories, and the shortest that differs.

use std::future::Future as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use super::{compare, compare_counting};
use crate::conformance::Harness;

/// How many histories, from which seed on, and how long each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dose {
    /// How many.
    pub histories: u64,
    /// The first seed; the others follow it.
    pub seed: u64,
    /// How many steps each has at the most.
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
}

/// Sends random histories, each to a store that `fresh` gives. Where one ends
/// in a difference, looks for a shorter one with the same end among the seeds that follow.
///
/// # Panics
/// Where they differ, with the shortest history found.
pub async fn compare_many<F, H>(fresh: F, dose: Dose)
where
    F: AsyncFn() -> H,
    H: AsRef<dyn Harness>,
{
    let Dose { histories, seed: first, steps } = dose;
    for seed in first..first.saturating_add(histories) {
        let Some(failed_at) = fails_at(&fresh, seed, steps).await else { continue };
        let (mut shortest, mut its_seed) = (failed_at, seed);
        for other in seed + 1..=seed.saturating_add(SHORTER_AMONG) {
            if let Some(step) = fails_at(&fresh, other, shortest.saturating_sub(1)).await {
                (shortest, its_seed) = (step, other);
            }
        }
        println!(
            "the shortest history found has {shortest} steps: LEASE_SEED={its_seed} LEASE_STEPS={shortest}"
        );
        compare(fresh().await.as_ref(), its_seed, shortest).await;
        panic!(
            "seed {its_seed} ended in a difference once, and not again: a race, or time that is not the test's"
        );
    }
}

/// Among how many further seeds a shorter history is looked for.
const SHORTER_AMONG: u64 = 200;

/// The step at which a history ends in a difference; `None` if it does not.
async fn fails_at<F, H>(fresh: &F, seed: u64, steps: usize) -> Option<usize>
where
    F: AsyncFn() -> H,
    H: AsRef<dyn Harness>,
{
    let harness = fresh().await;
    let done = AtomicUsize::new(0);
    let mut history = Box::pin(compare_counting(harness.as_ref(), seed, steps, &done));
    let ended = std::future::poll_fn(|context| {
        // A difference is a panic, and a history that panicked is not looked at again.
        match catch_unwind(AssertUnwindSafe(|| history.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => Poll::Ready(true),
            Err(_) => Poll::Ready(false),
        }
    });
    if ended.await { None } else { Some(done.load(Ordering::Relaxed) + 1) }
}
