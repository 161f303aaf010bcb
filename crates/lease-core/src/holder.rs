//! What a holder does after its work: save, release or fail, asked again until it is answered or
//! the local deadline has come.
//!
//! Keeps TRUTH: an answer that got lost is asked for again with the very same request, and where
//! none comes the result says what is not known. Keeps SELF-STOP: from the local deadline on
//! nothing is sent but the question why.

use std::future::Future;

use crate::clock::{Clock, Moment};
use crate::driver::{why_lost, within};
use crate::failure::Failure;
use crate::lease::{Lease, LeaseId};
use crate::loss::{Ending, SaveFate};
use crate::lost_reason::LostReason;
use crate::phase::Phase;
use crate::request::{Due, Fail, Release, Save};
use crate::settings::LeaseSettings;
use crate::store::{LeaseStore, StoreError};
use crate::verdict::{AfterSave, FailVerdict, ReleaseVerdict, SaveVerdict};

/// How a save came out.
#[derive(Debug)]
#[must_use]
pub enum SaveEnd {
    /// It landed and the lease goes on.
    Held {
        /// The lease.
        lease: Lease,
        /// The run was paused: stop before the next phase.
        yield_asked: bool,
    },
    /// It landed and completed the run.
    Completed,
    /// The store would not write an effect. The lease is still held.
    EffectRefused {
        /// The lease.
        lease: Lease,
        /// What the store said.
        message: String,
        /// What became of the save: nothing of this try landed, but an earlier one that got no answer
        /// may.
        save: SaveFate,
    },
    /// The lease is lost.
    Lost {
        /// Why.
        why: LostReason,
        /// What became of the save.
        save: SaveFate,
    },
    /// The store gave an error that trying again does not help.
    Error {
        /// The error.
        error: StoreError,
        /// What became of the save.
        save: SaveFate,
    },
}

/// How a release or a failing came out.
#[derive(Debug)]
#[must_use]
pub enum Ended {
    /// The lease is ended, as asked.
    Done,
    /// The lease was lost before.
    Lost(LostReason),
    /// The store gave an error that trying again does not help.
    Error(StoreError),
}

/// Saves a phase under its lease.
///
/// # Cancel safety
/// Dropping the future gives up on the answer: the save may have landed, as a whole.
pub async fn save_phase(store: &dyn LeaseStore, clock: &dyn Clock, mut lease: Lease, save: &Save) -> SaveEnd {
    let settings = *lease.settings();
    match insist(clock, lease.deadline(), &settings, || store.save(save)).await {
        Insisted::Answered { verdict, sent_at, may_have_landed } => {
            match verdict {
                SaveVerdict::Saved(AfterSave::Held { yield_asked }) => {
                    lease.confirm(sent_at);
                    SaveEnd::Held { lease, yield_asked }
                }
                // The lease was extended when the save landed, which was earlier than this request.
                SaveVerdict::AlreadySaved(AfterSave::Held { yield_asked }) => {
                    SaveEnd::Held { lease, yield_asked }
                }
                SaveVerdict::Saved(AfterSave::Completed)
                | SaveVerdict::AlreadySaved(AfterSave::Completed) => SaveEnd::Completed,
                SaveVerdict::Saved(AfterSave::Lost(why))
                | SaveVerdict::AlreadySaved(AfterSave::Lost(why)) => {
                    SaveEnd::Lost { why, save: SaveFate::Saved }
                }
                SaveVerdict::EffectRefused { message } => {
                    SaveEnd::EffectRefused { lease, message, save: fate(may_have_landed) }
                }
                // The next holder may have saved on since, and then nobody can tell any more.
                SaveVerdict::Refused(why) => SaveEnd::Lost { why, save: fate(may_have_landed) },
            }
        }
        Insisted::Failed { error, may_have_landed } => SaveEnd::Error { error, save: fate(may_have_landed) },
        Insisted::OutOfTime { may_have_landed } => {
            match (why_lost(store, clock, &settings, lease.id()).await, may_have_landed) {
                // Only a save of this very lease can have completed the run under it.
                (Some(LostReason::Finished(Ending::Completed)), true) => SaveEnd::Completed,
                (Some(why), _) => SaveEnd::Lost { why, save: fate(may_have_landed) },
                (None, _) => SaveEnd::Lost { why: LostReason::Unconfirmed, save: fate(may_have_landed) },
            }
        }
    }
}

fn fate(may_have_landed: bool) -> SaveFate {
    if may_have_landed { SaveFate::Unknown } else { SaveFate::NotSaved }
}

/// Gives a lease back: [`release_lease`] with the lease's own deadline and times.
///
/// # Cancel safety
/// As for [`release_lease`].
pub async fn give_back(
    store: &dyn LeaseStore,
    clock: &dyn Clock,
    lease: Lease,
    from: Phase,
    due: Due,
) -> Ended {
    let (deadline, settings) = (lease.deadline(), *lease.settings());
    release_lease(store, clock, deadline, &settings, &lease.release(from, due)).await
}

