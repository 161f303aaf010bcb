//! What can befall the world in one step of a history.

use proptest::prelude::*;

/// One step of a history. Numbers choose among what there is.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Pass {
        slices: u8,
    },
    Stall {
        worker: u8,
        slices: u8,
    },
    Crash {
        worker: u8,
    },
    /// The whole house stands still.
    StallAll {
        slices: u8,
    },
    Fault {
        operation: u8,
        fault: u8,
        slices: u8,
        times: u8,
    },
    /// One renewal is answered late, and from then on none for longer than a lease lasts.
    CutOff {
        slices: u8,
    },
    Lock {
        run: u8,
        slices: u8,
    },
    Act {
        run: u8,
        action: u8,
    },
    /// Sends a request again that was judged before.
    Replay {
        which: u16,
    },
    /// Uses a lease that its worker has given up, or crashed with, or renews any.
    Stray {
        lease: u8,
        request: u8,
        to: u8,
    },
    SetClock {
        seconds: i16,
    },
}

pub(crate) fn step(clock_may_be_set: bool) -> impl Strategy<Value = Step> {
    let few = 1..12_u8;
    let passing = prop_oneof![4 => 1..8_u8, 1 => 8..80_u8];
    let set = (-60..60_i16).prop_map(move |seconds| {
        if clock_may_be_set { Step::SetClock { seconds } } else { Step::Pass { slices: 1 } }
    });
    prop_oneof![
        10 => passing.prop_map(|slices| Step::Pass { slices }),
        2 => (any::<u8>(), 1..100_u8).prop_map(|(worker, slices)| Step::Stall { worker, slices }),
        2 => any::<u8>().prop_map(|worker| Step::Crash { worker }),
        2 => (40..90_u8).prop_map(|slices| Step::StallAll { slices }),
        5 => (any::<u8>(), any::<u8>(), 1..80_u8, 1..4_u8).prop_map(|(operation, fault, slices, times)| {
            Step::Fault { operation, fault, slices, times }
        }),
        2 => (4..16_u8).prop_map(|slices| Step::CutOff { slices }),
        1 => (any::<u8>(), few).prop_map(|(run, slices)| Step::Lock { run, slices }),
        3 => (any::<u8>(), any::<u8>()).prop_map(|(run, action)| Step::Act { run, action }),
        4 => any::<u16>().prop_map(|which| Step::Replay { which }),
        // The newest lease more often than the others.
        6 => (prop_oneof![Just(0_u8), any::<u8>()], any::<u8>(), any::<u8>())
            .prop_map(|(lease, request, to)| Step::Stray { lease, request, to }),
        2 => set,
    ]
}
