//! Exit codes: what scripts rely on, and which one wins where several apply.

use std::process::ExitCode;

/// How the program ends, in the order of precedence: where several apply, the first of this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Wrong usage, or settings that do not fit each other.
    Usage,
    /// Bad input: a record, a plan file, a key that exists with other content, a RUN that does not
    /// exist.
    BadInput,
    /// The database cannot be reached, is not migrated, or is newer than the program.
    Database,
    /// An unexpected error.
    Unexpected,
    /// A run failed here, or one that was asked for is failed or cancelled.
    Failed,
    /// A lease was lost here, save on a run that was asked for and was completed since.
    LeaseLost,
    /// What is left waits for a person, or for a worker with another plan.
    LeftForOthers,
    /// An operator's action does not fit the run's state, or was declined when asked.
    DoesNotFit,
    /// `migrate --check`: there is something to do.
    ToDo,
    /// Ctrl-C ended the work before it was done.
    Interrupted,
    /// SIGTERM ended the work before it was done.
    Terminated,
    /// Done.
    Done,
}

/// The codes, for `--help`.
pub(crate) const HELP: &str = "\
Exit codes; where several apply, the first of this list:
    2   wrong usage, or settings that do not fit each other
   65   bad input: records, plan files, a key that exists with other content, a RUN that does not exist
   69   the database cannot be reached, is not migrated, or is newer than the program
    1   an unexpected error
   20   run, work --run, work --drain: a run failed here, or one asked for is failed or cancelled
   75   the same: a lease was lost here; run does not count it where the supplier was completed since
   21   run: what is left waits for a person, or for a worker with another plan
   22   an operator's action does not fit the run's state, or was declined; nothing changed
   23   migrate --check: there is something to do
  130, 143   Ctrl-C or SIGTERM ended a run before it was done, or a second one ended a worker at once
    0   done";

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::BadInput => 65,
            Self::Database => 69,
            Self::Unexpected => 1,
            Self::Failed => 20,
            Self::LeaseLost => 75,
            Self::LeftForOthers => 21,
            Self::DoesNotFit => 22,
            Self::ToDo => 23,
            Self::Interrupted => 130,
            Self::Terminated => 143,
            Self::Done => 0,
        }
    }

    /// The one that wins where both apply.
    pub(crate) fn or(self, other: Self) -> Self {
        self.min(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_several_apply_the_first_of_the_list_wins() {
        assert_eq!(Exit::Done.or(Exit::LeftForOthers), Exit::LeftForOthers);
        assert_eq!(Exit::LeaseLost.or(Exit::Failed), Exit::Failed);
        assert_eq!(Exit::Failed.or(Exit::BadInput).code(), 65);
        assert_eq!(Exit::Unexpected.or(Exit::Database).code(), 69);
    }
}
