//! The model's small numbers as the product's values, and back.

use std::time::Duration;

use lease_core::{AfterSave, FencingToken, LostReason, Moment, Phase, PhaseName, Timestamp};

use crate::message::{After, Why};

pub(crate) fn why_of(why: &LostReason) -> Why {
    match why {
        LostReason::Superseded { by_fence, .. } => Why::Superseded(small(by_fence.get())),
        LostReason::Finished(_) => Why::Finished,
        LostReason::Revoked => Why::Revoked,
        LostReason::Released => Why::Released,
        LostReason::Expired { .. } => Why::Expired,
        LostReason::Forgotten { .. } => Why::Forgotten,
        LostReason::PhaseConflict { .. } => Why::PhaseConflict,
        LostReason::ReceiptConflict => Why::ReceiptConflict,
        LostReason::Gone | LostReason::Unconfirmed | LostReason::StoreFailed { .. } => {
            unreachable!("no verdict of a rule on a run: {why}")
        }
    }
}

pub(crate) fn after_of(after: &AfterSave) -> After {
    match after {
        AfterSave::Held { .. } => After::Held,
        AfterSave::Completed => After::Completed,
        AfterSave::Lost(why) => After::Lost(why_of(why)),
    }
}

pub(crate) fn name(number: u8) -> PhaseName {
    PhaseName::new(format!("p{number}")).expect("a letter and a digit")
}

pub(crate) fn number(name: &PhaseName) -> u8 {
    name.as_str()[1..].parse().expect("a phase of the model")
}

pub(crate) fn phase(number: u8) -> Phase {
    if number == 0 { Phase::Submitted } else { Phase::Saved(name(number)) }
}

pub(crate) fn number_of(phase: &Phase) -> u8 {
    match phase {
        Phase::Submitted => 0,
        Phase::Saved(name) => number(name),
    }
}

pub(crate) fn fence(number: u8) -> FencingToken {
    FencingToken::new(u64::from(number)).expect("numbers begin at one")
}

pub(crate) fn at(tick: u8) -> Timestamp {
    Timestamp::from_micros(i64::from(tick) * 1_000_000)
}

pub(crate) fn ticks(at: Timestamp) -> u8 {
    u8::try_from(at.as_micros() / 1_000_000).expect("the clock goes a few ticks")
}

pub(crate) fn moment(tick: u8) -> Moment {
    Moment::from_start(Duration::from_secs(u64::from(tick)))
}

pub(crate) fn tick(moment: Moment) -> u8 {
    small(moment.since_start().as_secs())
}

pub(crate) fn small(number: u64) -> u8 {
    u8::try_from(number).expect("the model's numbers are small")
}
