//! Documents: the names of decisions.

use std::path::Path;

use super::{Finding, Source};

pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source.path.parent() == Some(Path::new("docs/adr")) && !is_decision(source.name()) {
        findings.push(source.finding(1, "name a decision NNNN-verb-phrase.md"));
    }
    findings
}

fn is_decision(name: &str) -> bool {
    let plain = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let Some((number, words)) = name.strip_suffix(".md").and_then(|stem| stem.split_once('-')) else {
        return false;
    };
    let numbered = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    numbered && words.contains('-') && words.split('-').all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_has_a_number_and_a_phrase() {
        assert!(is_decision("0001-judge-on-the-locked-row.md"));
        for bad in ["1-judge-rows.md", "0001-judge.md", "0001_judge_rows.md", "0001-Judge-rows.md"] {
            assert!(!is_decision(bad), "{bad}");
        }
    }
}
