//! A run, an attempt and a lease as their columns.

use lease_core::stored::{self, BadValue, StoredRun, invalid, present};
use lease_core::{Attempt, Hold, Run, Status, Timestamp};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

/// A run as a statement returns it; `None` where there is no such run.
pub(crate) fn run(row: &SqliteRow) -> Result<Option<Run>, BadValue> {
    let Some(id) = get::<Option<String>>(row, "id")? else { return Ok(None) };
    let phases: String = get(row, "phases")?;
    let stored = StoredRun {
        id: id.parse().map_err(invalid("id"))?,
        key: get(row, "key")?,
        plan: get(row, "plan")?,
        plan_version: get(row, "plan_version")?,
        plan_digest: get(row, "plan_digest")?,
        phases: serde_json::from_str(&phases).map_err(invalid("phases"))?,
        priority: get(row, "priority")?,
        phase: get(row, "phase")?,
        phase_fence: get(row, "phase_fence")?,
        phase_owner: get(row, "phase_owner")?,
        phase_digest: get(row, "phase_digest")?,
        status: get(row, "status")?,
        paused: get(row, "paused")?,
        fence: get(row, "fence")?,
        owner: get(row, "owner")?,
        expires_us: get(row, "lease_expires_us")?,
        lease_ended: get(row, "lease_ended")?,
        losses: get(row, "losses")?,
        failures: get(row, "failures")?,
        due_us: get(row, "due_us")?,
        key_epoch: get(row, "key_epoch")?,
        input: get(row, "input")?,
        input_digest: get(row, "input_digest")?,
        error: get(row, "error")?,
        submitted_us: get(row, "submitted_us")?,
    };
    Ok(Some(stored.try_into()?))
}

/// What a renewal is judged on.
pub(crate) struct HoldRow {
    pub(crate) hold: Hold,
    pub(crate) status: Status,
    pub(crate) paused: bool,
}

/// Who holds a run; `None` where there is no such run.
pub(crate) fn hold(row: &SqliteRow) -> Result<Option<HoldRow>, BadValue> {
    let Some(fence) = get::<Option<i64>>(row, "fence")? else { return Ok(None) };
    let status: String = get(row, "status")?;
    let (owner, expires, ended) =
        (get(row, "owner")?, get(row, "lease_expires_us")?, get(row, "lease_ended")?);
    Ok(Some(HoldRow {
        hold: stored::hold(fence, owner, expires, ended)?,
        status: status.parse().map_err(invalid("status"))?,
        paused: get(row, "paused")?,
    }))
}

/// An attempt; `None` where there is no such attempt.
pub(crate) fn attempt(row: &SqliteRow) -> Result<Option<Attempt>, BadValue> {
    let Some(fence) = get::<Option<i64>>(row, "fence")? else { return Ok(None) };
    let outcome: Option<String> = get(row, "outcome")?;
    let end = match (outcome, get::<Option<i64>>(row, "ended_us")?) {
        (None, None) => None,
        (Some(word), Some(at)) => {
            Some((word.parse().map_err(invalid("outcome"))?, Timestamp::from_micros(at)))
        }
        (None | Some(_), _) => return Err(BadValue::Contradiction("outcome and ended_us")),
    };
    let reason: Option<String> = get(row, "reason")?;
    Ok(Some(Attempt {
        fence: stored::fence(fence)?,
        owner: stored::owner(get(row, "owner")?)?,
        claimed_at: Timestamp::from_micros(get(row, "claimed_us")?),
        from_phase: stored::phase(&get::<String>(row, "from_phase")?)?,
        end,
        reason: reason.map(|text| stored::document("reason", &text)).transpose()?,
    }))
}

/// The clock that a statement read.
pub(crate) fn now(row: &SqliteRow) -> Result<Timestamp, BadValue> {
    Ok(Timestamp::from_micros(present("now_us", get(row, "now_us")?)?))
}

/// A column of this name.
pub(crate) fn get<'r, T>(row: &'r SqliteRow, column: &'static str) -> Result<T, BadValue>
where
    T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    row.try_get(column).map_err(invalid(column))
}
