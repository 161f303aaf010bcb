//! The worker's real clock: monotonic, and counting the time a machine was suspended.

use std::time::Duration;

use async_trait::async_trait;
use lease_core::{Clock, Moment};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_BOOTTIME` on Linux, which goes on while the machine sleeps; elsewhere the system's
/// monotonic clock, which may not. Setting the wall clock changes neither.
#[derive(Debug, Clone, Copy, Default)]
pub struct BootClock;

/// The longest single sleep. Timers of the executor stand still while the machine is suspended, so
/// a long one is cut into pieces after which the clock is looked at again.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

#[async_trait]
impl Clock for BootClock {
    fn now(&self) -> Moment {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(CLOCK);
        let seconds = u64::try_from(tv_sec).expect("a monotonic clock does not stand before its start");
        let nanos = u32::try_from(tv_nsec).expect("nanoseconds of a second fit in 32 bits");
        Moment::from_start(Duration::new(seconds, nanos))
    }

    async fn sleep_until(&self, instant: Moment) {
        loop {
            let left = instant.since(self.now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LONGEST_SLEEP)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_clock_moves_on_and_a_sleep_ends_at_or_after_its_instant() {
        let clock = BootClock;
        let wake = clock.now().plus(Duration::from_millis(5));
        clock.sleep_until(wake).await;
        assert!(clock.now() >= wake);
        clock.sleep_until(Moment::from_start(Duration::ZERO)).await;
    }
}
