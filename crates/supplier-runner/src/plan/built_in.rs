//! The plan that comes with the program: `supplier-setup`, version 1.

use lease_core::{PhaseList, PhaseName, Plan, PlanName, PlanVersion};

use super::draft::{Does, Draft};
use super::meaning::meaning_of;
use super::retry::RetryPolicy;
use super::runnable::{PhaseStep, RunnablePlan};
use super::uses::Uses;

/// The built-in plan: `validated`, `registered`, `purchasing_enabled`.
///
/// A file that says the same under the same name and version is the same plan: it has this digest.
#[must_use]
pub fn built_in() -> RunnablePlan {
    let phases = [
        ("validated", Uses::Validate),
        ("registered", Uses::Register),
        ("purchasing_enabled", Uses::OpenPurchasing),
    ]
    .map(|(name, uses)| {
        let name = PhaseName::new(name).expect("the built-in names keep the rule for names");
        let retry = RetryPolicy::default();
        (Draft { name, does: Does::Uses(uses), timeout: PhaseStep::DEFAULT_TIMEOUT, retry }, uses)
    });
    let names = phases.iter().map(|(draft, _)| draft.name.clone()).collect();
    let plan = Plan::new(
        PlanName::new("supplier-setup").expect("the built-in name keeps the rule for names"),
        PlanVersion::new(1).expect("1 is a version"),
        PhaseList::new(names).expect("three phases with three names"),
        &meaning_of(phases.iter().map(|(draft, _)| draft)),
    );
    let steps = phases.into_iter().map(|(draft, uses)| draft.with(uses.step())).collect();
    RunnablePlan::new(plan, steps).expect("the plan was made of these phases")
}
