//! The kinds of faults, and the choice among them.

use std::time::Duration;

use fastrand::Rng;

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// SIGKILL, and a new process a moment later.
    Kill,
    /// SIGSTOP past the TTL, then SIGCONT.
    Stop,
    /// All connections of a worker are closed.
    Cut,
    /// Everything between a worker and the server is late.
    Delay,
    /// What goes one way is lost for a while, and then the connections are closed.
    Drop,
    /// What a worker sends stands still for a while.
    HoleUp,
    /// What the server answers stands still for a while.
    HoleDown,
    /// The server ends some of its sessions.
    Terminate,
    /// The server ends without putting anything in order, and is started again.
    Crash,
    /// The server's clock is set forward or back.
    Clock,
    /// The program brings the schema up to date beside everything else.
    Migrate,
    /// Another process holds the file's write lock for a while.
    Busy,
    /// Another process moves the write-ahead log into the file.
    Checkpoint,
}

impl Kind {
    /// Its name, in figures and histories.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Cut => "cut",
            Self::Delay => "delay",
            Self::Drop => "drop",
            Self::HoleUp => "hole_up",
            Self::HoleDown => "hole_down",
            Self::Terminate => "terminate",
            Self::Crash => "crash",
            Self::Clock => "clock",
            Self::Migrate => "migrate",
            Self::Busy => "busy",
            Self::Checkpoint => "checkpoint",
        }
    }

    /// Whether it is done to one worker.
    pub(super) fn is_for_one(self) -> bool {
        match self {
            Self::Kill
            | Self::Stop
            | Self::Cut
            | Self::Delay
            | Self::Drop
            | Self::HoleUp
            | Self::HoleDown => true,
            Self::Terminate | Self::Crash | Self::Clock | Self::Migrate | Self::Busy | Self::Checkpoint => {
                false
            }
        }
    }

    /// How long must lie between two of them.
    pub(super) fn spacing(self) -> Duration {
        Duration::from_secs(match self {
            Self::Crash => 12,
            Self::Clock => 9,
            Self::Busy | Self::Migrate | Self::Checkpoint => 3,
            Self::Terminate => 1,
            Self::Kill
            | Self::Stop
            | Self::Cut
            | Self::Delay
            | Self::Drop
            | Self::HoleUp
            | Self::HoleDown => 0,
        })
    }
}

/// How often each comes, beside the others.
pub(super) const OF_POSTGRES: &[(Kind, u32)] = &[
    (Kind::Kill, 12),
    (Kind::Stop, 10),
    (Kind::Cut, 18),
    (Kind::Delay, 10),
    (Kind::Drop, 8),
    (Kind::HoleUp, 8),
    (Kind::HoleDown, 8),
    (Kind::Terminate, 14),
    (Kind::Crash, 4),
    (Kind::Clock, 5),
    (Kind::Migrate, 4),
];

/// The same for a file.
pub(super) const OF_SQLITE: &[(Kind, u32)] =
    &[(Kind::Kill, 50), (Kind::Stop, 14), (Kind::Migrate, 8), (Kind::Busy, 8), (Kind::Checkpoint, 12)];

/// One of these.
pub(super) fn choose(random: &mut Rng, kinds: &[(Kind, u32)]) -> Option<Kind> {
    let all: u32 = kinds.iter().map(|(_, weight)| weight).sum();
    let mut left = random.u32(0..all.max(1));
    for (kind, weight) in kinds {
        if left < *weight {
            return Some(*kind);
        }
        left -= weight;
    }
    None
}

/// So many milliseconds, between these.
pub(super) fn millis(random: &mut Rng, least: u64, most: u64) -> Duration {
    Duration::from_millis(random.u64(least..=most))
}
