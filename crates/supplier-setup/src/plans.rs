//! The plans of a command line: loaded, told apart, and checked against those in use.

use std::sync::Arc;

use lease_core::{Operator, PlanVerdict};
use supplier_runner::plan::{RunnablePlan, built_in, load_plan};

use crate::arguments::PlanChoice;
use crate::error::Error;

/// Loads plans in the order given, each once; none given: the built-in one.
///
/// # Errors
/// When a file cannot be used, or two have the same name and version and other content.
pub(crate) fn load(choices: &[PlanChoice]) -> Result<Vec<Arc<RunnablePlan>>, Error> {
    let choices = if choices.is_empty() { &[PlanChoice::BuiltIn][..] } else { choices };
    let mut plans: Vec<Arc<RunnablePlan>> = Vec::new();
    for choice in choices {
        let plan = load_one(choice)?;
        let id = &plan.plan.id;
        let same_name = plans
            .iter()
            .map(|other| &other.plan.id)
            .find(|other| (&other.name, other.version) == (&id.name, id.version));
        match same_name {
            None => plans.push(Arc::new(plan)),
            Some(other) if other.digest == id.digest => {}
            Some(other) => return Err(Error::PlanTwice { plan: id.clone(), first: other.digest }),
        }
    }
    Ok(plans)
}

/// Loads one plan.
///
/// # Errors
/// When the file cannot be used.
pub(crate) fn load_one(choice: &PlanChoice) -> Result<RunnablePlan, Error> {
    match choice {
        PlanChoice::BuiltIn => Ok(built_in()),
        PlanChoice::File(path) => Ok(load_plan(path, &|name| std::env::var(name).ok())?),
    }
}

/// Checks that no plan differs from one that runs use under its name and version.
///
/// # Errors
/// With both digests where one differs, or when the store does not answer.
pub(crate) async fn check_in_use(store: &dyn Operator, plans: &[Arc<RunnablePlan>]) -> Result<(), Error> {
    for plan in plans {
        let id = &plan.plan.id;
        match store.check_plan(id).await.map_err(Error::store("check the plan against those in use"))? {
            PlanVerdict::Unused | PlanVerdict::InUse => {}
            PlanVerdict::Conflict { registered } => {
                return Err(Error::PlanConflict { plan: id.clone(), registered });
            }
        }
    }
    Ok(())
}
