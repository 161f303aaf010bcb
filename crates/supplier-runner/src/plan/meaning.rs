//! What a plan means, as one text: two plans that act differently differ in it.
//!
//! Everything in a plan file is part of it but layout, comments and order of keys; `${NAME}` stands as
//! written, so no secret is. A time limit or retry policy counts as well: whoever changes one under a
//! version in use is told so, instead of two workers doing the same plan in two ways.

use std::time::Duration;

use serde_json::{Value, json};

use super::draft::{Does, Draft};

/// The text: compact JSON with sorted keys. Its form must not change, or every plan in use would look
/// like another one.
pub(super) fn meaning_of<'a>(phases: impl Iterator<Item = &'a Draft>) -> String {
    json!({ "phases": phases.map(phase).collect::<Vec<Value>>() }).to_string()
}

fn phase(draft: &Draft) -> Value {
    let does = match &draft.does {
        Does::Uses(uses) => json!({ "uses": uses.as_str() }),
        Does::Command { words, env } => json!({ "command": words, "env": env }),
        Does::Http { url, headers } => json!({ "http": { "url": url, "headers": headers } }),
    };
    let retry = json!({
        "attempts": draft.retry.attempts,
        "first_ms": millis(draft.retry.first),
        "longest_ms": millis(draft.retry.longest),
    });
    json!({
        "name": draft.name.as_str(),
        "does": does,
        "timeout_ms": millis(draft.timeout),
        "retry": retry,
    })
}

/// Durations of plans are whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
