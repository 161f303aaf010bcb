//! Column values as values of the domain, for stores that keep runs in tables. What cannot be one is a
//! [`BadValue`], never a guess.

use std::error::Error;

use uuid::Uuid;

use crate::document::Document;
use crate::failure::Failure;
use crate::fence::FencingToken;
use crate::ids::{Priority, RunId, RunKey};
use crate::owner::OwnerId;
use crate::phase::{Phase, PhaseList};
use crate::plan::{Plan, PlanId, PlanName, PlanVersion};
use crate::run::{Hold, LeaseEnd, PhaseMark, Run};
use crate::store::StoreError;
use crate::timestamp::Timestamp;

/// A value in the store that breaks the store's own rules.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadValue {
    /// The value cannot be what its column holds.
    #[error("column {column} holds no valid value")]
    Invalid {
        /// The column.
        column: &'static str,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The value is missing.
    #[error("column {0} is empty")]
    Missing(&'static str),
    /// Columns contradict each other.
    #[error("columns contradict each other: {0}")]
    Contradiction(&'static str),
    /// The statement gave an answer that it cannot give.
    #[error("the statement answered {0:?}, which is none of its answers")]
    Answer(Option<String>),
}

impl From<BadValue> for StoreError {
    fn from(bad: BadValue) -> Self {
        Self::Corrupt(Box::new(bad))
    }
}

/// What an error says of the column that it was found in.
pub fn invalid<E>(column: &'static str) -> impl FnOnce(E) -> BadValue
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    move |source| BadValue::Invalid { column, source: source.into() }
}

/// A value that must be there.
///
/// # Errors
/// When it is not.
pub fn present<T>(column: &'static str, value: Option<T>) -> Result<T, BadValue> {
    value.ok_or(BadValue::Missing(column))
}

/// A number that was given out.
///
/// # Errors
/// When the value is none.
pub fn fence(value: i64) -> Result<FencingToken, BadValue> {
    FencingToken::from_column(value).map_err(invalid("fence"))?.ok_or(BadValue::Missing("fence"))
}

/// An owner.
///
/// # Errors
/// When the value is none.
pub fn owner(value: String) -> Result<OwnerId, BadValue> {
    OwnerId::from_stored(value).map_err(invalid("owner"))
}

/// A phase, or the start.
///
/// # Errors
/// When the value is none.
pub fn phase(value: &str) -> Result<Phase, BadValue> {
    Phase::new(value).map_err(invalid("phase"))
}

/// A count.
///
/// # Errors
/// When the value is none.
pub fn count(column: &'static str, value: i32) -> Result<u32, BadValue> {
    u32::try_from(value).map_err(invalid(column))
}

/// A JSON object.
///
/// # Errors
/// When the value is none.
pub fn document(column: &'static str, text: &str) -> Result<Document, BadValue> {
    Document::from_json(text.as_bytes()).map_err(invalid(column))
}

/// Why a run failed.
///
/// # Errors
/// When the value is none.
pub fn failure(text: &str) -> Result<Failure, BadValue> {
    let document = document("error", text)?;
    Failure::from_document(&document)
        .ok_or_else(|| invalid("error")("not an object with phase, kind, message and attempts"))
}

/// A plan's name, version and digest.
///
/// # Errors
/// When the value is none.
pub fn plan_id(name: String, version: i32, digest: &str) -> Result<PlanId, BadValue> {
    Ok(PlanId {
        name: PlanName::new(name).map_err(invalid("plan"))?,
        version: PlanVersion::new(i64::from(version)).map_err(invalid("plan_version"))?,
        digest: digest.parse().map_err(invalid("plan_digest"))?,
    })
}

/// A plan with its phases.
///
/// # Errors
/// When the value is none.
pub fn plan(name: String, version: i32, digest: &str, phases: Vec<String>) -> Result<Plan, BadValue> {
    let id = plan_id(name, version, digest)?;
    Ok(Plan { id, phases: PhaseList::from_names(phases).map_err(invalid("phases"))? })
}

/// Who has or had the current number, from the four columns that say so.
///
/// # Errors
/// When they contradict each other.
pub fn hold(
    current: i64,
    holder: Option<String>,
    expires_us: Option<i64>,
    ended: Option<String>,
) -> Result<Hold, BadValue> {
    let current = FencingToken::from_column(current).map_err(invalid("fence"))?;
    match (current, holder, expires_us, ended) {
        (None, None, None, None) => Ok(Hold::Never),
        (Some(fence), Some(holder), Some(expires), None) => {
            Ok(Hold::Held { fence, owner: owner(holder)?, expires_at: Timestamp::from_micros(expires) })
        }
        (Some(fence), Some(holder), None, Some(ended)) => {
            let how: LeaseEnd = ended.parse().map_err(invalid("lease_ended"))?;
            Ok(Hold::Ended { fence, owner: owner(holder)?, how })
        }
        (None | Some(_), _, _, _) => {
            Err(BadValue::Contradiction("fence, owner, lease_expires_at and lease_ended"))
        }
    }
}

/// A run as its columns: each with the name that it has in a table, instants as microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are explained in the stores' migrations")]
pub struct StoredRun {
    pub id: Uuid,
    pub key: String,
    pub plan: String,
    pub plan_version: i32,
    pub plan_digest: String,
    pub phases: Vec<String>,
    pub priority: i32,
    pub phase: String,
    pub phase_fence: Option<i64>,
    pub phase_owner: Option<String>,
    pub phase_digest: Option<String>,
    pub status: String,
    pub paused: bool,
    pub fence: i64,
    pub owner: Option<String>,
    pub expires_us: Option<i64>,
    pub lease_ended: Option<String>,
    pub losses: i32,
    pub failures: i32,
    pub due_us: i64,
    pub key_epoch: i32,
    pub input: String,
    pub input_digest: String,
    pub error: Option<String>,
    pub submitted_us: i64,
}

impl TryFrom<StoredRun> for Run {
    type Error = BadValue;

    fn try_from(row: StoredRun) -> Result<Self, BadValue> {
        let StoredRun {
            id,
            key,
            plan: plan_name,
            plan_version,
            plan_digest,
            phases,
            priority,
            phase: saved,
            phase_fence,
            phase_owner,
            phase_digest,
            status,
            paused,
            fence: current,
            owner: holder,
            expires_us,
            lease_ended,
            losses,
            failures,
            due_us,
            key_epoch,
            input,
            input_digest,
            error,
            submitted_us,
        } = row;
        Ok(Self {
            id: RunId::new(id),
            key: RunKey::new(key).map_err(invalid("key"))?,
            plan: plan(plan_name, plan_version, &plan_digest, phases)?,
            priority: Priority::new(priority).ok_or(BadValue::Contradiction("priority and its range"))?,
            phase: phase(&saved)?,
            mark: mark(phase_fence, phase_owner, phase_digest)?,
            status: status.parse().map_err(invalid("status"))?,
            paused,
            hold: hold(current, holder, expires_us, lease_ended)?,
            losses: count("losses", losses)?,
            failures: count("failures", failures)?,
            due_at: Timestamp::from_micros(due_us),
            key_epoch: count("key_epoch", key_epoch)?,
            input: document("input", &input)?,
            input_digest: input_digest.parse().map_err(invalid("input_digest"))?,
            error: error.as_deref().map(failure).transpose()?,
            submitted_at: Timestamp::from_micros(submitted_us),
        })
    }
}

fn mark(
    saved_by: Option<i64>,
    saver: Option<String>,
    digest: Option<String>,
) -> Result<Option<PhaseMark>, BadValue> {
    match (saved_by, saver, digest) {
        (None, None, None) => Ok(None),
        (Some(saved_by), Some(saver), Some(digest)) => Ok(Some(PhaseMark {
            fence: fence(saved_by)?,
            owner: owner(saver)?,
            digest: digest.parse().map_err(invalid("phase_digest"))?,
        })),
        (None | Some(_), _, _) => Err(BadValue::Contradiction("phase_fence, phase_owner and phase_digest")),
    }
}
