//! How often a step is tried, and how long to wait in between.
//!
//! Full jitter: the wait is drawn between zero and a bound that doubles with every failure, so that
//! many runs that failed together do not come back together. Source: Marc Brooker, "Exponential
//! Backoff And Jitter" (2015).

use std::time::Duration;

/// A phase's retry policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often the step is tried in all, the first time included.
    pub attempts: u32,
    /// The bound of the first wait.
    pub first: Duration,
    /// The bound that no wait goes beyond.
    pub longest: Duration,
}

impl RetryPolicy {
    /// How long to wait after a try that failed, when `failures_before` tries of the phase had failed
    /// before it. `random` is drawn from 0 (included) to 1 (excluded). `None` when no try is left.
    #[must_use]
    pub fn delay(&self, failures_before: u32, random: f64) -> Option<Duration> {
        if failures_before.saturating_add(1) >= self.attempts {
            return None;
        }
        let doubled = 2_u32.checked_pow(failures_before).unwrap_or(u32::MAX);
        let bound = self.first.saturating_mul(doubled).min(self.longest);
        Some(bound.mul_f64(random.clamp(0.0, 1.0)))
    }
}

impl Default for RetryPolicy {
    /// Five tries, waiting up to 1 s at first and up to 5 minutes at last.
    fn default() -> Self {
        Self { attempts: 5, first: Duration::from_secs(1), longest: Duration::from_secs(5 * 60) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_bound_doubles_up_to_the_longest_and_tries_run_out() {
        let policy = RetryPolicy { attempts: 6, first: SECOND, longest: SECOND * 5 };
        let waits: Vec<_> = (0..6).map(|failures| policy.delay(failures, 0.5)).collect();
        let half = |seconds: u32| Some(SECOND * seconds / 2);
        assert_eq!(waits, [half(1), half(2), half(4), half(5), half(5), None]);
    }

    #[test]
    fn the_wait_lies_anywhere_from_zero_to_the_bound() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.delay(3, 0.0), Some(Duration::ZERO));
        assert!(policy.delay(3, 0.999).unwrap() < SECOND * 8);
        assert_eq!(policy.delay(0, f64::NAN.max(2.0)), Some(SECOND));
    }

    #[test]
    fn numbers_at_their_top_do_not_overflow() {
        let policy = RetryPolicy { attempts: u32::MAX, first: Duration::MAX, longest: SECOND };
        assert_eq!(policy.delay(u32::MAX - 2, 1.0), Some(SECOND));
        assert_eq!(policy.delay(u32::MAX, 1.0), None);
    }

    #[test]
    fn one_attempt_means_no_retry() {
        let policy = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
        assert_eq!(policy.delay(0, 0.5), None);
    }
}
