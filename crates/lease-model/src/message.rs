//! What workers and the store say to each other, in numbers small enough to be explored.

use lease_core::{LeaseEnd, Status};

/// A lease: an owner's number and a fencing token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// Which owner.
    pub owner: u8,
    /// Which number.
    pub fence: u8,
}

/// How a holder ends its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// Released, to be claimed again at once.
    Yield,
    /// Released, to be tried again a tick later.
    Retry,
    /// The run is failed.
    Fail,
}

/// What a worker asks the store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// A lease, for this owner.
    Claim(u8),
    /// More time.
    Renew(Holder),
    /// Saving the phase after this one.
    Save(Holder, u8),
    /// An end of the lease, at this phase.
    End(Holder, u8, Ending),
    /// Writing down that the holder was turned away.
    MarkBlocked(Holder),
}

/// Why a holder is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// By this number.
    Superseded(u8),
    /// The run has ended.
    Finished,
    /// By an operator.
    Revoked,
    /// By itself.
    Released,
    /// The lease ran out.
    Expired,
    /// The store was set back.
    Forgotten,
    /// The run stands at another phase.
    PhaseConflict,
    /// The phase was saved by this claim, with another receipt.
    ReceiptConflict,
}

/// What became of a lease beside a save that landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum After {
    /// Still held.
    Held,
    /// The run is completed.
    Completed,
    /// Lost.
    Lost(Why),
}

/// What the store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// A claim: this number, at this phase.
    Granted(u8, u8),
    /// A claim: somebody holds the run.
    Busy,
    /// A claim: not yet.
    NotDue,
    /// A claim: the run has ended.
    Finished,
    /// A claim: the run lost too many leases, and is failed now.
    SetAside,
    /// A renewal.
    Renewed,
    /// A save.
    Saved(After),
    /// A save that had landed before.
    AlreadySaved(After),
    /// An end of the lease.
    Ended,
    /// An end that had landed before.
    AlreadyEnded,
    /// Written down that the holder was turned away.
    Recorded,
    /// Not written down: the attempt had ended otherwise.
    HadEnded,
    /// Turned away.
    Refused(Why),
    /// A constraint of the tables undid the request.
    Undone,
}

impl Answer {
    /// The names of all kinds of answers, refusals by their reason.
    pub const KINDS: [&str; 22] = [
        "granted",
        "busy",
        "not due",
        "finished",
        "set aside",
        "renewed",
        "saved",
        "saved, completed",
        "saved before",
        "saved before, completed",
        "saved before, lost",
        "ended",
        "ended before",
        "blocked",
        "had ended",
        "superseded",
        "refused as finished",
        "revoked",
        "released",
        "expired",
        "forgotten",
        "phase conflict",
    ];

    /// The place of its kind among [`Answer::KINDS`]; `None` for answers of broken settings only.
    #[must_use]
    pub fn kind(self) -> Option<usize> {
        Some(match self {
            Self::Granted(..) => 0,
            Self::Busy => 1,
            Self::NotDue => 2,
            Self::Finished => 3,
            Self::SetAside => 4,
            Self::Renewed => 5,
            Self::Saved(After::Held) => 6,
            Self::Saved(After::Completed) => 7,
            Self::AlreadySaved(After::Held) => 8,
            Self::AlreadySaved(After::Completed) => 9,
            Self::AlreadySaved(After::Lost(_)) => 10,
            Self::Ended => 11,
            Self::AlreadyEnded => 12,
            Self::Recorded => 13,
            Self::HadEnded => 14,
            Self::Refused(Why::Superseded(_)) => 15,
            Self::Refused(Why::Finished) => 16,
            Self::Refused(Why::Revoked) => 17,
            Self::Refused(Why::Released) => 18,
            Self::Refused(Why::Expired) => 19,
            Self::Refused(Why::Forgotten) => 20,
            Self::Refused(Why::PhaseConflict) => 21,
            Self::Saved(After::Lost(_)) | Self::Refused(Why::ReceiptConflict) | Self::Undone => return None,
        })
    }
}

/// One try of a request or its answer, under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Whose.
    pub worker: u8,
    /// When the request set out.
    pub sent_at: u8,
    /// The request.
    pub request: Request,
    /// The answer, once the store has judged.
    pub answer: Option<Answer>,
}

/// The run's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    /// How many phases are saved.
    pub phase: u8,
    /// Who saved the last one.
    pub mark: Option<Holder>,
    /// Open, or how it ended.
    pub status: Status,
    /// Who holds it.
    pub hold: Hold,
    /// Leases that ran out.
    pub losses: u8,
    /// Tries that failed.
    pub failures: u8,
    /// Not to be claimed before.
    pub due: u8,
}

/// Who has, or had, the current number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Nobody, ever.
    Never,
    /// Held until then.
    Held(Holder, u8),
    /// Ended.
    Ended(Holder, LeaseEnd),
}

impl Hold {
    /// The current number, 0 before the first.
    #[must_use]
    pub fn fence(self) -> u8 {
        match self {
            Self::Never => 0,
            Self::Held(holder, _) | Self::Ended(holder, _) => holder.fence,
        }
    }
}
