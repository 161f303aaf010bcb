//! One worker with a clock, a store and a lease of 60 s: a beat every 20 s, a margin of 6 s, so
//! trusted for 54 s from sending, and a second between tries.
//!
//! The claim was sent 7 s after the clock's start, which is also when each scene opens.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use lease_core::{
    Clock, Document, Effects, FencingToken, Guarded, Lease, LeaseId, LeaseSettings, LostReason, Moment,
    OwnerId, Phase, PhaseName, RenewVerdict, RunId, Save, Ttl, under_lease,
};
use lease_fake::{FakeClock, drive};

use crate::store::{Log, Reply, ScriptedStore, answer};

pub(crate) struct Scene {
    pub(crate) clock: FakeClock,
    pub(crate) store: ScriptedStore,
    pub(crate) log: Log,
    settings: LeaseSettings,
}

/// Writes down how a step ends that was begun.
struct Step {
    log: Log,
    ended: bool,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with_beat(20)
    }

    pub(crate) fn with_beat(beat: u64) -> Self {
        let clock = FakeClock::starting_at(Duration::from_secs(7));
        let log = Log::new(&clock);
        let store = ScriptedStore::new(&clock, &log);
        let second = Duration::from_secs(1);
        let ttl = Ttl::new(second * 60).expect("a minute is a ttl");
        let beat = Duration::from_secs(beat);
        let settings = LeaseSettings::new(ttl, beat, second * 6).expect("these times fit each other");
        Self { clock, store, log, settings }
    }

    pub(crate) fn lease_id(&self) -> LeaseId {
        let owner = OwnerId::from_stored("a#1").expect("a short name");
        LeaseId { run: RunId::new(uuid::Uuid::nil()), owner, fence: FencingToken::FIRST }
    }

    /// The lease of the claim that was sent at 7 s: its local deadline is at 61 s.
    pub(crate) fn lease(&self) -> Lease {
        Lease::new(self.lease_id(), self.settings, seconds(7))
    }

    pub(crate) fn settings(&self) -> &LeaseSettings {
        &self.settings
    }

    /// A step that waits for so long and returns "fine".
    pub(crate) async fn step(&self, for_seconds: u64) -> &'static str {
        let mut step = self.begin();
        self.clock.sleep_until(self.clock.now().plus(Duration::from_secs(for_seconds))).await;
        step.end();
        "fine"
    }

    /// A step that blocks its thread for so long.
    pub(crate) async fn blocking_step(&self, for_seconds: u64) -> &'static str {
        let mut step = self.begin();
        self.clock.advance_to(self.clock.now().plus(Duration::from_secs(for_seconds)));
        step.end();
        "fine"
    }

    /// A step that panics after so long.
    pub(crate) async fn panicking_step(&self, after_seconds: u64) -> &'static str {
        let _step = self.begin();
        self.clock.sleep_until(self.clock.now().plus(Duration::from_secs(after_seconds))).await;
        // Unwinds as a panic does, without the message that would clutter the test's output.
        std::panic::resume_unwind(Box::new("the step panicked"));
    }

    /// Runs a future to its end.
    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        drive::run(&self.clock, future).expect("nothing here waits for what never comes")
    }

    /// Runs a future through everything up to `last`; `None` if it is not done by then.
    pub(crate) fn run_until<F: Future>(&self, mut future: Pin<&mut F>, last: Moment) -> Option<F::Output> {
        loop {
            if let Poll::Ready(output) = drive::until_stalled(future.as_mut()) {
                return Some(output);
            }
            if self.clock.next_wake().is_none_or(|next| last < next) {
                self.clock.advance_to(last);
                return None;
            }
            self.clock.advance_to_next_wake();
        }
    }

    fn begin(&self) -> Step {
        self.log.add("work begins");
        Step { log: self.log.clone(), ended: false }
    }

    /// Runs a step of so many seconds under the heartbeat, with these answers to its renewals.
    pub(crate) fn guard(
        &self,
        step_seconds: u64,
        renewals: impl IntoIterator<Item = Reply<RenewVerdict>>,
    ) -> Guarded<&'static str> {
        self.store.renewals(renewals);
        let guarded = self.run(under_lease(&self.store, &self.clock, self.lease(), self.step(step_seconds)));
        assert_eq!(self.clock.sleepers(), 0, "nothing is left behind");
        guarded
    }

    pub(crate) fn saw(&self, lines: &[&str]) {
        assert_eq!(self.log.lines(), lines);
    }
}

impl Step {
    fn end(&mut self) {
        self.ended = true;
        self.log.add("work ends");
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.ended {
            self.log.add("work dropped");
        }
    }
}

/// The save of the first phase, under the scene's lease.
pub(crate) fn save_of(scene: &Scene) -> Save {
    let to = PhaseName::new("a").expect("a phase name");
    let ttl = scene.settings.ttl();
    Save::new(&scene.lease_id(), Phase::Submitted, to, Document::default(), Effects::none(), ttl)
}

pub(crate) fn seconds(seconds: u64) -> Moment {
    Moment::from_start(Duration::from_secs(seconds))
}

pub(crate) fn confirmed() -> Reply<RenewVerdict> {
    answer(RenewVerdict::Renewed { yield_asked: false })
}

pub(crate) fn refused(why: LostReason) -> Reply<RenewVerdict> {
    answer(RenewVerdict::Refused(why))
}

pub(crate) fn superseded() -> LostReason {
    let by_owner = OwnerId::from_stored("b#2").expect("a short name");
    LostReason::Superseded { by_fence: FencingToken::new(2).expect("2 is a number"), by_owner }
}

/// The reason of a lost lease.
pub(crate) fn lost<T: std::fmt::Debug>(guarded: Guarded<T>) -> LostReason {
    let Guarded::Lost(why) = guarded else { panic!("not lost: {guarded:?}") };
    why
}

/// The lease, the value and whether to yield, of a step that finished.
pub(crate) fn finished<T: std::fmt::Debug>(guarded: Guarded<T>) -> (Lease, T, bool) {
    let Guarded::Finished { lease, value, yield_asked } = guarded else {
        panic!("not finished: {guarded:?}")
    };
    (lease, value, yield_asked)
}
