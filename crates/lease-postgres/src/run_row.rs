//! A whole run, as `view` and `list` read it.

use lease_core::{AttemptOutcome, PhaseMark, Priority, Run, RunId, RunKey, RunView, Timestamp};
use uuid::Uuid;

use crate::row::row;
use crate::value::{self, BadValue, count, invalid};

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
        let run = Run {
            id: RunId::new(id),
            key: RunKey::new(key).map_err(invalid("key"))?,
            plan: value::plan(plan, plan_version, &plan_digest, phases)?,
            priority: Priority::new(priority).ok_or(BadValue::Contradiction("priority and its range"))?,
            phase: value::phase(&phase)?,
            mark: mark(phase_fence, phase_owner, phase_digest)?,
            status: status.parse().map_err(invalid("status"))?,
            paused,
            hold: value::hold(fence, owner, expires_us, lease_ended)?,
            losses: count("losses", losses)?,
            failures: count("failures", failures)?,
            due_at: Timestamp::from_micros(due_us),
            key_epoch: count("key_epoch", key_epoch)?,
            input: value::document("input", &input)?,
            input_digest: input_digest.parse().map_err(invalid("input_digest"))?,
            error: error.as_deref().map(value::failure).transpose()?,
            submitted_at: Timestamp::from_micros(submitted_us),
        };
        Ok(Self {
            run,
            last_outcome: last_outcome.map_err(invalid("outcome"))?,
            now: Timestamp::from_micros(now_us),
        })
    }
}

fn mark(
    fence: Option<i64>,
    owner: Option<String>,
    digest: Option<String>,
) -> Result<Option<PhaseMark>, BadValue> {
    match (fence, owner, digest) {
        (None, None, None) => Ok(None),
        (Some(fence), Some(owner), Some(digest)) => Ok(Some(PhaseMark {
            fence: value::fence(fence)?,
            owner: value::owner(owner)?,
            digest: digest.parse().map_err(invalid("phase_digest"))?,
        })),
        (None | Some(_), _, _) => Err(BadValue::Contradiction("phase_fence, phase_owner and phase_digest")),
    }
}
