//! A whole run, as `view` and `list` read it.

use lease_core::stored::{BadValue, StoredRun, invalid};
use lease_core::{AttemptOutcome, RunView, Timestamp};
use uuid::Uuid;

use crate::row::row;

row! {
    /// Columns of `view` and `list`.
    RunRow {
        id: Uuid,
        key: String,
        plan: String,
        plan_version: i32,
        plan_digest: String,
        phases: Vec<String>,
        priority: i32,
        phase: String,
        phase_fence: Option<i64>,
        phase_owner: Option<String>,
        phase_digest: Option<String>,
        status: String,
        paused: bool,
        fence: i64,
        owner: Option<String>,
        lease_ended: Option<String>,
        losses: i32,
        failures: i32,
        key_epoch: i32,
        input: String,
        input_digest: String,
        error: Option<String>,
        expires_us: Option<i64>,
        due_us: i64,
        submitted_us: i64,
        last_outcome: Option<String>,
        now_us: i64,
    }
}

impl TryFrom<RunRow> for RunView {
    type Error = BadValue;

    fn try_from(row: RunRow) -> Result<Self, BadValue> {
        let RunRow {
            id,
            key,
            plan,
            plan_version,
            plan_digest,
            phases,
            priority,
            phase,
            phase_fence,
            phase_owner,
            phase_digest,
            status,
            paused,
            fence,
            owner,
            lease_ended,
            losses,
            failures,
            key_epoch,
            input,
            input_digest,
            error,
            expires_us,
            due_us,
            submitted_us,
            last_outcome,
            now_us,
        } = row;
        let last_outcome = last_outcome.map(|word| word.parse::<AttemptOutcome>()).transpose();
        let stored = StoredRun {
            id,
            key,
            plan,
            plan_version,
            plan_digest,
            phases,
            priority,
            phase,
            phase_fence,
            phase_owner,
            phase_digest,
            status,
            paused,
            fence,
            owner,
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
        };
        Ok(Self {
            run: stored.try_into()?,
            last_outcome: last_outcome.map_err(invalid("outcome"))?,
            now: Timestamp::from_micros(now_us),
        })
    }
}
