//! What came of a worker's time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lease_core::{Ending, PhaseName, PlanId, RunId, StoreError};

/// Where a run that was asked for stands when the worker ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStand {
    /// Not done, and it can go on: here later, or in another worker's hands.
    Unfinished,
    /// It has ended.
    Ended(Ending),
    /// It waits for an approval of this phase.
    Waiting(PhaseName),
    /// It is paused.
    Paused,
    /// Its plan is not one of this worker's.
    UnknownPlan(PlanId),
    /// There is no such run.
    Gone,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct WorkReport {
    /// Runs completed here.
    pub completed: u64,
    /// Runs failed here, those set aside included.
    pub failed: u64,
    /// The runs whose lease was lost here, with how often.
    pub lost: HashMap<RunId, u64>,
    /// The runs of those that were completed here all the same, by a later claim.
    pub recovered: HashSet<RunId>,
    /// Jobs that broke off over a bug; the leases of their runs ran out by themselves.
    pub broken: u64,
    /// Why the worker ended before it was done: the store refused its claims again and again.
    pub store_error: Option<Arc<StoreError>>,
    /// The runs that were asked for; empty for a worker that takes any.
    pub asked: Vec<(RunId, RunStand)>,
    /// Whether it was told to stop.
    pub stopped: bool,
    /// Whether it was stopped at once, with steps under way.
    pub stopped_now: bool,
}

impl WorkReport {
    /// Runs that were asked for and stand so.
    #[must_use]
    pub fn count(&self, stands: impl Fn(&RunStand) -> bool) -> usize {
        self.asked.iter().filter(|(_, stand)| stands(stand)).count()
    }

    /// Whether a lease was lost here, save on a run that was asked for and was completed since.
    #[must_use]
    pub fn lost_for_good(&self) -> bool {
        let completed = |run: &RunId| {
            self.asked
                .iter()
                .any(|(asked, stand)| asked == run && *stand == RunStand::Ended(Ending::Completed))
        };
        self.lost.keys().any(|run| !completed(run))
    }
}
