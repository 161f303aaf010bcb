//! Every step failed once, at each point.

use std::collections::BTreeSet;

use lease_fake::steps::{Difference, Findings, Point};

use crate::shop::{Fault, Tried, told};

/// Where workers failed in the runs in which something was found.
fn places(findings: &Findings) -> BTreeSet<(String, &'static str)> {
    let word = |point| match point {
        Point::BeforeStep => "before step",
        Point::BeforeSave => "before save",
        Point::BeforeAnswer => "before answer",
        Point::Refused => "refused",
    };
    let place = findings.as_slice().iter().map(|finding| finding.failed.as_ref().expect("a worker failed"));
    place.map(|(phase, point)| (phase.to_string(), word(*point))).collect()
}

fn at(places: &[(&str, &'static str)]) -> BTreeSet<(String, &'static str)> {
    places.iter().map(|(phase, point)| ((*phase).to_owned(), *point)).collect()
}

/// RESUME, ONE-RECEIPT.
#[test]
fn runs_of_good_steps_are_completed_wherever_their_worker_fails() {
    assert_eq!(told(&Tried::new(Fault::Nothing).failed()), [""; 0]);
}

#[test]
fn a_step_that_orders_twice_is_found_wherever_it_is_done_again() {
    let found = Tried::new(Fault::OrdersWithoutKey).failed();
    assert_eq!(places(&found), at(&[("ordered", "before save"), ("ordered", "refused")]));
    let two = |finding: &&lease_fake::steps::Finding| matches!(&finding.difference, Difference::Outside { first, again } if (&**first, &**again) == ("1", "2"));
    assert_eq!(found.as_slice().iter().filter(two).count(), 2);
}

#[test]
fn what_a_worker_only_remembers_is_missed_wherever_another_goes_on() {
    for fault in [Fault::Remembers, Fault::Insists] {
        let found = Tried::new(fault).failed();
        let all = at(&[
            ("ordered", "before answer"),
            ("booked", "before step"),
            ("booked", "before save"),
            ("booked", "refused"),
        ]);
        assert_eq!(places(&found), all, "{found}");
        assert!(found.as_slice().iter().all(|one| matches!(one.difference, Difference::Failed { .. })));
    }
}

#[test]
fn a_step_that_refuses_its_second_call_does_not_get_its_run_completed() {
    let found = Tried::new(Fault::SaysNoTheSecondTime).failed();
    assert_eq!(places(&found), at(&[("ordered", "before save"), ("ordered", "refused")]));
}

#[test]
fn steps_that_are_never_the_same_are_told_once_and_not_at_every_point() {
    assert_eq!(
        told(&Tried::new(Fault::RandomReceipt).failed()),
        [
            r#"where no worker failed: the step of ordered returned {"order":1,"token":2}, and first {"order":1,"token":1}"#
        ]
    );
    assert_eq!(told(&Tried::new(Fault::RandomRow).failed()).len(), 1);
}

#[test]
fn whoever_writes_the_steps_says_what_may_differ() {
    let found = Tried::new(Fault::TellsItsNumber).failed();
    assert_eq!(
        places(&found),
        at(&[("ordered", "before step"), ("ordered", "before save"), ("ordered", "refused")])
    );
    assert_eq!(told(&Tried::new(Fault::TellsItsNumber).lenient().failed()), [""; 0]);
}

#[test]
fn a_plan_that_cannot_be_done_at_all_is_told_once() {
    assert_eq!(
        told(&Tried::new(Fault::SaysNo).failed()),
        ["where no worker failed: the step of booked failed: the books are closed"]
    );
}
