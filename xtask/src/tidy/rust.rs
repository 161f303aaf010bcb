//! Rust files: the head, the length, and what must not be left behind.

use super::{Finding, Source};

/// The longest file, in lines.
const LENGTH_LIMIT: usize = 450;

/// What may not stand in code, spelt in two halves so that this file may.
const FORBIDDEN: [(&str, &str, &str); 5] = [
    ("#[ign", "ore", "a test that does not run proves nothing: run it or remove it"),
    (", ign", "ore)]", "a test that does not run proves nothing: run it or remove it"),
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
        let comment = line.trim_start().strip_prefix("//");
        for (head, tail, advice) in FORBIDDEN {
            let word = format!("{head}{tail}");
            if line.contains(&word) && comment.is_none() {
                findings.push(source.finding(index + 1, format!("{word}: {advice}")));
            }
        }
        if comment.is_some_and(is_skipped_example) {
            let what = "an example that does not run proves nothing: `no_run`, `text`, or let it run";
            findings.push(source.finding(index + 1, what));
        }
    }
    findings
}

/// Whether the text of a comment begins an example that doc tests skip or want to see panic.
fn is_skipped_example(comment: &str) -> bool {
    let Some(kind) = comment.trim_start_matches(['/', '!']).trim_start().strip_prefix("```") else {
        return false;
    };
    kind.split(',').any(|word| word.trim().starts_with("ignore") || word.trim() == "should_panic")
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
    #[test]
    fn a_test_or_an_example_that_is_skipped_is_found_in_every_form() {
        let skipped = [
            "#[ign",
            "ore = \"slow\"]\n#[cfg_attr(miri, ign",
            "ore)]\n/// ```ign",
            "ore\n//! ```should_",
            "panic\n",
        ];
        assert_eq!(lines(&format!("//! A file.\n{}", skipped.concat())), [2, 3, 4, 5]);
        assert_eq!(lines("//! A file.\n/// ```compile_fail\n/// ```\n/// ```no_run\n"), Vec::<usize>::new());
    }
}
