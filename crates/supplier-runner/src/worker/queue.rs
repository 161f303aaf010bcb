//! Which runs a worker takes, and where the ones it was asked for stand.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use lease_core::{ClaimVerdict, Ending, LostReason, Moment, RunId};

use super::job::JobEnd;
use super::report::RunStand;

/// Which runs a worker takes, and when it ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Take {
    /// Any run of a known plan; never ends by itself.
    Any,
    /// Any run of a known plan; ends when none is open.
    UntilNoneIsOpen,
    /// This run; ends with it, or when its lease is lost.
    Only(RunId),
    /// These runs; ends when none of them can go further here. A run in other hands is waited for.
    AsFarAsPossible(Vec<RunId>),
}

/// The runs that were asked for.
#[derive(Debug)]
pub(super) struct Queue {
    asked: Vec<Asked>,
    places: HashMap<RunId, usize>,
    /// Those to be claimed, by when and by their place.
    waiting: BTreeSet<(Moment, usize)>,
    in_hand: usize,
    /// How many of those waiting can go on without a person.
    hopeful: usize,
    poll: Duration,
    only: bool,
}

#[derive(Debug)]
struct Asked {
    run: RunId,
    state: State,
    stand: RunStand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// To be claimed at this instant.
    At(Moment),
    /// Being worked on here.
    InHand,
    /// Waits for a person or for a worker with another plan; to be looked at again at this instant.
    Stuck(Moment),
    /// Nothing more to do.
    Over,
}

impl Queue {
    /// `only`: a single run that is waited for even while a person has to act, until it ends or is
    /// lost here.
    pub(super) fn new(runs: &[RunId], only: bool, poll: Duration, now: Moment) -> Self {
        let mut queue = Self {
            asked: Vec::new(),
            places: HashMap::new(),
            waiting: BTreeSet::new(),
            in_hand: 0,
            hopeful: 0,
            poll,
            only,
        };
        for &run in runs {
            if !queue.places.contains_key(&run) {
                let place = queue.asked.len();
                queue.places.insert(run, place);
                queue.asked.push(Asked { run, state: State::Over, stand: RunStand::Unfinished });
                queue.set(run, State::At(now), RunStand::Unfinished);
            }
        }
        queue
    }

    /// The next run to be claimed at `now`; it counts as in hand until its claim is answered.
    pub(super) fn next(&mut self, now: Moment) -> Option<RunId> {
        let &(instant, place) = self.waiting.first()?;
        if instant > now {
            return None;
        }
        let run = self.asked[place].run;
        let stand = self.asked[place].stand.clone();
        self.set(run, State::InHand, stand);
        Some(run)
    }

    /// When the next run is to be looked at.
    pub(super) fn next_look(&self) -> Option<Moment> {
        self.waiting.first().map(|(instant, _)| *instant)
    }

    /// Whether none of the runs can go further here.
    pub(super) fn is_finished(&self) -> bool {
        let nothing_waits = if self.only { self.waiting.is_empty() } else { self.hopeful == 0 };
        nothing_waits && self.in_hand == 0
    }

    /// A claim was refused.
    pub(super) fn refused(&mut self, run: RunId, verdict: &ClaimVerdict, now: Moment) {
        let soon = |wait: Duration| State::At(now.plus(wait.min(self.poll)));
        let stuck = State::Stuck(now.plus(self.poll));
        let (state, stand) = match verdict {
            ClaimVerdict::Granted(_) => (State::InHand, RunStand::Unfinished),
            ClaimVerdict::Busy { remaining, .. } => (soon(*remaining), RunStand::Unfinished),
            ClaimVerdict::NotDue { due_in } => (soon(*due_in), RunStand::Unfinished),
            ClaimVerdict::Lapsed { .. } => (State::At(now), RunStand::Unfinished),
            ClaimVerdict::Waiting { phase } => (stuck, RunStand::Waiting(phase.clone())),
            ClaimVerdict::Paused => (stuck, RunStand::Paused),
            ClaimVerdict::UnknownPlan(plan) => (stuck, RunStand::UnknownPlan(plan.clone())),
            ClaimVerdict::Finished(ending) => (State::Over, RunStand::Ended(*ending)),
            ClaimVerdict::SetAside(_) => (State::Over, RunStand::Ended(Ending::Failed)),
            ClaimVerdict::Gone => (State::Over, RunStand::Gone),
        };
        self.set(run, state, stand);
    }

    /// A claim got no answer, or cannot be made yet: to be tried again after `wait`.
    pub(super) fn later(&mut self, run: RunId, wait: Duration, now: Moment) {
        self.set(run, State::At(now.plus(wait)), RunStand::Unfinished);
    }

