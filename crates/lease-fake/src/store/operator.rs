//! What operators do on the fake store.

use async_trait::async_trait;
use lease_core::transition;
use lease_core::{
    Action, Operator, OperatorVerdict, PlanId, PlanVerdict, RunId, StoreError, Submit, SubmitVerdict, Who,
};

use super::FakeStore;
use crate::journal::{Exchange, Operation};

#[async_trait]
impl Operator for FakeStore {
    async fn submit(&self, submit: &Submit) -> Result<SubmitVerdict, StoreError> {
        let submit = submit.clone();
        self.request(Operation::Submit, None, move |tables, now| {
            let plan = &submit.plan.id;
            let registered = tables.plans.get(&(plan.name.clone(), plan.version)).copied();
            let verdict = transition::submit(tables.by_key(&submit.key), registered, &submit);
            if verdict == SubmitVerdict::Opened {
                tables.insert(transition::open(&submit, now));
            }
            Ok((verdict.clone(), Exchange::Submit(submit, verdict)))
        })
        .await
    }

    async fn check_plan(&self, plan: &PlanId) -> Result<PlanVerdict, StoreError> {
        let plan = plan.clone();
        self.request(Operation::Read, None, move |tables, _| {
            let verdict = match tables.plans.get(&(plan.name, plan.version)) {
                None => PlanVerdict::Unused,
                Some(digest) if *digest == plan.digest => PlanVerdict::InUse,
                Some(digest) => PlanVerdict::Conflict { registered: *digest },
            };
            Ok((verdict, Exchange::Read))
        })
        .await
    }

    async fn act(&self, run: RunId, action: &Action, who: &Who) -> Result<OperatorVerdict, StoreError> {
        let (action, who) = (action.clone(), who.clone());
        self.request(Operation::Act, Some(run), move |tables, now| {
            let verdict = match tables.rows.get_mut(&run) {
                Some(row) => row.write(transition::act(&row.run, &action, &who, now), now)?,
                None => OperatorVerdict::Gone,
            };
            Ok((verdict.clone(), Exchange::Act(run, action, verdict)))
        })
        .await
    }
}
