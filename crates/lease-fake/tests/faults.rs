//! The fake store's faults: what a sender sees, and whether and when the request took effect.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use lease_core::{
    Claim, ClaimVerdict, LeaseId, LeaseStore, LossLimit, Operator, OwnerId, PhaseList, Plan, PlanName,
    PlanVersion, Priority, RenewVerdict, Renewals, RunId, RunKey, StoreError, Submit, Timestamp, Ttl,
};
use lease_fake::{Exchange, FakeClock, FakeStore, Fault, Operation, StoreClock, Until, drive};

const SECOND: Duration = Duration::from_secs(1);

/// The answer of a store that does not keep anybody waiting.
fn now<V>(request: impl Future<Output = Result<V, StoreError>>) -> V {
    drive::at_once(request).expect("no fault is ordered").expect("no fault is ordered")
}

fn plan() -> Plan {
    let phases = PhaseList::from_names(["a", "b"]).expect("valid");
    Plan::new(PlanName::new("p").expect("valid"), PlanVersion::new(1).expect("valid"), phases, "")
}

fn ttl() -> Ttl {
    Ttl::new(SECOND * 60).expect("valid")
}

/// A store with one run that is held.
fn held() -> (FakeStore, LeaseId) {
    let store = FakeStore::new(StoreClock::default());
    let run = RunId::new(uuid::Uuid::from_u128(1));
    let key = RunKey::new("k").expect("valid");
    let submit =
        Submit { id: run, key, plan: plan(), priority: Priority::default(), input: Default::default() };
    let _ = now(store.submit(&submit));
    let claim = Claim {
        run,
        owner: OwnerId::from_stored("w#1").expect("valid"),
        ttl: ttl(),
        plans: vec![plan().id.digest],
        loss_limit: LossLimit::DEFAULT,
    };
    let verdict = now(store.claim(&claim));
    let ClaimVerdict::Granted(grant) = verdict else { panic!("{verdict:?}") };
    (store, grant.lease)
}

fn renewals(store: &FakeStore) -> Vec<Timestamp> {
    let journal = store.journal();
    let renewed = journal.iter().filter(|judged| matches!(judged.exchange, Exchange::Renew(..)));
    renewed.map(|judged| judged.at).collect()
}

#[test]
fn errors_say_whether_the_request_may_have_landed_and_it_has_or_has_not() {
    let cases = [
        (Fault::Unreachable, false, 0),
        (Fault::NotApplied, false, 0),
        (Fault::UnknownBefore, true, 0),
        (Fault::UnknownAfter, true, 1),
    ];
    for (fault, may_have_landed, landed) in cases {
        let (store, lease) = held();
        store.let_through(Operation::Renew, 1);
        store.order(Operation::Renew, &fault, 1);
        let renew = || drive::at_once(store.renew(&lease, ttl())).unwrap();
        assert!(renew().is_ok());
        let error: StoreError = renew().unwrap_err();
        assert!(error.may_try_again(), "{fault:?}");
        assert_eq!(error.may_have_landed(), may_have_landed, "{fault:?}");
        assert_eq!(renewals(&store).len(), 1 + landed, "{fault:?}");
        assert!(renew().is_ok());
    }
}

#[test]
fn a_delayed_request_is_judged_when_it_arrives_though_its_sender_has_gone() {
    let (store, lease) = held();
    let late = store.clock().now().plus(SECOND * 30);
    store.order(Operation::Renew, &Fault::RequestDelayed(Until::Store(late)), 1);
    assert!(drive::at_once(store.renew(&lease, ttl())).is_none());
    assert_eq!((store.in_flight(), renewals(&store)), (1, vec![]));
    store.clock().advance(SECOND * 45);
    assert_eq!((store.in_flight(), renewals(&store)), (0, vec![late]));
}

#[test]
fn a_delay_can_follow_a_workers_clock_and_wakes_the_sender() {
    let (store, lease) = held();
    let worker = FakeClock::starting_at(SECOND * 7_200);
    let arrives = lease_core::Clock::now(&worker).plus(SECOND);
    store.order(Operation::Renew, &Fault::RequestDelayed(Until::Worker(worker.clone(), arrives)), 1);
    let answer = drive::run(&worker, store.renew(&lease, ttl())).unwrap();
    assert_eq!(answer.unwrap(), RenewVerdict::Renewed { yield_asked: false });
}

#[test]
fn a_lost_answer_never_comes_and_the_request_has_landed() {
    let (store, lease) = held();
    store.order(Operation::Renew, &Fault::AnswerDelayed(Until::Never), 1);
    let mut renewing = pin!(store.renew(&lease, ttl()));
    assert!(drive::until_stalled(renewing.as_mut()).is_pending());
    store.clock().advance(SECOND);
    assert!(drive::until_stalled(renewing.as_mut()).is_pending());
    assert_eq!((store.in_flight(), renewals(&store).len()), (0, 1));
}

#[test]
fn no_late_save_a_request_that_waits_for_a_locked_row_is_judged_when_the_row_is_free() {
    let (store, lease) = held();
    let lock = store.lock_row(lease.run);
    let mut renewing = pin!(store.renew(&lease, ttl()));
    assert!(drive::until_stalled(renewing.as_mut()).is_pending());
    let many = drive::at_once(store.renew_many(std::slice::from_ref(&lease), ttl())).unwrap().unwrap();
    assert_eq!(many, [RenewVerdict::NotJudged]);
    store.clock().advance(SECOND * 60);
    drop(lock);
    let answer = drive::until_stalled(renewing.as_mut());
    assert!(matches!(answer, Poll::Ready(Ok(RenewVerdict::Refused(_)))), "{answer:?}");
    assert_eq!(renewals(&store), [store.clock().now()]);
}

#[test]
fn whoever_waits_for_work_hears_of_a_submit_even_one_that_came_before_the_wait() {
    let (store, _) = held();
    let signal = store.work_signal().unwrap();
    assert_eq!(drive::at_once(signal.changed()), None);
    let key = RunKey::new("other").unwrap();
    let id = RunId::new(uuid::Uuid::from_u128(2));
    let submit = Submit { id, key, plan: plan(), priority: Priority::default(), input: Default::default() };
    let _ = drive::at_once(store.submit(&submit)).unwrap().unwrap();
    assert_eq!(drive::at_once(signal.changed()), Some(()));
    assert_eq!(drive::at_once(signal.changed()), None);
}
