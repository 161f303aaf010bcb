//! What is explored: how much of everything there is, and which guard is missing.

/// The bounds of an exploration, and what is different about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// How many workers.
    pub workers: u8,
    /// How many claims are sent in all, refused ones included.
    pub claims: u8,
    /// How far the store's clock goes; a lease lasts [`Setting::TTL`] ticks.
    pub ticks: u8,
    /// How many requests and answers are under way at the most.
    pub in_flight: usize,
    /// How many times an operator cancels the run or takes its lease away.
    pub operator_acts: u8,
    /// How many leases the run may lose before it is set aside.
    pub loss_limit: u8,
    /// The guard that is taken out.
    pub without: Option<Guard>,
    /// Every claim is made under the same owner, as if names had no random part.
    pub one_owner: bool,
    /// Whether the store may be set back to how it began.
    pub restored: Restored,
    /// Whether an answer may be late by itself. Otherwise it is heard when its request is judged, or never;
    /// the request may be late all the same.
    pub late_answers: bool,
    /// Whether crashes and operators are left out, to keep a variant small.
    pub plain: bool,
    /// How many things go wrong in all, where workers keep up otherwise and time limits are looked at;
    /// [`Setting::claims`] are then those that are granted. `None`: any number, and there is no hurry.
    pub troubles: Option<u8>,
}

/// Whether the store is set back once, at any time, to how it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// It never forgets.
    Never,
    /// All of it.
    Whole,
    /// All but the receipts, as if that table came from a younger backup.
    ButReceipts,
}

/// A rule that can be taken out, to see what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guard {
    /// A save and a renewal match the owner.
    Owner,
    /// A save and a renewal match the fencing token.
    Fence,
    /// A save needs a lease that has not run out.
    Expiry,
    /// The clock is read once the row is locked, and not when the request sets out.
    ClockAfterLock,
    /// A save names the phase that the run stands at.
    Phase,
    /// A claim takes the next number.
    FenceBump,
    /// A renewal needs a lease that has not run out.
    NoRenewalAfterLapse,
    /// A refused renewal ends the work, whatever it has come to.
    LossWins,
    /// The local deadline counts from when the confirmed request was sent.
    DeadlineFromSending,
    /// The run keeps the digest of the last save.
    Digest,
    /// There is one receipt for each phase.
    ReceiptUnique,
    /// A claim takes a run whose lease has run out.
    LapseFrees,
    /// A release ends the lease.
    ReleaseFrees,
    /// A save makes the lease last longer.
    SaveExtends,
}

impl Guard {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Owner,
        Self::Fence,
        Self::Expiry,
        Self::ClockAfterLock,
        Self::Phase,
        Self::FenceBump,
        Self::NoRenewalAfterLapse,
        Self::LossWins,
        Self::DeadlineFromSending,
        Self::Digest,
        Self::ReceiptUnique,
        Self::LapseFrees,
        Self::ReleaseFrees,
        Self::SaveExtends,
    ];
}

impl Setting {
    /// How many ticks a lease lasts.
    pub const TTL: u8 = 3;

    /// Everything in place: two workers, one run, four claims, six ticks, two messages under way.
    pub const SMALL: Self = Self {
        workers: 2,
        claims: 4,
        ticks: 6,
        in_flight: 2,
        operator_acts: 1,
        loss_limit: 1,
        without: None,
        one_owner: false,
        restored: Restored::Never,
        late_answers: true,
        plain: false,
        troubles: None,
    };

    /// Workers that keep up but for two troubles, one message under way, and time for every limit.
    pub const PACED: Self =
        Self { ticks: 9, in_flight: 1, loss_limit: 9, late_answers: false, troubles: Some(2), ..Self::SMALL };

    /// The smallest setting in which a guard is missed. Where another guard would hide that, it is one in
    /// which only this one stands.
    #[must_use]
    pub fn without(guard: Guard) -> Self {
        let small = Self {
            without: Some(guard),
            claims: 2,
            ticks: 4,
            plain: true,
            late_answers: false,
            loss_limit: 9,
            ..Self::SMALL
        };
        match guard {
            // Only an operator takes a lease away before its holder's own deadline.
            Guard::LossWins => Self { claims: 1, ticks: 1, plain: false, ..small },
            // What it counts from is the same where no answer is late.
            Guard::DeadlineFromSending => Self { late_answers: true, ..small },
            // A random owner hides that the number is not looked at, or stays the same.
            Guard::Fence | Guard::FenceBump => Self { one_owner: true, ..small },
            // The number hides that the owner is not looked at, unless it is given out twice.
            Guard::Owner => Self { restored: Restored::Whole, ..small },
            // The phase hides that there may be two receipts, unless the run has forgotten it.
            Guard::ReceiptUnique => Self { restored: Restored::ButReceipts, ..small },
            // Nothing is wrong with what the store then says; it only takes for ever.
            Guard::LapseFrees | Guard::ReleaseFrees | Guard::SaveExtends => {
                Self { without: Some(guard), troubles: Some(1), ..Self::PACED }
            }
            Guard::Expiry
            | Guard::ClockAfterLock
            | Guard::Phase
            | Guard::NoRenewalAfterLapse
            | Guard::Digest => small,
        }
    }

    /// Whether the tables refuse a second receipt of a phase. It hides that the phase is not looked at.
    pub(crate) fn one_receipt(&self) -> bool {
        !matches!(self.without, Some(Guard::ReceiptUnique | Guard::Phase))
    }

    /// Whether the tables refuse a second attempt with a number. It hides that numbers do not rise.
    pub(crate) fn one_attempt(&self) -> bool {
        self.without != Some(Guard::FenceBump)
    }
}
