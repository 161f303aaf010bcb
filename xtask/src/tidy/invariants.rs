//! `docs/invariants.md`: a section for each invariant, with files and tests that exist.

use std::path::Path;

use super::coverage::INVARIANTS;
use super::{Finding, Source};

/// The document.
const PATH: &str = "docs/invariants.md";

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let Some(document) = sources.iter().find(|source| source.path == Path::new(PATH)) else {
        return vec![Finding {
            path: PATH.into(),
            line: 0,
            what: "the invariants are written down here".into(),
        }];
    };
    let rust: Vec<&str> =
        sources.iter().filter(|source| source.is("rs")).map(|source| source.text.as_str()).collect();
    let mut findings = Vec::new();
    for name in INVARIANTS {
        match section(&document.text, name) {
            None => findings.push(document.finding(0, format!("{name} has no section"))),
            Some((line, section)) => {
                for (offset, text) in section.lines().enumerate() {
                    let missing = missing(text, sources, &rust);
                    findings.extend(missing.map(|what| document.finding(line + offset + 1, what)));
                }
                for begin in ["- Enforced in: `", "- Held by: `"] {
                    if !section.contains(begin) {
                        findings.push(document.finding(line, format!("{name} has no line {begin}…`")));
                    }
                }
            }
        }
    }
    findings
}

/// The line of a section's heading, and the text below it.
fn section<'t>(text: &'t str, name: &str) -> Option<(usize, &'t str)> {
    let heading = format!("\n## {name}\n");
    let start = text.find(&heading)?;
    let rest = &text[start + heading.len()..];
    let end = rest.find("\n## ").unwrap_or(rest.len());
    Some((text[..start].lines().count() + 1, &rest[..end]))
}

/// What is named in a line and is not there.
fn missing<'s>(line: &'s str, sources: &'s [Source], rust: &'s [&str]) -> impl Iterator<Item = String> {
    let named = line.split('`').skip(1).step_by(2);
    let (files, tests) = (line.starts_with("- Enforced in: "), line.starts_with("- Held by: "));
    named.filter_map(move |name| {
        if files && !sources.iter().any(|source| source.path == Path::new(name)) {
            return Some(format!("there is no file {name}"));
        }
        let is_there = || {
            let function = format!("fn {name}(");
            // Tests that a macro makes are named in its list.
            let listed = format!("    {name} => ");
            rust.iter().any(|text| text.contains(&function) || text.contains(&listed))
        };
        (tests && !is_there()).then(|| format!("there is no test {name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(invariants: &str) -> Vec<String> {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.to_owned() };
        let sources = [source("a.rs", "fn there() {}\n    listed => Guard,"), source(PATH, invariants)];
        check(&sources).into_iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn what_is_named_and_not_there_is_told_with_its_line() {
        let section =
            |name: &str| format!("\n## {name}\n\n- Enforced in: `a.rs`\n- Held by: `there`, `listed`\n");
        let whole = format!("# All\n{}", INVARIANTS.map(section).concat());
        assert_eq!(told(&whole), [""; 0]);
        let first = INVARIANTS[0];
        assert_eq!(told(&whole.replacen("`a.rs`", "`b.rs`", 1)), ["4: there is no file b.rs"]);
        assert_eq!(told(&whole.replacen("`there`", "`gone`", 1)), ["5: there is no test gone"]);
        assert_eq!(told(&whole.replacen(first, "OTHER", 1)), [format!("0: {first} has no section")]);
        let without = whole.replacen("- Held by: `there`, `listed`\n", "", 1);
        assert_eq!(told(&without), [format!("2: {first} has no line - Held by: `…`")]);
    }
}
