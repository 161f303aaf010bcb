//! Submits and operators' actions.

use async_trait::async_trait;
use lease_core::stored::invalid;
use lease_core::{
    Action, Digest, Operator, OperatorVerdict, PlanId, PlanVerdict, RunId, StoreError, Submit, SubmitVerdict,
    Who, transition,
};
use sqlx::sqlite::SqliteRow;

use crate::connections::Use;
use crate::error;
use crate::lease::{by_key, decide, json_array};
use crate::row::get;
use crate::sql;
use crate::store::SqliteStore;
use crate::transaction::Outcome;
use crate::write::{self, Ask};

#[async_trait]
impl Operator for SqliteStore {
    async fn submit(&self, submit: &Submit) -> Result<SubmitVerdict, StoreError> {
        let submit = submit.clone();
        Ok(self
            .transaction(Use::Write, move |connection| {
                Box::pin(async move {
                    let plan = &submit.plan.id;
                    let registered = plan_ask(plan).fetch_optional(&mut *connection).await;
                    let registered = registered.map_err(error::before_commit)?;
                    let registered = registered.as_ref().map(digest).transpose()?;
                    let (found, now) = by_key(connection, submit.key.as_str()).await?;
                    let verdict = transition::submit(found.as_ref(), registered, &submit);
                    if verdict != SubmitVerdict::Opened {
                        return Ok(Outcome::RollBack(verdict));
                    }
                    let phases = json_array(submit.plan.phases.as_slice().iter().map(ToString::to_string));
                    let run = transition::open(&submit, now);
                    let ask = sqlx::query(sql::NOTE_PLAN)
                        .bind(plan.name.as_str().to_owned())
                        .bind(i64::from(plan.version.get()))
                        .bind(plan.digest.to_string())
                        .bind(phases.clone());
                    write::execute(connection, ask).await?;
                    let ask = sqlx::query(sql::OPEN_RUN)
                        .bind(run.id.to_string())
                        .bind(run.key.as_str().to_owned())
                        .bind(plan.name.as_str().to_owned())
                        .bind(i64::from(plan.version.get()))
                        .bind(plan.digest.to_string())
                        .bind(phases)
                        .bind(i64::from(run.priority.get()))
                        .bind(now.as_micros())
                        .bind(run.input.to_json())
                        .bind(run.input_digest.to_string());
                    write::execute_one(connection, ask).await?;
                    Ok(Outcome::Commit(verdict))
                })
            })
            .await?
            .0)
    }

    async fn check_plan(&self, plan: &PlanId) -> Result<PlanVerdict, StoreError> {
        let rows = self.rows(plan_ask(plan)).await?;
        Ok(match rows.first().map(digest).transpose()? {
            None => PlanVerdict::Unused,
            Some(registered) if registered == plan.digest => PlanVerdict::InUse,
            Some(registered) => PlanVerdict::Conflict { registered },
        })
    }

    async fn act(&self, run: RunId, action: &Action, who: &Who) -> Result<OperatorVerdict, StoreError> {
        let (action, who) = (action.clone(), who.clone());
        Ok(self
            .transaction(Use::Write, move |connection| {
                Box::pin(async move {
                    let (found, now) = write::read(connection, run).await?;
                    match found {
                        Some(run) => {
                            decide(connection, &run, transition::act(&run, &action, &who, now), now).await
                        }
                        None => Ok(Outcome::RollBack(OperatorVerdict::Gone)),
                    }
                })
            })
            .await?
            .0)
    }
}

fn plan_ask(plan: &PlanId) -> Ask<'static> {
    sqlx::query(sql::PLAN).bind(plan.name.as_str().to_owned()).bind(i64::from(plan.version.get()))
}

fn digest(row: &SqliteRow) -> Result<Digest, StoreError> {
    Ok(get::<String>(row, "digest")?.parse().map_err(invalid("digest"))?)
}
