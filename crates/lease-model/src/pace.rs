//! LIVENESS with time limits: how long a free run waits for a claim, and how long it takes until it is
//! completed, as long as its workers keep up.
//!
//! Fairness is a budget. The clock goes on once every worker has done its part of the tick: an idle one
//! has asked for the run and was answered, one that holds it has got on by a phase, nobody has anything
//! else left to do, and nothing is under way. Everything else that can happen, a tick without that
//! included, is a trouble, and there are only [`Setting::troubles`] of them. So every history either
//! spends its troubles or keeps up, and "in the end" becomes a counter with a bound.
//!
//! [`Setting::troubles`]: crate::Setting::troubles

use std::sync::atomic::{AtomicU8, Ordering};

use crate::message::Request;
use crate::model::{Action, Doing, LeaseModel, State, Worker};
use crate::rules::PHASES;
use crate::setting::Setting;

/// How many ticks may end with a run that is free, though a worker asked for it: it became free after
/// that.
const CLAIMED_WITHIN: u8 = 1;

/// How many ticks after the last trouble the run is completed: a lease that nobody has runs out, and then
/// every phase takes a tick.
const COMPLETED_WITHIN: u8 = Setting::TTL + PHASES;

/// Where the counters stand. Without time limits they stay at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Pace {
    troubles_left: u8,
    /// A bit for each worker that has done its part of this tick.
    kept_up: u8,
    /// Ticks for which the run was free and asked for.
    unclaimed: u8,
    /// Ticks since the last trouble, while the run goes on.
    unfinished: u8,
}

/// The highest that the counters stood in an exploration.
#[derive(Debug, Default)]
pub(crate) struct Longest {
    unclaimed: AtomicU8,
    unfinished: AtomicU8,
}

impl Pace {
    const NONE: Self = Self { troubles_left: 0, kept_up: 0, unclaimed: 0, unfinished: 0 };

    pub(crate) fn new(setting: &Setting) -> Self {
        Self { troubles_left: setting.troubles.unwrap_or(0), ..Self::NONE }
    }

    pub(crate) fn is_claimed_in_time(self) -> bool {
        self.unclaimed <= CLAIMED_WITHIN
    }

    pub(crate) fn is_completed_in_time(self) -> bool {
        self.unfinished <= COMPLETED_WITHIN
    }

    fn has_kept_up(self, worker: usize) -> bool {
        self.kept_up & (1 << worker) != 0
    }
}

impl LeaseModel {
    /// Whether an exploration has come to the end of both time limits, and so has tried them.
    #[must_use]
    pub fn came_to_the_limits(&self) -> bool {
        let Longest { unclaimed, unfinished } = &self.longest;
        unclaimed.load(Ordering::Relaxed) == CLAIMED_WITHIN
            && unfinished.load(Ordering::Relaxed) == COMPLETED_WITHIN
    }

    /// The owner of the next claim, while there may be one. With time limits, workers ask every tick, and
    /// a claim that is refused uses nothing up.
    pub(crate) fn next_owner(&self, state: &State) -> Option<u8> {
        let used = match self.setting.troubles {
            None => state.claims_sent,
            Some(_) => state.tables.row.hold.fence(),
        };
        let owner = if self.setting.one_owner { 0 } else { used };
        (used < self.setting.claims).then_some(owner)
    }

    /// Whether the action is within the budget.
    pub(crate) fn may_happen(&self, state: &State, action: &Action) -> bool {
        self.setting.troubles.is_none() || state.pace.troubles_left > 0 || !is_trouble(state, action)
    }

    /// Counts what happened between two states.
    pub(crate) fn keep_time(&self, last: &State, action: &Action, next: &mut State) {
        if self.setting.troubles.is_none() {
            return;
        }
        let mut pace = last.pace;
        let trouble = is_trouble(last, action);
        if trouble {
            pace.troubles_left -= 1;
            pace.unfinished = 0;
        }
        match action {
            Action::Tick => {
                let mut workers = last.workers.iter().enumerate();
                let asked = workers.any(|(number, it)| it.doing == Doing::Idle && pace.has_kept_up(number));
                let free = last.witness.is_free(last.now);
                pace.unclaimed = (pace.unclaimed + u8::from(free && asked)).min(CLAIMED_WITHIN + 1);
                pace.unfinished = (pace.unfinished + u8::from(!trouble)).min(COMPLETED_WITHIN + 1);
                pace.kept_up = 0;
            }
            Action::Crash(worker) => pace.kept_up &= !(1 << worker),
            Action::Deliver(message) => {
                let number = usize::from(message.worker);
                let heard = last.workers[number].waits == Some((message.request, message.sent_at));
                let part = matches!(message.request, Request::Claim(_) | Request::Save(..));
                let goes_on = matches!(next.workers[number].doing, Doing::Idle | Doing::Holding(_));
                pace.kept_up |= u8::from(heard && part && goes_on) << number;
            }
            Action::Send(..)
            | Action::GiveUpWaiting(_)
            | Action::Stop(_)
            | Action::DeliverTwice(_)
            | Action::Lose(_)
            | Action::Cancel
            | Action::Revoke
            | Action::Restore => {}
        }
        if !next.witness.is_free(next.now) {
            pace.unclaimed = 0;
        }
        self.longest.unclaimed.fetch_max(pace.unclaimed, Ordering::Relaxed);
        next.pace = if next.witness.goes_on() { pace } else { Pace::NONE };
        self.longest.unfinished.fetch_max(next.pace.unfinished, Ordering::Relaxed);
    }
}

/// Whether the action is one that a worker, a network or an operator could have done without.
fn is_trouble(state: &State, action: &Action) -> bool {
    match action {
        Action::Tick => !all_keep_up(state),
        Action::Send(worker, Request::End(..)) => {
            matches!(state.workers[usize::from(*worker)].doing, Doing::Holding(_))
        }
        // Nobody can do better once the request is lost.
        Action::GiveUpWaiting(worker) => state.network.iter().any(|message| {
            let waits = state.workers[usize::from(*worker)].waits;
            message.worker == *worker && waits == Some((message.request, message.sent_at))
        }),
        Action::Send(..) | Action::Stop(_) | Action::Deliver(_) => false,
        Action::Crash(_)
        | Action::DeliverTwice(_)
        | Action::Lose(_)
        | Action::Cancel
        | Action::Revoke
        | Action::Restore => true,
    }
}

/// Whether every worker has done its part of this tick.
fn all_keep_up(state: &State) -> bool {
    let keeps_up = |(number, worker): (usize, &Worker)| {
        worker.waits.is_none()
            && matches!(worker.doing, Doing::Idle | Doing::Holding(_))
            && state.pace.has_kept_up(number)
    };
    !state.witness.goes_on() || (state.network.is_empty() && state.workers.iter().enumerate().all(keeps_up))
}
