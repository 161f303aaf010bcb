//! What a trial tells: at which phase, where its worker failed, and what was different then.

use std::fmt;

use lease_core::{ClaimVerdict, Effect, FencingToken, LostReason, PhaseName, Status};

use super::call::Done;

/// Where the worker of a phase fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// It dies after its claim, before the step begins.
    BeforeStep,
    /// It dies after the step has acted, before the save is sent.
    BeforeSave,
    /// The save lands, and it dies before the answer is there.
    BeforeAnswer,
    /// After the step has acted, its lease is taken away and another worker claims the run; then its
    /// save is refused.
    Refused,
}

/// What was not as it has to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// A step said no, or panicked.
    Failed {
        /// The step of this phase.
        phase: PhaseName,
        /// Why, in its own words.
        message: String,
    },
    /// A step returned something else than its first call, or than in a run where no worker failed.
    Returned {
        /// The step of this phase.
        phase: PhaseName,
        /// What it returned there.
        first: Box<Done>,
        /// What it returns here.
        again: Box<Done>,
    },
    /// The world outside is not as after the first call, or as after a run where no worker failed.
    Outside {
        /// What was seen there.
        first: String,
        /// What is seen here.
        again: String,
    },
    /// A lease was lost that nobody took away: the step moved the clock on and held up its heartbeat.
    Lost {
        /// The step of this phase.
        phase: PhaseName,
        /// Why the lease is lost.
        why: LostReason,
    },
    /// The next worker did not get the run.
    NotClaimed(Box<ClaimVerdict>),
    /// The store did not take the save of this phase.
    NotSaved {
        /// The phase.
        phase: PhaseName,
        /// What the store said.
        message: String,
    },
    /// The store took the save of this phase though its lease was lost to another claim.
    LateSaveLanded(PhaseName),
    /// The run ended like this.
    NotCompleted(Status),
    /// The phases that have receipts, in the order of their saves, are not those of the plan.
    Receipts(Vec<PhaseName>),
    /// The numbers of the receipts fall.
    Numbers(Vec<FencingToken>),
    /// The rows that stand in the store are not those of the steps that were saved, each once.
    Effects(Vec<Effect>),
    /// The step of this phase was called though its receipt was there.
    CalledAgain(PhaseName),
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The phase whose worker failed, and where; `None` where no worker did.
    pub failed: Option<(PhaseName, Point)>,
    /// What was different then.
    pub difference: Difference,
}

/// Everything that a trial found; as text, a line for each.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Findings(Vec<Finding>);

impl Point {
    /// All of them, in the order in which a worker comes by.
    pub const ALL: [Self; 4] = [Self::BeforeStep, Self::BeforeSave, Self::BeforeAnswer, Self::Refused];
}

impl Findings {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Them all, in the order in which they were found.
    #[must_use]
    pub fn as_slice(&self) -> &[Finding] {
        &self.0
    }

    pub(super) fn add(
        &mut self,
        failed: Option<(&PhaseName, Point)>,
        differences: impl IntoIterator<Item = Difference>,
    ) {
        let failed = failed.map(|(phase, point)| (phase.clone(), point));
        self.0
            .extend(differences.into_iter().map(|difference| Finding { failed: failed.clone(), difference }));
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failed {
            Some((phase, point)) => write!(f, "{phase}, {point}: {}", self.difference),
            None => write!(f, "where no worker failed: {}", self.difference),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeStep => "after a death before the step",
            Self::BeforeSave => "after a death between the step and its save",
            Self::BeforeAnswer => "after a death between the save and its answer",
            Self::Refused => "after a save that was refused over another claim",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { phase, message } => write!(f, "the step of {phase} failed: {message}"),
            Self::Returned { phase, first, again } => {
                write!(f, "the step of {phase} returned {}, and first {}", Told(again), Told(first))
            }
            Self::Outside { first, again } => write!(f, "the world outside shows {again}, and first {first}"),
            Self::Lost { phase, why } => write!(f, "the lease was lost at {phase}: {why}"),
            Self::NotClaimed(verdict) => write!(f, "the next worker did not get the run: {verdict:?}"),
            Self::NotSaved { phase, message } => write!(f, "the save of {phase} was not taken: {message}"),
            Self::LateSaveLanded(phase) => {
                write!(f, "a save of {phase} landed though another worker had the run")
            }
            Self::NotCompleted(status) => write!(f, "the run is {status}"),
            Self::Receipts(phases) => {
                let phases: Vec<&str> = phases.iter().map(PhaseName::as_str).collect();
                write!(f, "the receipts are those of [{}]", phases.join(", "))
            }
            Self::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(|number| number.get().to_string()).collect();
                write!(f, "the numbers of the receipts fall: [{}]", numbers.join(", "))
            }
            Self::Effects(effects) => write!(f, "the effects that stand are {}", Rows(effects)),
            Self::CalledAgain(phase) => {
                write!(f, "the step of {phase} was called though its receipt was there")
            }
        }
    }
}

/// What a step returned, as text.
struct Told<'a>(&'a Done);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.receipt.to_json())?;
        if self.0.effects.is_empty() {
            Ok(())
        } else {
            write!(f, " with {}", Rows(self.0.effects.as_slice()))
        }
    }
}

/// Effects as text.
struct Rows<'a>(&'a [Effect]);

impl fmt::Display for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |effect: &Effect| format!("{} {}", effect.kind.as_str(), effect.body.to_json());
        write!(f, "[{}]", self.0.iter().map(row).collect::<Vec<_>>().join(", "))
    }
}
