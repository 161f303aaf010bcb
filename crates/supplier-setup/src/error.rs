//! What ends a verb early: errors that are expected, each with its exit code and with what an
//! operator would type next; and the rest, which are bugs or broken machines.
//!
//! Printed once, at the top, with the whole chain of causes. Messages of foreign errors pass through
//! [`without_passwords`].

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use lease_core::{
    Digest, InvalidKey, InvalidOwner, InvalidPhase, InvalidWho, PlanId, SettingsError, StoreError,
};
use lease_postgres::InvalidUrl;
use lease_sqlite::Sealed;
use supplier_runner::plan::PlanError;
use supplier_runner::worker::WorkerSettingsError;

use crate::database_url::without_passwords;
use crate::exit::Exit;
use crate::output::plain::plain;

/// Why a verb could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// No URL was given.
    #[error("no database is named")]
    NoDatabaseUrl,
    /// A file that cannot be used.
    #[error("cannot open the runs' file")]
    OpenFile(#[source] StoreError),
    /// A URL without anything in it: a setting that got lost, most likely.
    #[error("the database URL is empty")]
    EmptyUrl,
    /// A URL of something else.
    #[error("the database URL does not begin with postgres:// or sqlite://")]
    ForeignUrl,
    /// A URL that cannot be read. It is not shown, since nobody can tell where its password is.
    #[error("the database URL cannot be read")]
    UnreadableUrl,
    /// A URL with a part that cannot be used.
    #[error(transparent)]
    InvalidUrl(#[from] InvalidUrl),
    /// Lease settings that do not fit each other.
    #[error(transparent)]
    LeaseSettings(#[from] SettingsError),
    /// Worker settings out of range.
    #[error(transparent)]
    WorkerSettings(#[from] WorkerSettingsError),
    /// A lease that is over before a database has answered.
    #[error("ttl of {ttl:?} is shorter than {shortest:?}: too short for a database to answer in")]
    TtlTooShort {
        /// The TTL asked for.
        ttl: Duration,
        /// The shortest one taken.
        shortest: Duration,
    },
    /// A limit of zero.
    #[error("loss limit of {0} is not between 1 and 2147483647")]
    LossLimit(u32),
    /// A worker's name that cannot be used.
    #[error("the worker's name cannot be used")]
    WorkerName(#[source] InvalidOwner),
    /// An operator's name or reason that cannot be kept.
    #[error("the action cannot be signed")]
    Who(#[from] InvalidWho),
    /// A phase that no plan can have.
    #[error("the phase cannot be used")]
    PhaseName(#[from] InvalidPhase),
    /// A key that no run can have.
    #[error("the key cannot be used")]
    Key(#[from] InvalidKey),
    /// A plan that cannot be used.
    #[error("cannot {0}")]
    Plan(#[from] PlanError),
    /// Runs use another plan under the same name and version.
    #[error("plan {plan} is in use with other content: runs have digest {registered}, the one given here is {given}", given = plan.digest)]
    PlanConflict {
        /// The plan that was given.
        plan: PlanId,
        /// The digest of the one in use.
        registered: Digest,
    },
    /// Two plans of one command line have the same name and version.
    #[error("plan {plan} is given twice with other content: digests {first} and {second}", second = plan.digest)]
    PlanTwice {
        /// The second of them.
        plan: PlanId,
        /// The digest of the first.
        first: Digest,
    },
    /// A run whose plan was not given.
    #[error("run {run} has plan {plan} (digest {digest}), which was not given", digest = plan.digest)]
    PlanNotGiven {
        /// The run, as it was named.
        run: String,
        /// Its plan.
        plan: PlanId,
    },
    /// No run has this name.
    #[error("there is no run with the id or key {0:?}")]
    NoSuchRun(String),
    /// The run changed each time it was read.
    #[error("run {0} changes faster than it can be read")]
    KeepsChanging(String),
    /// Several runs have this name.
    #[error("{text:?} could be {first} and {second}, at least")]
    AmbiguousRun {
        /// What was typed.
        text: String,
        /// One of them.
        first: String,
        /// Another one.
        second: String,
    },
    /// The database cannot be reached.
    #[error("cannot reach the database at {at}")]
    Connect {
        /// Where, without user and password.
        at: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The schema is missing or older.
    #[error("the database at {at} is not migrated: {missing}")]
    NotMigrated {
        /// Where, without user and password.
        at: String,
        /// What is missing.
        missing: String,
    },
    /// The schema is newer.
    #[error("the database at {at} is newer than this program: {unknown}")]
    NewerDatabase {
        /// Where, without user and password.
        at: String,
        /// What is not known.
        unknown: String,
    },
    /// The schema was changed behind the program's back.
    #[error("the database at {at} is not this program's: {what}")]
    AlteredDatabase {
        /// Where, without user and password.
        at: String,
        /// What differs.
        what: String,
    },
    /// The store gave no answer, or an unexpected one.
    #[error("cannot {doing}")]
    Store {
        /// What was asked for, after "cannot".
        doing: &'static str,
        /// What came of it.
        #[source]
        source: StoreError,
    },
    /// A transfer between other places than it is made for.
    #[error("runs move from sqlite://… to postgres://…, and not otherwise")]
    TransferDirection,
    /// The runs of the file in use have moved.
    #[error("the runs of this file have moved to {0}; it can be read, and not worked on any more")]
    Moved(String),
    /// Somebody works on a run that is to move.
    #[error("the runs cannot move now: {0}")]
    HeldSource(String),
    /// A key of the file's is in use where its runs are to go.
    #[error("{at} has a run with the key {key} already; nothing was moved")]
    KeyTaken {
        /// Where.
        at: String,
        /// The key.
        key: String,
    },
    /// The runs of a file have moved before.
    #[error("the runs of {from} have moved to {to} already")]
    MovedBefore {
        /// The file.
        from: String,
        /// Where they went.
        to: String,
    },
    /// The file is sealed for a transfer to another place.
    #[error("{from} is sealed for a transfer to {to}, which was not finished")]
    OtherTransfer {
        /// The file.
        from: String,
        /// Where its runs were to go.
        to: String,
    },
    /// What arrived is not what was sent. Nothing was kept.
    #[error(
        "what arrived is not what was sent ({0}); nothing was kept, and the file may be worked on as before"
    )]
    TransferDiffers(String),
    /// Nobody knows whether the transfer arrived.
    #[error("nobody knows whether the runs arrived; the file stays sealed")]
    TransferUnknown(#[source] StoreError),
    /// The role may not make the demonstration's database.
    #[error("cannot make a database for the demonstration")]
    NoScratch(#[source] StoreError),
    /// The store refused a worker's claims again and again.
    #[error("cannot claim runs")]
    Claims(#[source] Arc<StoreError>),
    /// An operator's action whose answer got lost.
    #[error("nobody knows whether the action took effect")]
    ActionUnknown(#[source] StoreError),
    /// Standard output cannot be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
    /// The system refuses threads, signals or the like.
    #[error("cannot {doing}")]
    System {
        /// What was asked for, after "cannot".
        doing: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NoDatabaseUrl
            | Self::EmptyUrl
            | Self::TransferDirection
            | Self::ForeignUrl
            | Self::UnreadableUrl
            | Self::InvalidUrl(_)
            | Self::LeaseSettings(_)
            | Self::WorkerSettings(_)
            | Self::TtlTooShort { .. }
            | Self::LossLimit(_)
            | Self::WorkerName(_)
            | Self::Who(_)
            | Self::PhaseName(_)
            | Self::Key(_) => Exit::Usage,
            Self::Plan(_)
            | Self::PlanConflict { .. }
            | Self::PlanTwice { .. }
            | Self::PlanNotGiven { .. }
            | Self::NoSuchRun(_)
            | Self::AmbiguousRun { .. } => Exit::BadInput,
            Self::Connect { .. }
            | Self::TransferUnknown(_)
            | Self::OpenFile(_)
            | Self::NotMigrated { .. }
            | Self::NewerDatabase { .. }
            | Self::AlteredDatabase { .. }
            | Self::ActionUnknown(_) => Exit::Database,
            Self::Store { source, .. } => of_store(source),
            Self::Claims(source) => of_store(source),
            Self::KeyTaken { .. } => Exit::BadInput,
            Self::Moved(_) | Self::HeldSource(_) | Self::MovedBefore { .. } | Self::OtherTransfer { .. } => {
                Exit::DoesNotFit
            }
            Self::KeepsChanging(_)
            | Self::TransferDiffers(_)
            | Self::NoScratch(_)
            | Self::Output(_)
            | Self::System { .. } => Exit::Unexpected,
        }
    }

    /// What to do next, where there is one thing to do.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoDatabaseUrl => Some(
                "set DATABASE_URL or give --database-url with postgres://USER:PASSWORD@HOST/DATABASE or sqlite://PATH; \
                 or set HOME or XDG_DATA_HOME, where a file is made",
            ),
            Self::EmptyUrl => Some(
                "write it as postgres://USER:PASSWORD@HOST/DATABASE or sqlite://PATH; or take DATABASE_URL out of the \
                 environment, and runs are kept in a file of yours",
            ),
            Self::ForeignUrl | Self::UnreadableUrl | Self::InvalidUrl(_) => Some(
                "write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, special characters as %XX; or as sqlite://PATH",
            ),
            Self::PlanConflict { .. } | Self::PlanTwice { .. } => {
                Some("give the changed plan a new version, or use the old file")
            }
            Self::PlanNotGiven { .. } => Some("give the file of that plan with --plan"),
            Self::NoSuchRun(_) => Some("supplier-setup list"),
            Self::KeepsChanging(_) => Some("the same again"),
            Self::AmbiguousRun { .. } => Some("give more of the id"),
            Self::OpenFile(_) => {
                Some("--database-url sqlite://PATH with a file on a local disk, or postgres://…")
            }
            Self::Connect { .. } => Some("check DATABASE_URL, and that the server runs and lets you in"),
            Self::NotMigrated { .. } => Some("supplier-setup migrate"),
            Self::NewerDatabase { .. } => Some("use a newer supplier-setup"),
            Self::AlteredDatabase { .. } => {
                Some("use the supplier-setup that the database was migrated with")
            }
            Self::ActionUnknown(_) => {
                Some("see how the run stands with supplier-setup show RUN, then decide")
            }
            Self::Store { source: StoreError::Schema(_), .. } => Some("supplier-setup migrate"),
            Self::OtherTransfer { .. } => Some("finish it: the same transfer again, with that --to"),
            Self::TransferUnknown(_) => Some("the same transfer again: it finds out and finishes"),
            Self::Moved(_) => Some("the same with --database-url and that address"),
            Self::KeyTaken { .. } => Some(
                "an empty database, or another key for the supplier: a run keeps what it was submitted with",
            ),
            Self::HeldSource(_)
            | Self::MovedBefore { .. }
            | Self::TransferDirection
            | Self::TransferDiffers(_) => None,
            Self::NoScratch(_) => Some("use a role that may (ALTER ROLE … CREATEDB), or another server"),
            Self::Claims(source) if matches!(**source, StoreError::Schema(_)) => {
                Some("supplier-setup migrate --check")
            }
            Self::Store { .. }
            | Self::Claims(_)
            | Self::LeaseSettings(_)
            | Self::WorkerSettings(_)
            | Self::TtlTooShort { .. }
            | Self::LossLimit(_)
            | Self::WorkerName(_)
            | Self::Who(_)
            | Self::PhaseName(_)
            | Self::Key(_)
            | Self::Plan(_)
            | Self::Output(_)
            | Self::System { .. } => None,
        }
    }

    /// The error with all its causes, and what to do next.
    pub(crate) fn report(&self) -> String {
        let mut report = format!("error: {}", chain(self));
        if let Some(hint) = self.hint() {
            report.push_str("\n  try: ");
            report.push_str(hint);
        }
        report
    }

    /// Wraps a store's error with what was asked for.
    pub(crate) fn store(doing: &'static str) -> impl Fn(StoreError) -> Self {
        move |source| Self::of_store(doing, source)
    }

    /// The same, for an error that is there already.
    pub(crate) fn of_store(doing: &'static str, source: StoreError) -> Self {
        match moved_to(&source) {
            Some(to) => Self::Moved(to),
            None => Self::Store { doing, source },
        }
    }

    /// What a worker ends with whose claims were refused again and again.
    pub(crate) fn of_claims(error: &Arc<StoreError>) -> Self {
        match moved_to(error) {
            Some(to) => Self::Moved(to),
            None => Self::Claims(Arc::clone(error)),
        }
    }
}

/// Where the runs have gone, for an error of a file that is sealed.
fn moved_to(error: &StoreError) -> Option<String> {
    let sealed = error.source()?.downcast_ref::<Sealed>()?;
    Some(sealed.destination.clone())
}

fn of_store(error: &StoreError) -> Exit {
    let schema = matches!(error, StoreError::Schema(_));
    if schema || error.may_try_again() { Exit::Database } else { Exit::Unexpected }
}

/// A message and its causes in one line, none said twice, and safe on a terminal.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    plain(&without_passwords(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_chain_is_told_once_and_without_passwords() {
        let cause = io::Error::other("postgres://u:secret@h/d refused");
        let source = StoreError::Unreachable(Box::new(cause));
        let error = Error::Connect { at: "postgres://h/d".to_owned(), source };
        let report = error.report();
        let expected = "error: cannot reach the database at postgres://h/d: the store cannot be reached: \
                        postgres://…@h/d refused\n  try: ";
        assert!(report.starts_with(expected), "{report}");
        assert_eq!(error.exit(), Exit::Database);
    }

    #[test]
    fn an_unexpected_store_error_is_told_from_a_store_that_is_away() {
        let away = StoreError::NotApplied("57P03".into());
        assert_eq!(Error::Store { doing: "list runs", source: away }.exit(), Exit::Database);
        let bug = StoreError::Corrupt("fence -1".into());
        assert_eq!(Error::Store { doing: "list runs", source: bug }.exit(), Exit::Unexpected);
    }
}
