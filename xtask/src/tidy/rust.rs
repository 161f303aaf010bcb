//! Rust files: the head, the length, and what must not be left behind.

use super::{Finding, Source};

/// The longest file, in lines.
const LENGTH_LIMIT: usize = 450;

/// What may not stand in code, spelt in two halves so that this file may.
const FORBIDDEN: [(&str, &str, &str); 4] = [
    ("#[ign", "ore", "a test that does not run proves nothing: run it or remove it"),
    ("#[should", "_panic", "assert on the error instead"),
    ("todo", "!(", "finish it"),
    ("unimple", "mented!(", "finish it"),
];

pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.text.starts_with("//!") {
        findings.push(source.finding(1, "begin with `//!`: what the file is, its invariants, its source"));
    }
    let length = source.text.lines().count();
    if length > LENGTH_LIMIT {
        let what = format!("{length} lines are more than {LENGTH_LIMIT}: one noun per file");
        findings.push(source.finding(length, what));
    }
    for (index, line) in source.text.lines().enumerate() {
        for (head, tail, advice) in FORBIDDEN {
            let word = format!("{head}{tail}");
            if line.contains(&word) && !line.trim_start().starts_with("//") {
                findings.push(source.finding(index + 1, format!("{word}: {advice}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let source = Source { path: "a.rs".into(), text: text.to_owned() };
        check(&source).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_file_without_a_head_or_with_left_overs_is_found() {
        assert_eq!(lines("//! A file.\nfn a() {}\n"), Vec::<usize>::new());
        assert_eq!(lines("fn a() {}\n"), [1]);
        let left_over = format!("//! A file.\n{}{}]\nfn a() {{ {}{}) }}\n", "#[ign", "ore", "todo", "!(");
        assert_eq!(lines(&left_over), [2, 3]);
        assert_eq!(lines(&format!("//! A file.\n{}", "\n".repeat(450))), [451]);
    }
}
