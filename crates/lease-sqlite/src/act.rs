//! Submits and operators' actions.

use async_trait::async_trait;
use lease_core::stored::invalid;
use lease_core::{
    Action, Digest, Operator, OperatorVerdict, PlanId, PlanVerdict, RunId, StoreError, Submit, SubmitVerdict,
    Who, transition,
};
use sqlx::sqlite::SqliteRow;

use crate::connections::Use;
use crate::lease::{by_key, decide, json_array};
use crate::request::Ask;
use crate::row::get;
use crate::sql;
use crate::store::SqliteStore;
use crate::transaction::Outcome;
use crate::write;

#[async_trait]
impl Operator for SqliteStore {
    async fn submit(&self, submit: &Submit) -> Result<SubmitVerdict, StoreError> {
        let submit = submit.clone();
        Ok(self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let plan = &submit.plan.id;
                    let registered = transaction.read(plan_ask(plan)).await?;
                    let registered = registered.first().map(digest).transpose()?;
                    let (found, now) = by_key(transaction, submit.key.as_str()).await?;
                    let verdict = transition::submit(found.as_ref(), registered, &submit);
                    if verdict != SubmitVerdict::Opened {
                        return Ok(Outcome::RollBack(verdict));
                    }
                    let phases = json_array(submit.plan.phases.as_slice().iter().map(ToString::to_string));
                    let run = transition::open(&submit, now);
                    let ask = Ask::new(sql::NOTE_PLAN)
                        .bind(plan.name.as_str())
                        .bind(i64::from(plan.version.get()))
                        .bind(plan.digest.to_string())
                        .bind(phases.clone());
                    transaction.write(ask);
                    let ask = Ask::new(sql::OPEN_RUN)
                        .bind(run.id.to_string())
                        .bind(run.key.as_str())
                        .bind(plan.name.as_str())
                        .bind(i64::from(plan.version.get()))
                        .bind(plan.digest.to_string())
                        .bind(phases)
                        .bind(i64::from(run.priority.get()))
                        .bind(now.as_micros())
                        .bind(run.input.to_json())
                        .bind(run.input_digest.to_string());
                    transaction.write_one(ask);
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
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    let (found, now) = write::read(transaction, run).await?;
                    match found {
                        Some(run) => {
                            Ok(decide(transaction, &run, transition::act(&run, &action, &who, now), now))
                        }
                        None => Ok(Outcome::RollBack(OperatorVerdict::Gone)),
                    }
                })
            })
            .await?
            .0)
    }
}

fn plan_ask(plan: &PlanId) -> Ask {
    Ask::new(sql::PLAN).bind(plan.name.as_str()).bind(i64::from(plan.version.get()))
}

fn digest(row: &SqliteRow) -> Result<Digest, StoreError> {
    Ok(get::<String>(row, "digest")?.parse().map_err(invalid("digest"))?)
}
