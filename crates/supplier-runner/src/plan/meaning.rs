//! What a plan means, as one text: two plans that act differently differ in it.
//!
//! Everything in a plan file is part of it but layout, comments and order of keys; `${NAME}` stands as
//! written, so no secret is. A time limit or retry policy counts as well: whoever changes one under a
//! version in use is told so, instead of two workers doing the same plan in two ways.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::runnable::PhaseStep;
use super::uses::Uses;

/// What one phase means.
#[derive(Debug, Clone)]
pub(super) struct PhaseMeaning(Value);

impl PhaseMeaning {
    /// A built-in step.
    pub(super) fn uses(phase: &PhaseStep, uses: Uses) -> Self {
        Self::new(phase, json!({ "uses": uses.as_str() }))
    }

    /// A command and the variables it gets.
    pub(super) fn command(phase: &PhaseStep, command: &[String], env: &BTreeSet<String>) -> Self {
        Self::new(phase, json!({ "command": command, "env": env }))
    }

    /// A call. Header names are in lower case: case makes no difference to them.
    pub(super) fn http(phase: &PhaseStep, url: &str, headers: &BTreeMap<String, String>) -> Self {
        Self::new(phase, json!({ "http": { "url": url, "headers": headers } }))
    }

    fn new(phase: &PhaseStep, does: Value) -> Self {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let retry = json!({
            "attempts": phase.retry.attempts,
            "first_ms": millis(phase.retry.first),
            "longest_ms": millis(phase.retry.longest),
        });
        Self(json!({
            "name": phase.name.as_str(),
            "does": does,
            "timeout_ms": millis(phase.timeout),
            "retry": retry,
        }))
    }
}

/// The text: compact JSON with sorted keys. Its form must not change, or every plan in use would look
/// like another one.
pub(super) fn meaning_of(phases: &[PhaseMeaning]) -> String {
    let phases: Vec<&Value> = phases.iter().map(|phase| &phase.0).collect();
    json!({ "phases": phases }).to_string()
}

#[cfg(test)]
mod tests {
    use crate::plan::built_in;

    /// The digest stands in the tables of everybody who ran the built-in plan.
    #[test]
    fn the_built_in_plan_keeps_its_digest() {
        let digest = built_in().plan.id.digest.to_string();
        assert_eq!(digest, "18617b1328d95d3a9017221808f9eceacb173da5fb25fa40619bc674b9cf9e35");
    }
}