    /// A claim has ended.
    pub(super) fn ended(&mut self, run: RunId, end: &JobEnd, now: Moment) {
        let (state, stand) = match end {
            JobEnd::Completed => (State::Over, RunStand::Ended(Ending::Completed)),
            JobEnd::Failed => (State::Over, RunStand::Ended(Ending::Failed)),
            JobEnd::Lost(why) if self.only => (State::Over, stand_after(why)),
            JobEnd::Broken if self.only => (State::Over, RunStand::Unfinished),
            // The next claim, if there is one, tells how the run stands by then.
            JobEnd::Lost(why) => (State::At(now), stand_after(why)),
            JobEnd::Waiting(phase) => (State::At(now), RunStand::Waiting(phase.clone())),
            JobEnd::Released | JobEnd::Broken | JobEnd::Dropped => (State::At(now), RunStand::Unfinished),
        };
        self.set(run, state, stand);
    }

    /// Looks at everything that waits for a person now: something may have changed.
    pub(super) fn look_again(&mut self, now: Moment) {
        let stuck: Vec<RunId> = self
            .asked
            .iter()
            .filter(|asked| matches!(asked.state, State::Stuck(instant) if instant > now))
            .map(|asked| asked.run)
            .collect();
        for run in stuck {
            let stand = self.asked[self.places[&run]].stand.clone();
            self.set(run, State::Stuck(now), stand);
        }
    }

    /// Where the runs stand.
    pub(super) fn stands(self) -> Vec<(RunId, RunStand)> {
        self.asked.into_iter().map(|asked| (asked.run, asked.stand)).collect()
    }

    fn set(&mut self, run: RunId, state: State, stand: RunStand) {
        let Some(&place) = self.places.get(&run) else { return };
        match self.asked[place].state {
            State::At(instant) => {
                self.waiting.remove(&(instant, place));
                self.hopeful -= 1;
            }
            State::Stuck(instant) => {
                self.waiting.remove(&(instant, place));
            }
            State::InHand => self.in_hand -= 1,
            State::Over => {}
        }
        match state {
            State::At(instant) => {
                self.waiting.insert((instant, place));
                self.hopeful += 1;
            }
            State::Stuck(instant) => {
                self.waiting.insert((instant, place));
            }
            State::InHand => self.in_hand += 1,
            State::Over => {}
        }
        let asked = &mut self.asked[place];
        (asked.state, asked.stand) = (state, stand);
    }
}

/// Where a run stands whose lease was lost, as far as the reason tells.
fn stand_after(why: &LostReason) -> RunStand {
    match why {
        LostReason::Finished(ending) => RunStand::Ended(*ending),
        LostReason::Gone => RunStand::Gone,
        LostReason::Superseded { .. }
        | LostReason::Revoked
        | LostReason::Released
        | LostReason::Expired { .. }
        | LostReason::Forgotten { .. }
        | LostReason::PhaseConflict { .. }
        | LostReason::ReceiptConflict
        | LostReason::Unconfirmed
        | LostReason::StoreFailed { .. } => RunStand::Unfinished,
    }
}

#[cfg(test)]
mod tests {
    use super::super::new_run_id;
    use super::*;

    const POLL: Duration = Duration::from_secs(5);

    fn at(seconds: u64) -> Moment {
        Moment::from_start(Duration::from_secs(seconds))
    }

    #[test]
    fn a_run_in_other_hands_is_waited_for_and_one_that_waits_for_a_person_is_not() {
        let (busy, waiting) = (new_run_id(), new_run_id());
        let mut queue = Queue::new(&[busy, waiting, busy], false, POLL, at(0));
        assert_eq!(
            (queue.next(at(0)), queue.next(at(0)), queue.next(at(0))),
            (Some(busy), Some(waiting), None)
        );
        queue.refused(waiting, &ClaimVerdict::Paused, at(0));
        queue.refused(busy, &ClaimVerdict::NotDue { due_in: Duration::from_secs(2) }, at(0));
        assert_eq!((queue.is_finished(), queue.next_look()), (false, Some(at(2))));
        assert_eq!(queue.next(at(2)), Some(busy));
        queue.ended(busy, &JobEnd::Completed, at(3));
        assert!(queue.is_finished());
        let completed = RunStand::Ended(Ending::Completed);
        assert_eq!(queue.stands(), vec![(busy, completed), (waiting, RunStand::Paused)]);
    }

    #[test]
    fn a_single_run_is_waited_for_until_it_ends_or_is_lost() {
        let run = new_run_id();
        let mut queue = Queue::new(&[run], true, POLL, at(0));
        assert_eq!(queue.next(at(0)), Some(run));
        queue.refused(run, &ClaimVerdict::Paused, at(0));
        assert!(!queue.is_finished());
        queue.look_again(at(1));
        assert_eq!(queue.next(at(1)), Some(run));
        queue.ended(run, &JobEnd::Lost(LostReason::Finished(Ending::Cancelled)), at(2));
        assert!(queue.is_finished());
        assert_eq!(queue.stands(), vec![(run, RunStand::Ended(Ending::Cancelled))]);
    }

    #[test]
    fn a_lost_run_among_many_is_asked_for_again() {
        let run = new_run_id();
        let mut queue = Queue::new(&[run], false, POLL, at(0));
        assert_eq!(queue.next(at(0)), Some(run));
        queue.ended(run, &JobEnd::Lost(LostReason::Revoked), at(2));
        assert_eq!((queue.is_finished(), queue.next(at(2))), (false, Some(run)));
    }
}
