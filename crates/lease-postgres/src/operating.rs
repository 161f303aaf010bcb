//! Submits and what operators do.

use async_trait::async_trait;
use lease_core::transition::{approval, ended_by, rejection};
use lease_core::{
    Action, Digest, FencingToken, IdempotencyKey, Operator, OperatorVerdict, PhaseName, PlanId, PlanVerdict,
    Refusal, RunId, StoreError, Submit, SubmitVerdict, Who,
};
use uuid::Uuid;

use crate::connections::Ask;
use crate::error::{IdTaken, SentTwice};
use crate::row::row;
use crate::sql;
use crate::store::PgStore;
use lease_core::stored::{self, BadValue, invalid, present};

/// How often a submit is sent again when racing ones keep getting in between.
const SUBMIT_TRIES: u32 = 8;

row! {
    /// Columns of `submit`.
    SubmitRow {
        verdict: Option<String>,
        run: Option<Uuid>,
        plan: Option<String>,
        plan_version: Option<i32>,
        plan_digest: Option<String>,
        input_digest: Option<String>,
        registered: Option<String>,
    }
}

row! {
    /// Columns of `check_plan`.
    DigestRow {
        digest: String,
    }
}

row! {
    /// Columns of every action.
    ActedRow {
        verdict: Option<String>,
        status: Option<String>,
        next_phase: Option<String>,
        fence: Option<i64>,
        owner: Option<String>,
    }
}

