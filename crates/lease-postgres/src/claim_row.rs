//! The answers to claims.

use std::time::Duration;

use lease_core::{
    ClaimVerdict, Claimed, Grant, Job, LeaseId, OwnerId, PhaseName, RunId, RunKey, Status, Timestamp,
};
use uuid::Uuid;

use crate::row::row;
use lease_core::stored::{self, BadValue, count, invalid, present};

row! {
    /// Columns that both claims have: what the holder needs to know.
    JobRow {
        key: Option<String>,
        plan: Option<String>,
        plan_version: Option<i32>,
        plan_digest: Option<String>,
        phases: Option<Vec<String>>,
        phase: Option<String>,
        losses: Option<i32>,
        failures: Option<i32>,
        key_epoch: Option<i32>,
        input: Option<String>,
    }
}

row! {
    /// Columns of `claim`.
    ClaimRow {
        verdict: Option<String>,
        fence: Option<i64>,
        holder: Option<String>,
        status: Option<String>,
        next_phase: Option<String>,
        error: Option<String>,
        due_us: Option<i64>,
        expires_us: Option<i64>,
        now_us: Option<i64>,
        end_us: i64,
    }
    with job: JobRow
}

row! {
    /// Columns of `claim_next`: one row per run, or one with no run.
    NextRow {
        verdict: Option<String>,
        run: Option<Uuid>,
        fence: Option<i64>,
        owner: Option<String>,
        error: Option<String>,
        expires_us: Option<i64>,
        next_due_us: Option<i64>,
        next_lapse_us: Option<i64>,
        now_us: i64,
        end_us: i64,
    }
    with job: JobRow
}

impl ClaimRow {
    /// The verdict on a claim of `run` by `owner`.
    pub(crate) fn verdict(self, run: RunId, owner: &OwnerId) -> Result<ClaimVerdict, BadValue> {
        let Self {
            verdict,
            fence,
            holder,
            status,
            next_phase,
            error,
            due_us,
            expires_us,
            now_us,
            end_us,
            job,
        } = self;
        let instant = |column, micros| present(column, micros).map(Timestamp::from_micros);
        let fence = || stored::fence(present("fence", fence)?);
        match verdict.as_deref() {
            Some("gone") => Ok(ClaimVerdict::Gone),
            Some("finished") => {
                let status: Status = present("status", status)?.parse().map_err(invalid("status"))?;
                let ending = status.ending().ok_or(BadValue::Contradiction("status and verdict"))?;
                Ok(ClaimVerdict::Finished(ending))
            }
            Some("unknown_plan") => Ok(ClaimVerdict::UnknownPlan(stored::plan_id(
                present("plan", job.plan)?,
                present("plan_version", job.plan_version)?,
                &present("plan_digest", job.plan_digest)?,
            )?)),
            Some("busy") => Ok(ClaimVerdict::Busy {
                owner: stored::owner(present("owner", holder)?)?,
                fence: fence()?,
                remaining: instant("lease_expires_at", expires_us)?.since(instant("now", now_us)?),
            }),
            Some("waiting") => {
                let phase = PhaseName::new(present("next_phase", next_phase)?).map_err(invalid("phases"))?;
                Ok(ClaimVerdict::Waiting { phase })
            }
            Some("paused") => Ok(ClaimVerdict::Paused),
            Some("not_due") => {
                Ok(ClaimVerdict::NotDue { due_in: instant("due_at", due_us)?.since(instant("now", now_us)?) })
            }
            Some("set_aside" | "exhausted") => {
                Ok(ClaimVerdict::SetAside(stored::failure(&present("error", error)?)?))
            }
            Some("granted") if instant("lease_expires_at", expires_us)? <= Timestamp::from_micros(end_us) => {
                Ok(ClaimVerdict::Lapsed { fence: fence()? })
            }
            Some("granted") => {
                let lease = LeaseId { run, owner: owner.clone(), fence: fence()? };
                Ok(ClaimVerdict::Granted(Box::new(Grant { lease, job: job.try_into()? })))
            }
            Some(_) | None => Err(BadValue::Answer(verdict)),
        }
    }
}

/// Takes one row of `claim_next` into what was claimed.
pub(crate) fn take(claimed: &mut Claimed, row: NextRow) -> Result<(), BadValue> {
    let NextRow {
        verdict,
        run,
        fence,
        owner,
        error,
        expires_us,
        next_due_us,
        next_lapse_us,
        now_us,
        end_us,
        job,
    } = row;
    claimed.next_due_in = until(now_us, next_due_us);
    claimed.next_lapse_in = until(now_us, next_lapse_us);
    let Some(run) = run.map(RunId::new) else { return Ok(()) };
    match verdict.as_deref() {
        Some("set_aside" | "exhausted") => {
            let key = RunKey::new(present("key", job.key)?).map_err(invalid("key"))?;
            claimed.set_aside.push((run, key, stored::failure(&present("error", error)?)?));
            Ok(())
        }
        // Used up before the answer was ready: the lease lapses like any other.
        Some("granted") if present("lease_expires_at", expires_us)? <= end_us => Ok(()),
        Some("granted") => {
            let fence = stored::fence(present("fence", fence)?)?;
            let lease = LeaseId { run, owner: stored::owner(present("owner", owner)?)?, fence };
            claimed.grants.push(Grant { lease, job: job.try_into()? });
            Ok(())
        }
        Some(_) | None => Err(BadValue::Answer(verdict)),
    }
}

impl TryFrom<JobRow> for Job {
    type Error = BadValue;

    fn try_from(row: JobRow) -> Result<Self, BadValue> {
        let JobRow {
            key,
            plan,
            plan_version,
            plan_digest,
            phases,
            phase,
            losses,
            failures,
            key_epoch,
            input,
        } = row;
        Ok(Self {
            key: RunKey::new(present("key", key)?).map_err(invalid("key"))?,
            plan: stored::plan(
                present("plan", plan)?,
                present("plan_version", plan_version)?,
                &present("plan_digest", plan_digest)?,
                present("phases", phases)?,
            )?,
            phase: stored::phase(&present("phase", phase)?)?,
            losses: count("losses", present("losses", losses)?)?,
            failures: count("failures", present("failures", failures)?)?,
            key_epoch: count("key_epoch", present("key_epoch", key_epoch)?)?,
            input: stored::document("input", &present("input", input)?)?,
        })
    }
}

fn until(now_us: i64, then_us: Option<i64>) -> Option<Duration> {
    then_us.map(|then| Timestamp::from_micros(then).since(Timestamp::from_micros(now_us)))
}
