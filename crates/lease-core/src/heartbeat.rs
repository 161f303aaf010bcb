//! When to renew, as a pure decision.
//!
//! Keeps SELF-STOP: at the local deadline the only decision is to stop, and the deadline counts
//! from when the last confirmed request was sent (the idea is River's leader election: trust the
//! term from before the request left, not from when the answer came).
//!
//! A worker's leases beat together: a beat falls on a multiple of the interval by the worker's
//! clock, so that many leases can be renewed in one statement. Beats that could not be sent are not
//! made up for: however late it is, the next decision is one renewal.

use std::time::Duration;

use crate::clock::Moment;
use crate::settings::LeaseSettings;

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Beat {
    /// Nothing until then; then ask again.
    SleepUntil(Moment),
    /// Renew, and give this try up at `answer_by`.
    Renew {
        /// An interval from now, at most the local deadline.
        answer_by: Moment,
    },
    /// The local deadline has come: end the work.
    Stop,
}

/// The heartbeat of one lease.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    settings: LeaseSettings,
    deadline: Moment,
    next: Moment,
}

impl Heartbeat {
    /// The heartbeat of a lease with this local deadline; the first renewal is due at once.
    #[must_use]
    pub fn new(settings: LeaseSettings, deadline: Moment, now: Moment) -> Self {
        Self { settings, deadline, next: now }
    }

    /// What to do at `now`.
    pub fn decide(&self, now: Moment) -> Beat {
        if now >= self.deadline {
            Beat::Stop
        } else if now >= self.next {
            Beat::Renew { answer_by: now.plus(self.settings.heartbeat()).min(self.deadline) }
        } else {
            Beat::SleepUntil(self.next.min(self.deadline))
        }
    }

    /// A renewal that was sent at `sent_at` was confirmed.
    pub fn confirmed(&mut self, sent_at: Moment) {
        self.deadline = self.deadline.max(sent_at.plus(self.settings.trusted()));
        self.next = next_multiple(sent_at, self.settings.heartbeat());
    }

    /// A renewal got no verdict: the next try comes soon after `now`.
    pub fn unanswered(&mut self, now: Moment) {
        self.next = now.plus(self.settings.retry_pause());
    }

    /// The next renewal is due at `now`, whatever the interval says: the one right before a save.
    pub fn renew_at(&mut self, now: Moment) {
        self.next = now;
    }

    /// The local deadline.
    #[must_use]
    pub fn deadline(&self) -> Moment {
        self.deadline
    }
}

/// The first multiple of `interval` after `sent_at`.
fn next_multiple(sent_at: Moment, interval: Duration) -> Moment {
    let since_start = sent_at.since_start().as_nanos();
    let width = interval.as_nanos().max(1);
    let into = u64::try_from(since_start % width).unwrap_or(0);
    sent_at.plus(interval.saturating_sub(Duration::from_nanos(into)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Ttl;

    fn at(seconds: u64) -> Moment {
        Moment::from_start(Duration::from_secs(seconds))
    }

    /// TTL 60 s, a beat every 20 s, 6 s of margin.
    fn heartbeat(sent_at: u64) -> Heartbeat {
        let second = Duration::from_secs(1);
        let settings = LeaseSettings::new(Ttl::new(second * 60).unwrap(), second * 20, second * 6).unwrap();
        Heartbeat::new(settings, at(sent_at).plus(settings.trusted()), at(sent_at))
    }

    #[test]
    fn the_first_renewal_is_due_at_once_and_the_next_ones_at_every_interval() {
        let mut beat = heartbeat(100);
        assert_eq!(beat.decide(at(100)), Beat::Renew { answer_by: at(120) });
        beat.confirmed(at(100));
        assert_eq!(beat.decide(at(101)), Beat::SleepUntil(at(120)));
        assert_eq!(beat.decide(at(120)), Beat::Renew { answer_by: at(140) });
    }

    #[test]
    fn leases_claimed_at_different_times_beat_together() {
        let (mut one, mut other) = (heartbeat(101), heartbeat(113));
        one.confirmed(at(101));
        other.confirmed(at(113));
        assert_eq!(one.decide(at(114)), Beat::SleepUntil(at(120)));
        assert_eq!(other.decide(at(114)), Beat::SleepUntil(at(120)));
    }

    #[test]
    fn self_stop_nothing_but_stopping_is_decided_from_the_deadline_on() {
        let mut beat = heartbeat(100);
        beat.confirmed(at(100));
        beat.unanswered(at(153));
        assert_eq!(beat.decide(at(153)), Beat::SleepUntil(at(154)));
        assert_eq!(beat.decide(at(154)), Beat::Stop);
        assert_eq!(beat.decide(at(1_000)), Beat::Stop);
    }

    #[test]
    fn self_stop_the_deadline_counts_from_sending_and_a_try_ends_with_it() {
        let mut beat = heartbeat(100);
        beat.confirmed(at(110));
        assert_eq!(beat.deadline(), at(164));
        assert_eq!(beat.decide(at(150)), Beat::Renew { answer_by: at(164) });
        beat.confirmed(at(105));
        assert_eq!(beat.deadline(), at(164));
    }

    /// Case 19.
    #[test]
    fn case_19_beats_that_could_not_be_sent_are_not_made_up_for() {
        let mut beat = heartbeat(100);
        beat.confirmed(at(100));
        beat.confirmed(at(140));
        assert_eq!(beat.decide(at(193)), Beat::Renew { answer_by: at(194) });
        beat.confirmed(at(193));
        assert_eq!(beat.decide(at(193)), Beat::SleepUntil(at(200)));
    }
}
