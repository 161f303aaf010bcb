//! Each guard taken out: somebody is let down, and the shortest story of how is printed.

use lease_model::{Guard, LeaseModel, Setting, story};
use stateright::{Checker, HasDiscoveries, Model};

/// The invariant that is broken without the guard.
fn broken_without(guard: Guard) -> &'static str {
    match guard {
        Guard::Owner | Guard::Fence => "ONE-HOLDER",
        Guard::Expiry | Guard::ClockAfterLock => "NO-LATE-SAVE",
        Guard::Phase => "IN-ORDER",
        Guard::FenceBump => "FENCE-UP",
        Guard::NoRenewalAfterLapse => "NO-LAZARUS",
        Guard::LossWins => "BLOCKED-NOT-FAILED",
        Guard::DeadlineFromSending => "SELF-STOP",
        Guard::Digest => "TRUTH",
        Guard::ReceiptUnique => "ONE-RECEIPT",
        Guard::LapseFrees | Guard::ReleaseFrees => "LIVENESS, claimed in time",
        Guard::SaveExtends => "LIVENESS, completed in time",
    }
}

fn is_missed(guard: Guard) {
    let law = broken_without(guard);
    let checker = LeaseModel::new(Setting::without(guard)).checker();
    let checker = checker.finish_when(HasDiscoveries::AnyOf([law].into())).threads(2).spawn_bfs().join();
    let path = checker.discovery(law).unwrap_or_else(|| panic!("{law} holds without {guard:?}"));
    println!("{law} is broken without {guard:?} ({} states):", checker.unique_state_count());
    println!("{}", story(path));
}

macro_rules! missed {
    ($($name:ident => $guard:ident,)+) => {
        $(#[test]
        fn $name() {
            is_missed(Guard::$guard);
        })+

        #[test]
        fn every_guard_is_taken_out() {
            assert_eq!([$(Guard::$guard),+], Guard::ALL);
        }
    };
}

missed! {
    one_holder_needs_the_owner => Owner,
    one_holder_needs_the_number => Fence,
    no_late_save_needs_the_expiry => Expiry,
    no_late_save_needs_the_clock_after_the_lock => ClockAfterLock,
    in_order_needs_the_phase => Phase,
    fence_up_needs_the_next_number => FenceBump,
    no_lazarus_needs_a_live_lease => NoRenewalAfterLapse,
    blocked_not_failed_needs_losses_to_win => LossWins,
    self_stop_needs_the_deadline_from_sending => DeadlineFromSending,
    truth_needs_the_digest => Digest,
    one_receipt_needs_its_uniqueness => ReceiptUnique,
    liveness_needs_lapsed_leases_to_be_taken => LapseFrees,
    liveness_needs_releases_that_end_the_lease => ReleaseFrees,
    liveness_needs_saves_that_extend_the_lease => SaveExtends,
}