/// Gives a run up: [`fail_run`] with the lease's own deadline and times.
///
/// # Cancel safety
/// As for [`fail_run`].
pub async fn give_up(
    store: &dyn LeaseStore,
    clock: &dyn Clock,
    lease: Lease,
    from: Phase,
    failure: Failure,
) -> Ended {
    let (deadline, settings) = (lease.deadline(), *lease.settings());
    fail_run(store, clock, deadline, &settings, &lease.fail(from, failure)).await
}

/// Sends a release until it is answered or `deadline`, the lease's own, has come.
///
/// # Cancel safety
/// Dropping the future gives up on the answer: the release may have landed.
pub async fn release_lease(
    store: &dyn LeaseStore,
    clock: &dyn Clock,
    deadline: Moment,
    settings: &LeaseSettings,
    release: &Release,
) -> Ended {
    let insisted = insist(clock, deadline, settings, || store.release(release)).await;
    match insisted {
        Insisted::Answered { verdict, .. } => match verdict {
            ReleaseVerdict::Released | ReleaseVerdict::AlreadyReleased => Ended::Done,
            ReleaseVerdict::Refused(why) => Ended::Lost(why),
        },
        Insisted::Failed { error, .. } => Ended::Error(error),
        Insisted::OutOfTime { may_have_landed } => {
            let own_end = may_have_landed.then_some(LostReason::Released);
            ask_why(store, clock, settings, &release.lease, own_end).await
        }
    }
}

/// Sends a failing until it is answered or `deadline`, the lease's own, has come.
///
/// Where no answer came and the run turns out to be failed, that may have been this request or a claim
/// that set the run aside: the lease is then lost because the run is finished, and the attempt's outcome
/// tells which it was (`mark_blocked` answers with it).
///
/// # Cancel safety
/// Dropping the future gives up on the answer: the run may have been failed.
pub async fn fail_run(
    store: &dyn LeaseStore,
    clock: &dyn Clock,
    deadline: Moment,
    settings: &LeaseSettings,
    fail: &Fail,
) -> Ended {
    let insisted = insist(clock, deadline, settings, || store.fail(fail)).await;
    match insisted {
        Insisted::Answered { verdict, .. } => match verdict {
            FailVerdict::Failed | FailVerdict::AlreadyFailed => Ended::Done,
            FailVerdict::Refused(why) => Ended::Lost(why),
        },
        Insisted::Failed { error, .. } => Ended::Error(error),
        Insisted::OutOfTime { .. } => ask_why(store, clock, settings, &fail.lease, None).await,
    }
}

/// What came of asking again and again.
enum Insisted<V> {
    Answered {
        verdict: V,
        sent_at: Moment,
        /// An earlier try may have landed.
        may_have_landed: bool,
    },
    Failed {
        error: StoreError,
        may_have_landed: bool,
    },
    OutOfTime {
        may_have_landed: bool,
    },
}

/// Sends a request until there is a verdict, an error that trying again does not help, or the
/// deadline. Each try is given up after a heartbeat, since a connection may be dead without a sign.
async fn insist<V, F, R>(
    clock: &dyn Clock,
    deadline: Moment,
    settings: &LeaseSettings,
    request: F,
) -> Insisted<V>
where
    F: Fn() -> R,
    R: Future<Output = Result<V, StoreError>>,
{
    let mut may_have_landed = false;
    loop {
        let sent_at = clock.now();
        if sent_at >= deadline {
            return Insisted::OutOfTime { may_have_landed };
        }
        let answer_by = sent_at.plus(settings.heartbeat()).min(deadline);
        match within(clock, answer_by, request()).await {
            Some(Ok(verdict)) => return Insisted::Answered { verdict, sent_at, may_have_landed },
            Some(Err(error)) => {
                may_have_landed |= error.may_have_landed();
                if !error.may_try_again() {
                    return Insisted::Failed { error, may_have_landed };
                }
            }
            None => may_have_landed = true,
        }
        clock.sleep_until(clock.now().plus(settings.retry_pause()).min(deadline)).await;
    }
}

/// After the deadline of a release or a failing: asks once how the lease stands. `own_end` is what
/// the store says of a lease that was ended as asked.
async fn ask_why(
    store: &dyn LeaseStore,
    clock: &dyn Clock,
    settings: &LeaseSettings,
    lease: &LeaseId,
    own_end: Option<LostReason>,
) -> Ended {
    match why_lost(store, clock, settings, lease).await {
        Some(why) if own_end.as_ref() == Some(&why) => Ended::Done,
        Some(why) => Ended::Lost(why),
        None => Ended::Lost(LostReason::Unconfirmed),
    }
}