#[async_trait]
impl Operator for PgStore {
    async fn submit(&self, submit: &Submit) -> Result<SubmitVerdict, StoreError> {
        let phases: Vec<String> =
            submit.plan.phases.as_slice().iter().map(|phase| phase.as_str().to_owned()).collect();
        for _ in 0..SUBMIT_TRIES {
            let ask = sqlx::query(sql::SUBMIT)
                .bind(submit.id.as_uuid())
                .bind(submit.key.as_str())
                .bind(submit.plan.id.name.as_str())
                .bind(submit.plan.id.version.to_column())
                .bind(submit.plan.id.digest.to_string())
                .bind(phases.clone())
                .bind(submit.priority.get())
                .bind(submit.input.to_json())
                .bind(submit.input_digest().to_string());
            match self.connections.one::<SubmitRow>(ask).await {
                Ok(row) => {
                    if row.verdict.as_deref() == Some("id_taken") {
                        return Err(StoreError::Unexpected(Box::new(IdTaken(submit.id))));
                    }
                    if let Some(verdict) = submitted(row, submit)? {
                        return Ok(verdict);
                    }
                }
                // A racing submit registered other content for the plan, after this one's snapshot.
                Err(StoreError::Corrupt(source))
                    if is_constraint(source.as_ref(), "runs_plan_registered") => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::NotApplied(Box::new(SentTwice)))
    }

    async fn check_plan(&self, plan: &PlanId) -> Result<PlanVerdict, StoreError> {
        let ask = sqlx::query(sql::CHECK_PLAN).bind(plan.name.as_str()).bind(plan.version.to_column());
        let rows: Vec<DigestRow> = self.connections.all(ask).await?;
        let Some(DigestRow { digest }) = rows.into_iter().next() else { return Ok(PlanVerdict::Unused) };
        let registered: Digest = digest.parse().map_err(invalid("digest"))?;
        Ok(if registered == plan.digest { PlanVerdict::InUse } else { PlanVerdict::Conflict { registered } })
    }

    async fn act(&self, run: RunId, action: &Action, who: &Who) -> Result<OperatorVerdict, StoreError> {
        let row: ActedRow = match action {
            Action::Approve { phase, owner } => {
                let (receipt, digest) = approval(phase, who);
                let ask = ask(sql::APPROVE, run, who)
                    .bind(phase.as_str())
                    .bind(owner.as_str())
                    .bind(digest.to_string())
                    .bind(receipt.to_json());
                self.connections.one(ask).await?
            }
            Action::Reject { phase } => {
                // The statement counts the tries itself, on the locked row.
                let message = rejection(phase, who, 0).message;
                self.connections.one(ask(sql::REJECT, run, who).bind(phase.as_str()).bind(message)).await?
            }
            Action::Cancel => {
                self.connections.one(ask(sql::CANCEL, run, who).bind(ended_by(who).to_json())).await?
            }
            Action::Retry(key) => {
                let new_key = match key {
                    IdempotencyKey::Same => false,
                    IdempotencyKey::New => true,
                };
                self.connections.one(ask(sql::RETRY, run, who).bind(new_key)).await?
            }
            Action::Pause => self.connections.one(ask(sql::PAUSE, run, who)).await?,
            Action::Resume => self.connections.one(ask(sql::RESUME, run, who)).await?,
            Action::Revoke { fence } => {
                let ask = ask(sql::REVOKE, run, who).bind(ended_by(who).to_json()).bind(fence.to_column());
                self.connections.one(ask).await?
            }
        };
        Ok(acted(row)?)
    }
}

fn ask<'q>(statement: &'static str, run: RunId, who: &'q Who) -> Ask<'q> {
    sqlx::query(statement).bind(run.as_uuid()).bind(who.by()).bind(who.reason())
}

/// The verdict; `None`: ask again.
fn submitted(row: SubmitRow, submit: &Submit) -> Result<Option<SubmitVerdict>, BadValue> {
    let SubmitRow { verdict, run, plan, plan_version, plan_digest, input_digest, registered } = row;
    match verdict.as_deref() {
        Some("opened") => Ok(Some(SubmitVerdict::Opened)),
        Some("ask_again") => Ok(None),
        Some("plan_conflict") => {
            let registered = present("registered", registered)?.parse().map_err(invalid("registered"))?;
            Ok(Some(SubmitVerdict::PlanConflict { registered }))
        }
        Some("existing") => {
            let run = RunId::new(present("run", run)?);
            let plan = stored::plan_id(
                present("plan", plan)?,
                present("plan_version", plan_version)?,
                &present("plan_digest", plan_digest)?,
            )?;
            let input: Digest =
                present("input_digest", input_digest)?.parse().map_err(invalid("input_digest"))?;
            let content_differs = input != submit.input_digest();
            Ok(Some(if plan == submit.plan.id && !content_differs {
                SubmitVerdict::Existing { run }
            } else {
                SubmitVerdict::KeyConflict { run, plan, content_differs }
            }))
        }
        Some(_) | None => Err(BadValue::Answer(verdict)),
    }
}

fn acted(row: ActedRow) -> Result<OperatorVerdict, BadValue> {
    let ActedRow { verdict, status, next_phase, fence, owner } = row;
    let refused = |why| Ok(OperatorVerdict::Refused(why));
    match verdict.as_deref() {
        Some("gone") => Ok(OperatorVerdict::Gone),
        Some("done") => Ok(OperatorVerdict::Done),
        Some("already_so") => Ok(OperatorVerdict::AlreadySo),
        Some("status") => {
            refused(Refusal::Status(present("status", status)?.parse().map_err(invalid("status"))?))
        }
        Some("waits_for") => {
            let phase = PhaseName::new(present("next_phase", next_phase)?).map_err(invalid("phases"))?;
            refused(Refusal::WaitsFor(phase))
        }
        Some("phase_saved") => refused(Refusal::PhaseSaved),
        Some("not_held") => refused(Refusal::NotHeld),
        Some("other_fence") => {
            let fence: FencingToken = stored::fence(present("fence", fence)?)?;
            refused(Refusal::OtherFence { fence, owner: stored::owner(present("owner", owner)?)? })
        }
        Some("exhausted") => refused(Refusal::FenceExhausted),
        Some(_) | None => Err(BadValue::Answer(verdict)),
    }
}

fn is_constraint(source: &(dyn std::error::Error + 'static), name: &str) -> bool {
    let database = source.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    database.and_then(sqlx::error::DatabaseError::constraint) == Some(name)
}
