//! SELF-STOP on a store that keeps the rules, with a worker's clock that is hours off: when a cut-off
//! worker stops, its lease is still live, so nobody can have taken over yet.

use std::pin::pin;
use std::time::Duration;

use lease_core::{
    Claim, ClaimVerdict, Document, Grant, Guarded, Hold, LeaseSettings, LeaseStore, LossLimit, Operator,
    PhaseList, Plan, PlanName, PlanVersion, Priority, RunId, RunKey, Submit, Timestamp, Ttl, WorkerName,
    under_lease,
};
use lease_fake::{FakeClock, FakeStore, Fault, Operation, Until, drive};

struct Office {
    clock: FakeClock,
    store: FakeStore,
    settings: LeaseSettings,
    plan: Plan,
    run: RunId,
}

impl Office {
    /// The worker's clock reads so many hours, the store's reads midnight of some day.
    fn with_one_run(hours: u64) -> Self {
        let clock = FakeClock::starting_at(Duration::from_secs(hours * 3_600));
        let store = FakeStore::new(clock.store_clock(Timestamp::from_micros(0)));
        let settings = LeaseSettings::with_ttl(Ttl::new(Duration::from_secs(60)).expect("a minute is a ttl"));
        let phases = PhaseList::from_names(["a", "b"]).expect("two phases");
        let version = PlanVersion::new(1).expect("a version");
        let plan = Plan::new(PlanName::new("plan").expect("a plan name"), version, phases, "");
        let run = RunId::new(uuid::Uuid::from_u128(1));
        let key = RunKey::new("key").expect("a short key");
        let (priority, input) = (Priority::default(), Document::default());
        let submit = Submit { id: run, key, plan: plan.clone(), priority, input };
        let _ =
            drive::at_once(store.submit(&submit)).expect("answered at once").expect("no fault is ordered");
        Self { clock, store, settings: settings.expect("the defaults fit a minute"), plan, run }
    }

    fn claim(&self, random: u128) -> ClaimVerdict {
        let claim = Claim {
            run: self.run,
            owner: WorkerName::new("worker").expect("a short name").owner(random),
            ttl: self.settings.ttl(),
            plans: vec![self.plan.id.digest],
            loss_limit: LossLimit::DEFAULT,
        };
        drive::at_once(self.store.claim(&claim)).expect("answered at once").expect("no fault is ordered")
    }

    fn granted(&self, random: u128) -> Grant {
        let verdict = self.claim(random);
        let ClaimVerdict::Granted(grant) = verdict else { panic!("not granted: {verdict:?}") };
        *grant
    }

    fn expires_at(&self) -> Timestamp {
        let stored = self.store.stored(self.run).expect("it was submitted");
        let Hold::Held { expires_at, .. } = stored.run.hold else { panic!("held: {:?}", stored.run.hold) };
        expires_at
    }
}

/// Looks at the store when the work is dropped.
struct AtTheEnd<'a>(&'a Office);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let office = self.0;
        assert!(office.store.clock().now() < office.expires_at(), "SELF-STOP");
        assert!(matches!(office.claim(2), ClaimVerdict::Busy { .. }), "SELF-STOP");
    }
}

/// Case 18, and every way in which an answer can stay away: the request lost, the answer lost, both
/// without a sign.
#[test]
fn self_stop_case_18_a_cut_off_worker_has_stopped_before_anybody_can_take_over() {
    let faults = [Fault::Unreachable, Fault::UnknownBefore, Fault::UnknownAfter];
    let silent = [Fault::RequestDelayed(Until::Never), Fault::AnswerDelayed(Until::Never)];
    for fault in faults.into_iter().chain(silent) {
        for hours in [0, 10] {
            let office = Office::with_one_run(hours);
            let sent_at = lease_core::Clock::now(&office.clock);
            let (lease, _) = office.granted(1).accept(office.settings, sent_at);
            office.store.let_through(Operation::Renew, 2);
            office.store.order(Operation::Renew, &fault, 1_000);
            let work = async {
                let _guard = AtTheEnd(&office);
                std::future::pending::<()>().await;
            };
            let guarded = pin!(under_lease(&office.store, &office.clock, lease, work));
            let guarded = drive::run(&office.clock, guarded).expect("it stops by itself");
            assert!(matches!(guarded, Guarded::Lost(_)), "{guarded:?}");
            office.clock.advance(Duration::from_secs(60));
            assert_eq!(office.granted(3).lease.fence.get(), 2);
        }
    }
}
