//! `lease-core` depends on a short list and nothing else.

use super::{Finding, Source};

/// What `lease-core` may depend on.
const SHORT_LIST: [&str; 7] = ["async-trait", "serde", "serde_json", "sha2", "thiserror", "time", "uuid"];

pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_dependencies = false;
    for (index, line) in source.text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            in_dependencies = line == "[dependencies]" || line == "[build-dependencies]";
            let other_form = line.starts_with("[dependencies.") || line.starts_with("[target.");
            if other_form {
                findings.push(source.finding(index + 1, "list dependencies under [dependencies] only"));
            }
            continue;
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        if in_dependencies && !name.is_empty() && !name.starts_with('#') && !SHORT_LIST.contains(&name) {
            let what = format!("lease-core may not depend on {name}: only on {}", SHORT_LIST.join(", "));
            findings.push(source.finding(index + 1, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_beyond_the_list_is_found_and_a_dev_dependency_is_not() {
        let text =
            "[dependencies]\nserde.workspace = true\ntokio = \"1\"\n[dev-dependencies]\ntokio = \"1\"\n";
        let source = Source { path: "Cargo.toml".into(), text: text.to_owned() };
        let lines: Vec<_> = check(&source).into_iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3]);
    }
}
