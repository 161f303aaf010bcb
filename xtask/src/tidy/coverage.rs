//! Every invariant and every numbered case is named by at least one test.

use super::{Finding, Source};

/// The protocol's invariants.
pub(super) const INVARIANTS: [&str; 12] = [
    "FENCE-UP",
    "ONE-HOLDER",
    "NO-LATE-SAVE",
    "NO-LAZARUS",
    "IN-ORDER",
    "ONE-RECEIPT",
    "ALL-OR-NOTHING",
    "RESUME",
    "TRUTH",
    "BLOCKED-NOT-FAILED",
    "SELF-STOP",
    "LIVENESS",
];

/// How many cases from elsewhere there are, numbered from 1.
const CASES: u32 = 35;

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let tests: Vec<&str> = sources.iter().filter(|source| source.is("rs")).map(test_text).collect();
    let tests = tests.join("\n");
    let here = Source { path: "tests".into(), text: String::new() };
    let invariants = INVARIANTS
        .iter()
        .filter(|name| !names_invariant(&tests, name))
        .map(|name| here.finding(0, format!("no test names the invariant {name}")));
    let cases = (1..=CASES)
        .filter(|case| !names_case(&tests, *case))
        .map(|case| here.finding(0, format!("no test names case {case}")));
    invariants.chain(cases).collect()
}

/// The part of a file that is tests: all of it in a tests folder and in the conformance suite, and from
/// the module for tests on elsewhere. The checks of `tidy` itself do not count.
fn test_text(source: &Source) -> &str {
    let is_tests =
        source.path.iter().any(|part| part == "tests" || part == "tests.rs" || part == "conformance");
    if source.path.starts_with("xtask") {
        ""
    } else if is_tests {
        &source.text
    } else {
        test_module(&source.text)
    }
}

/// From the first `#[cfg(test)]` that stands on a module with a body.
fn test_module(text: &str) -> &str {
    let has_body = |rest: &str| {
        let item = rest.trim_start().lines().next().unwrap_or_default();
        item.starts_with("mod ") && item.contains('{')
    };
    text.match_indices(TEST_ONLY)
        .find(|(start, _)| text.get(start + TEST_ONLY.len()..).is_some_and(has_body))
        .and_then(|(start, _)| text.get(start..))
        .unwrap_or_default()
}

const TEST_ONLY: &str = "#[cfg(test)]";

/// Whether the name stands there as a word of its own.
fn names_invariant(tests: &str, name: &str) -> bool {
    let in_word = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    tests.match_indices(name).any(|(start, _)| {
        let before = tests[..start].chars().next_back();
        let after = tests[start + name.len()..].chars().next();
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

/// Whether `case 7`, `cases 7` or `case_7` stands in the text, alone or in a list as `cases 5, 7`.
fn names_case(tests: &str, case: u32) -> bool {
    let wanted = case.to_string();
    ["case", "Case"].iter().flat_map(|word| tests.match_indices(word)).any(|(start, word)| {
        let starts_word = !tests[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        let rest = &tests[start + word.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let Some(rest) = rest.strip_prefix([' ', '_']) else { return false };
        starts_word && numbers(rest).contains(&wanted.as_str())
    })
}

/// The numbers of a list as `5, 6 and 7` at the start of a text, over line ends in a comment. It ends
/// with a number that something else than a comma follows, and before any other word.
fn numbers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split([' ', ',', '_', '\n']) {
        if ["", "and", "or", "///", "//!", "//"].contains(&word) {
            continue;
        }
        let end = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        found.push(&word[..end]);
        if end < word.len() {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_by_their_whole_number_alone_and_in_lists() {
        for text in [
            "/// Case 7.",
            "/// (case 7)",
            "fn case_7_the_same() {}",
            "/// Cases 5, 6 and 7: x",
            "case 7\n",
            "cases 5,\n    /// 7",
        ] {
            assert!(names_case(text, 7), "{text}");
        }
        for text in
            ["/// Case 17.", "/// Case 71.", "/// Case 6: 7 claims", "database 7", "phase 7", "cases of 7"]
        {
            assert!(!names_case(text, 7), "{text}");
        }
    }

    #[test]
    fn invariants_are_found_as_whole_words() {
        assert!(names_invariant("/// FENCE-UP, IN-ORDER.", "FENCE-UP"));
        assert!(!names_invariant("/// FENCE-UPWARDS.", "FENCE-UP"));
        assert!(!names_invariant("fn resume_run() {}", "RESUME"));
    }

    #[test]
    fn only_the_test_part_of_a_file_counts() {
        let text =
            "/// Case 1.\n#[cfg(test)]\nmod double;\n/// Case 2.\n#[cfg(test)]\nmod tests { /// Case 3.\n }";
        let source = |path: &str| Source { path: path.into(), text: text.to_owned() };
        let cases = |path: &str| {
            let source = source(path);
            (1..=3).filter(|case| names_case(test_text(&source), *case)).collect::<Vec<_>>()
        };
        assert_eq!(cases("crates/a/src/b.rs"), [3]);
        assert_eq!(cases("crates/a/src/b/tests.rs"), [1, 2, 3]);
        assert_eq!(cases("crates/lease-fake/src/conformance/b.rs"), [1, 2, 3]);
        assert_eq!(cases("tests/b.rs"), [1, 2, 3]);
        assert_eq!(cases("xtask/src/b.rs"), Vec::<u32>::new());
    }

    #[test]
    fn what_no_test_names_is_told() {
        let text = format!("//! {}", INVARIANTS[1..].join(", "));
        let mut sources = vec![Source { path: "tests/a.rs".into(), text }];
        for case in 2..=CASES {
            let text = format!("/// Case {case}.");
            sources.push(Source { path: format!("tests/case_of_{case}.rs").into(), text });
        }
        let told: Vec<_> = check(&sources).into_iter().map(|finding| finding.what).collect();
        assert_eq!(told, ["no test names the invariant FENCE-UP", "no test names case 1"]);
    }
}
