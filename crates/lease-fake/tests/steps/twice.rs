//! Every step twice.

use lease_core::PhaseName;
use lease_fake::steps::{Difference, Point};

use crate::shop::{Fault, Tried, told};

#[test]
fn good_steps_return_the_same_and_order_once() {
    assert_eq!(told(&Tried::new(Fault::Nothing).twice()), [""; 0]);
}

#[test]
fn a_step_that_orders_twice_is_found_at_its_phase_with_what_is_seen_outside() {
    let found = Tried::new(Fault::OrdersWithoutKey).twice();
    let phase = PhaseName::new("ordered").unwrap();
    let [receipt, outside] = found.as_slice() else { panic!("{found}") };
    let here = Some((phase, Point::BeforeSave));
    assert_eq!((&receipt.failed, &outside.failed), (&here, &here));
    assert!(matches!(&receipt.difference, Difference::Returned { .. }));
    let [first, again] = ["1", "2"].map(str::to_owned);
    assert_eq!(outside.difference, Difference::Outside { first, again });
    assert_eq!(
        told(&found)[1],
        "ordered, after a death between the step and its save: the world outside shows 2, and first 1"
    );
}

#[test]
fn a_receipt_and_a_row_with_a_random_part_are_found() {
    let begin = "after a death between the step and its save: the step of";
    assert_eq!(
        told(&Tried::new(Fault::RandomReceipt).twice()),
        [format!(
            r#"ordered, {begin} ordered returned {{"order":1,"token":2}}, and first {{"order":1,"token":1}}"#
        )]
    );
    let row = |page| format!(r#"{{"booked":1}} with [book {{"for":"Zoë","order":1,"page":{page}}}]"#);
    assert_eq!(
        told(&Tried::new(Fault::RandomRow).twice()),
        [format!("booked, {begin} booked returned {}, and first {}", row(2), row(1))]
    );
}

#[test]
fn what_a_worker_only_remembers_is_missed_by_the_next_one() {
    let begin = "booked, after a death between the step and its save: the step of booked failed:";
    assert_eq!(told(&Tried::new(Fault::Remembers).twice()), [format!("{begin} no order was placed")]);
    assert_eq!(told(&Tried::new(Fault::Insists).twice()), [format!("{begin} it panicked")]);
}

#[test]
fn a_step_that_refuses_its_second_call_is_found_and_one_that_always_does_is_told_apart() {
    assert_eq!(
        told(&Tried::new(Fault::SaysNoTheSecondTime).twice()),
        [
            "ordered, after a death between the step and its save: the step of ordered failed: this key was used"
        ]
    );
    assert_eq!(
        told(&Tried::new(Fault::SaysNo).twice()),
        ["where no worker failed: the step of booked failed: the books are closed"]
    );
}

#[test]
fn whoever_writes_the_steps_says_what_may_differ() {
    assert_eq!(Tried::new(Fault::TellsItsNumber).twice().as_slice().len(), 1);
    assert_eq!(told(&Tried::new(Fault::TellsItsNumber).lenient().twice()), [""; 0]);
}

#[test]
fn a_step_that_holds_up_its_heartbeat_loses_the_lease_and_is_told_so() {
    let found = told(&Tried::new(Fault::HoldsUpTheClock).twice());
    let [lost] = &found[..] else { panic!("{found:?}") };
    assert!(lost.starts_with("where no worker failed: the lease was lost at ordered: "), "{lost}");
}
