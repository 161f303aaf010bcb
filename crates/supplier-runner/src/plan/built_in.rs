//! The plan that comes with the program: `supplier-setup`, version 1.

use lease_core::{PhaseList, PhaseName, Plan, PlanName, PlanVersion};

use super::meaning::{PhaseMeaning, meaning_of};
use super::runnable::{PhaseStep, RunnablePlan};
use super::uses::Uses;

/// The built-in plan: `validated`, `registered`, `purchasing_enabled`.
///
/// A file that says the same under the same name and version is the same plan: it has this digest.
#[must_use]
pub fn built_in() -> RunnablePlan {
    const PHASES: [(&str, Uses); 3] = [
        ("validated", Uses::Validate),
        ("registered", Uses::Register),
        ("purchasing_enabled", Uses::OpenPurchasing),
    ];
    let mut phases = Vec::new();
    let mut meanings = Vec::new();
    for (name, uses) in PHASES {
        let name = PhaseName::new(name).expect("the built-in names keep the rule for names");
        let phase = PhaseStep::new(name, uses.step());
        meanings.push(PhaseMeaning::uses(&phase, uses));
        phases.push(phase);
    }
    let names = phases.iter().map(|phase| phase.name.clone()).collect();
    let plan = Plan::new(
        PlanName::new("supplier-setup").expect("the built-in name keeps the rule for names"),
        PlanVersion::new(1).expect("1 is a version"),
        PhaseList::new(names).expect("three phases with three names"),
        &meaning_of(&meanings),
    );
    RunnablePlan::new(plan, phases).expect("the plan was made of these phases")
}
