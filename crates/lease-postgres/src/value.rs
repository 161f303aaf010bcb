//! Column values as values of the domain. What cannot be one is a [`BadValue`], never a guess.

use std::error::Error;

use lease_core::{
    Document, Failure, FencingToken, Hold, LeaseEnd, OwnerId, Phase, PhaseList, Plan, PlanId, PlanName,
    PlanVersion, StoreError, Timestamp,
};

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
pub(crate) fn invalid<E>(column: &'static str) -> impl FnOnce(E) -> BadValue
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    move |source| BadValue::Invalid { column, source: source.into() }
}

/// A value that must be there.
pub(crate) fn present<T>(column: &'static str, value: Option<T>) -> Result<T, BadValue> {
    value.ok_or(BadValue::Missing(column))
}

pub(crate) fn fence(value: i64) -> Result<FencingToken, BadValue> {
    FencingToken::from_column(value).map_err(invalid("fence"))?.ok_or(BadValue::Missing("fence"))
}

pub(crate) fn owner(value: String) -> Result<OwnerId, BadValue> {
    OwnerId::from_stored(value).map_err(invalid("owner"))
}

pub(crate) fn phase(value: &str) -> Result<Phase, BadValue> {
    Phase::new(value).map_err(invalid("phase"))
}

pub(crate) fn count(column: &'static str, value: i32) -> Result<u32, BadValue> {
    u32::try_from(value).map_err(invalid(column))
}

pub(crate) fn document(column: &'static str, text: &str) -> Result<Document, BadValue> {
    Document::from_json(text.as_bytes()).map_err(invalid(column))
}

pub(crate) fn failure(text: &str) -> Result<Failure, BadValue> {
    let document = document("error", text)?;
    Failure::from_document(&document)
        .ok_or_else(|| invalid("error")("not an object with phase, kind, message and attempts"))
}

pub(crate) fn plan_id(name: String, version: i32, digest: &str) -> Result<PlanId, BadValue> {
    Ok(PlanId {
        name: PlanName::new(name).map_err(invalid("plan"))?,
        version: PlanVersion::new(i64::from(version)).map_err(invalid("plan_version"))?,
        digest: digest.parse().map_err(invalid("plan_digest"))?,
    })
}

pub(crate) fn plan(name: String, version: i32, digest: &str, phases: Vec<String>) -> Result<Plan, BadValue> {
    let id = plan_id(name, version, digest)?;
    Ok(Plan { id, phases: PhaseList::from_names(phases).map_err(invalid("phases"))? })
}

/// Who has or had the current number, from the four columns that say so.
pub(crate) fn hold(
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
