//! A plan together with what does its phases.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lease_core::{PhaseName, Plan};

use super::retry::RetryPolicy;
use crate::step::Step;

/// A plan that a worker can run: exactly one step for each of its phases, in order.
#[derive(Debug, Clone)]
pub struct RunnablePlan {
    /// The plan as runs carry it.
    pub plan: Plan,
    phases: Vec<PhaseStep>,
}

/// What does one phase, for how long and how often.
#[derive(Clone)]
pub struct PhaseStep {
    /// The phase.
    pub name: PhaseName,
    /// What does it.
    pub step: Arc<dyn Step>,
    /// How long one try may take. Has nothing to do with the lease's TTL.
    pub timeout: Duration,
    /// How often it is tried.
    pub retry: RetryPolicy,
}

/// Steps that are not those of a plan's phases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the steps are not one for each phase of plan {plan}, in order")]
pub struct StepsDiffer {
    /// The plan's name and version.
    pub plan: String,
}

impl RunnablePlan {
    /// Joins a plan with its steps.
    ///
    /// # Errors
    /// When the steps are not one for each phase, in the plan's order.
    pub fn new(plan: Plan, phases: Vec<PhaseStep>) -> Result<Self, StepsDiffer> {
        if phases.iter().map(|phase| &phase.name).eq(plan.phases.as_slice()) {
            Ok(Self { plan, phases })
        } else {
            Err(StepsDiffer { plan: plan.id.to_string() })
        }
    }

    /// The phases in order.
    #[must_use]
    pub fn phases(&self) -> &[PhaseStep] {
        &self.phases
    }

    /// What does this phase; `None` for a phase of another plan.
    #[must_use]
    pub fn step_for(&self, name: &PhaseName) -> Option<&PhaseStep> {
        self.phases.iter().find(|phase| phase.name == *name)
    }
}

impl PhaseStep {
    /// How long a try may take where the plan does not say.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);

    /// A phase with the default time limit and retry policy.
    #[must_use]
    pub fn new(name: PhaseName, step: Arc<dyn Step>) -> Self {
        Self { name, step, timeout: Self::DEFAULT_TIMEOUT, retry: RetryPolicy::default() }
    }
}

impl fmt::Debug for PhaseStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The step itself may hold secrets that were filled in.
        f.debug_struct("PhaseStep")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::built_in;
    use crate::step::Approval;

    #[test]
    fn every_phase_has_its_own_step_and_others_have_none() {
        let plan = built_in();
        for name in plan.plan.phases.as_slice() {
            assert_eq!(plan.step_for(name).map(|phase| &phase.name), Some(name));
        }
        assert!(plan.step_for(&PhaseName::new("screened").unwrap()).is_none());
    }

    #[test]
    fn in_order_steps_in_another_order_or_number_are_refused() {
        let RunnablePlan { plan, mut phases } = built_in();
        phases.swap(0, 1);
        assert!(RunnablePlan::new(plan.clone(), phases.clone()).is_err());
        phases.swap(0, 1);
        phases.push(PhaseStep::new(PhaseName::new("more").unwrap(), Arc::new(Approval)));
        assert!(RunnablePlan::new(plan, phases).is_err());
    }
}
