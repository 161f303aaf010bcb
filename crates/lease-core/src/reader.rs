//! The read port: what operators, dashboards and steps may look at. Nothing here changes a run.

use async_trait::async_trait;

use crate::attempt::{Attempt, AttemptOutcome};
use crate::digest::Digest;
use crate::ids::{RunId, RunKey};
use crate::plan::PlanId;
use crate::receipt::Receipt;
use crate::run::{Run, Status};
use crate::store::StoreError;
use crate::timestamp::Timestamp;

/// How a person names a run: an id, the beginning of one, or a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSelector(String);

/// A run with what the store's clock says at the moment it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunView {
    /// The run.
    pub run: Run,
    /// The outcome of its newest attempt.
    pub last_outcome: Option<AttemptOutcome>,
    /// The store's clock when it was read.
    pub now: Timestamp,
}

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Only with this status.
    pub status: Option<Status>,
    /// Only with this outcome of the newest attempt.
    pub last_outcome: Option<AttemptOutcome>,
    /// Only with this key.
    pub key: Option<RunKey>,
    /// At most so many; at most [`RunFilter::LIMIT`].
    pub limit: u32,
}

/// Runs in the order they were submitted, the newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunView>,
    /// Whether the limit cut the list.
    pub more: bool,
}

/// Open runs of a plan that the asking worker does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranded {
    /// The plan.
    pub plan: PlanId,
    /// How many open runs have it.
    pub runs: u64,
}

/// What an operator did to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorAction {
    /// When, by the store's clock.
    pub at: Timestamp,
    /// What: `approve`, `cancel`, ….
    pub action: String,
    /// Who.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// The read port of a store.
///
/// # Cancel safety
/// Every method only reads; dropping the future has no effect.
#[async_trait]
pub trait RunReader: Send + Sync {
    /// The runs that a selector may mean: the one with this id or key, else those whose id begins
    /// so (at most two, which tells a unique prefix from an ambiguous one).
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn find(&self, selector: &RunSelector) -> Result<Vec<RunId>, StoreError>;

    /// One run.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn view(&self, run: RunId) -> Result<Option<RunView>, StoreError>;

    /// Runs by status, outcome or key.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn list(&self, filter: &RunFilter) -> Result<RunPage, StoreError>;

    /// A run's receipts in the order of its phases. Read under a lease, they are the receipts of
    /// all phases up to the one the claim goes on from.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn receipts(&self, run: RunId) -> Result<Vec<Receipt>, StoreError>;

    /// A run's attempts, oldest first.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>, StoreError>;

    /// The ids of runs, in the order of the ids, after this one: at most `limit`.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn runs_after(&self, after: Option<RunId>, limit: u32) -> Result<Vec<RunId>, StoreError>;

    /// What operators did to a run, oldest first.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn actions(&self, run: RunId) -> Result<Vec<OperatorAction>, StoreError>;

    /// Open runs whose plan is not among these.
    ///
    /// # Errors
    /// Where the store does not answer.
    async fn stranded(&self, known: &[Digest]) -> Result<Vec<Stranded>, StoreError>;
}

impl RunSelector {
    /// The shortest beginning of an id that is looked for, in characters.
    pub const SHORTEST_PREFIX: usize = 4;

    /// What a person typed.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as the beginning of an id (lower case), if it can be one.
    #[must_use]
    pub fn id_prefix(&self) -> Option<String> {
        let fits = (Self::SHORTEST_PREFIX..=36).contains(&self.0.len());
        let plain = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        (fits && self.0.bytes().all(plain)).then(|| self.0.to_ascii_lowercase())
    }
}

impl RunFilter {
    /// The most runs one list returns.
    pub const LIMIT: u32 = 10_000;
}
