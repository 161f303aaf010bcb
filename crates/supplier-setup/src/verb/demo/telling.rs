//! What the demonstration tells, and the facts that it checks before it states them.

use serde::Serialize;

use crate::output::{Output, note};

/// A fact, and whether it was found to be so.
#[derive(Debug, Serialize)]
struct Fact {
    fact: String,
    holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

/// Tells the story, as it happens or as one document at the end.
pub(super) struct Telling {
    output: Output,
    json: bool,
    facts: Vec<Fact>,
}

/// The document at the end.
#[derive(Debug, Serialize)]
struct Told<'a> {
    facts: &'a [Fact],
    checked: usize,
    all_hold: bool,
}

impl Telling {
    pub(super) fn new(output: Output, json: bool) -> Self {
        Self { output, json, facts: Vec::new() }
    }

    /// Tells a line.
    pub(super) fn say(&self, text: &str) {
        if !self.json {
            self.output.line(text);
        }
    }

    /// Checks that two things are the same, and tells it as a fact.
    pub(super) fn fact<T: PartialEq + std::fmt::Debug>(&mut self, fact: &str, found: &T, expected: &T) {
        let holds = found == expected;
        if holds {
            self.say(&format!(" ✓ {fact}"));
        } else {
            note(&format!("NOT SO: {fact}: expected {expected:?}, found {found:?}"));
        }
        let found = (!holds).then(|| format!("{found:?}"));
        self.facts.push(Fact { fact: fact.to_owned(), holds, found });
    }

    /// Whether all facts hold, told at the end.
    pub(super) fn end(&self) -> bool {
        let all_hold = self.facts.iter().all(|fact| fact.holds);
        if self.json {
            self.output.json(&Told { facts: &self.facts, checked: self.facts.len(), all_hold });
        } else if all_hold {
            self.output.line(&format!(
                "\nThe late save left no trace. {} facts were checked, and all hold.",
                self.facts.len()
            ));
        }
        all_hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fact_that_does_not_hold_is_enough() {
        let mut telling = Telling::new(Output::default(), true);
        telling.fact("two is two", &2, &2);
        assert!(telling.facts.iter().all(|fact| fact.holds && fact.found.is_none()));
        telling.fact("two is three", &2, &3);
        assert!(!telling.end());
        assert_eq!(telling.facts[1].found.as_deref(), Some("2"));
    }
}
