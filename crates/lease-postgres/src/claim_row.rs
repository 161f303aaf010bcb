//! The answers to claims.

use std::time::Duration;

use lease_core::{
    ClaimVerdict, Claimed, Failure, Grant, Job, LeaseId, OwnerId, RunId, RunKey, Status, Timestamp,
};
use uuid::Uuid;

use crate::row::row;
use crate::value::{self, BadValue, count, invalid, present};

row! {
    /// Columns of `claim`.
    ClaimRow {
        verdict: Option<String>,
        fence: Option<i64>,
        holder: Option<String>,
        status: Option<String>,
        key: Option<String>,
        plan: Option<String>,
        plan_version: Option<i32>,
        plan_digest: Option<String>,
        phases: Option<Vec<String>>,
        phase: Option<String>,
        next_phase: Option<String>,
        losses: Option<i32>,
        failures: Option<i32>,
        key_epoch: Option<i32>,
        input: Option<String>,
        error: Option<String>,
        due_us: Option<i64>,
        expires_us: Option<i64>,
        now_us: Option<i64>,
        end_us: i64,
    }
}

row! {
    /// Columns of `claim_next`: one row per run, or one with no run.
    NextRow {
        verdict: Option<String>,
        run: Option<Uuid>,
        fence: Option<i64>,
        owner: Option<String>,
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
        error: Option<String>,
        expires_us: Option<i64>,
        next_due_us: Option<i64>,
        next_lapse_us: Option<i64>,
        now_us: i64,
        end_us: i64,
    }
}

/// The columns of a job, as either statement has them.
struct JobColumns {
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

/// What `claim_next` found.
#[derive(Default)]
pub(crate) struct Next {
    claimed: Claimed,
}

impl ClaimRow {
    /// The verdict on a claim of `run` by `owner`.
    pub(crate) fn verdict(self, run: RunId, owner: &OwnerId) -> Result<ClaimVerdict, BadValue> {
        let Self {
            verdict,
            fence,
            holder,
            status,
            key,
            plan,
            plan_version,
            plan_digest,
            phases,
            phase,
            next_phase,
            losses,
            failures,
            key_epoch,
            input,
            error,
            due_us,
            expires_us,
            now_us,
            end_us,
        } = self;
        let instant = |column, micros| present(column, micros).map(Timestamp::from_micros);
        let fence = || value::fence(present("fence", fence)?);
        match verdict.as_deref() {
            Some("gone") => Ok(ClaimVerdict::Gone),
            Some("finished") => {
                let status: Status = present("status", status)?.parse().map_err(invalid("status"))?;
                status
                    .ending()
                    .map(ClaimVerdict::Finished)
                    .ok_or(BadValue::Contradiction("status and verdict"))
            }
            Some("unknown_plan") => Ok(ClaimVerdict::UnknownPlan(value::plan_id(
                present("plan", plan)?,
                present("plan_version", plan_version)?,
                &present("plan_digest", plan_digest)?,
            )?)),
            Some("busy") => Ok(ClaimVerdict::Busy {
                owner: value::owner(present("owner", holder)?)?,
                fence: fence()?,
                remaining: instant("lease_expires_at", expires_us)?.since(instant("now", now_us)?),
            }),
            Some("waiting") => {
                let phase = lease_core::PhaseName::new(present("next_phase", next_phase)?);
                Ok(ClaimVerdict::Waiting { phase: phase.map_err(invalid("phases"))? })
            }
            Some("paused") => Ok(ClaimVerdict::Paused),
            Some("not_due") => {
                Ok(ClaimVerdict::NotDue { due_in: instant("due_at", due_us)?.since(instant("now", now_us)?) })
            }
            Some("set_aside" | "exhausted") => {
                Ok(ClaimVerdict::SetAside(value::failure(&present("error", error)?)?))
            }
            Some("granted") if instant("lease_expires_at", expires_us)? <= Timestamp::from_micros(end_us) => {
                Ok(ClaimVerdict::Lapsed { fence: fence()? })
            }
            Some("granted") => {
                let lease = LeaseId { run, owner: owner.clone(), fence: fence()? };
                let columns = JobColumns {
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
                };
                Ok(ClaimVerdict::Granted(Box::new(Grant { lease, job: columns.try_into()? })))
            }
            Some(_) | None => Err(BadValue::Answer(verdict)),
        }
    }
}

impl Next {
    /// Takes in one row.
    pub(crate) fn take(&mut self, row: NextRow) -> Result<(), BadValue> {
        let NextRow {
            verdict,
            run,
            fence,
            owner,
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
            error,
            expires_us,
            next_due_us,
            next_lapse_us,
            now_us,
            end_us,
        } = row;
        self.claimed.next_due_in = until(now_us, next_due_us);
        self.claimed.next_lapse_in = until(now_us, next_lapse_us);
        let Some(run) = run.map(RunId::new) else { return Ok(()) };
        match verdict.as_deref() {
            Some("set_aside" | "exhausted") => {
                let key = RunKey::new(present("key", key)?).map_err(invalid("key"))?;
                let failure: Failure = value::failure(&present("error", error)?)?;
                self.claimed.set_aside.push((run, key, failure));
                Ok(())
            }
            // Used up before the answer was ready: the lease lapses like any other.
            Some("granted") if present("lease_expires_at", expires_us)? <= end_us => Ok(()),
            Some("granted") => {
                let fence = value::fence(present("fence", fence)?)?;
                let lease = LeaseId { run, owner: value::owner(present("owner", owner)?)?, fence };
                let columns = JobColumns {
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
                };
                self.claimed.grants.push(Grant { lease, job: columns.try_into()? });
                Ok(())
            }
            Some(_) | None => Err(BadValue::Answer(verdict)),
        }
    }

    /// What was found.
    pub(crate) fn claimed(self) -> Claimed {
        self.claimed
    }
}

impl TryFrom<JobColumns> for Job {
    type Error = BadValue;

    fn try_from(columns: JobColumns) -> Result<Self, BadValue> {
        let JobColumns {
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
        } = columns;
        Ok(Self {
            key: RunKey::new(present("key", key)?).map_err(invalid("key"))?,
            plan: value::plan(
                present("plan", plan)?,
                present("plan_version", plan_version)?,
                &present("plan_digest", plan_digest)?,
                present("phases", phases)?,
            )?,
            phase: value::phase(&present("phase", phase)?)?,
            losses: count("losses", present("losses", losses)?)?,
            failures: count("failures", present("failures", failures)?)?,
            key_epoch: count("key_epoch", present("key_epoch", key_epoch)?)?,
            input: value::document("input", &present("input", input)?)?,
        })
    }
}

fn until(now_us: i64, then_us: Option<i64>) -> Option<Duration> {
    then_us.map(|then| Timestamp::from_micros(then).since(Timestamp::from_micros(now_us)))
}
