//! Every invariant and every numbered case is named by at least one test.

use std::path::Path;

use super::{Finding, Source};

/// The protocol's invariants.
const INVARIANTS: [&str; 12] = [
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
    let tests: String = sources.iter().filter(|source| source.is("rs")).map(test_text).collect();
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

/// The part of a file that is tests: all of it in a tests folder and in the conformance suite, and
/// from `#[cfg(test)]` on elsewhere. The checks of `tidy` itself do not count.
fn test_text(source: &Source) -> &str {
    let is_tests = source.path.components().any(|part| {
        let part: &Path = part.as_ref();
        part == Path::new("tests") || part == Path::new("conformance")
    });
    if source.path.starts_with("xtask") {
        ""
    } else if is_tests {
        &source.text
    } else {
        source.text.find("#[cfg(test)]").and_then(|start| source.text.get(start..)).unwrap_or_default()
    }
}

fn names_invariant(tests: &str, name: &str) -> bool {
    let in_function_names = name.to_lowercase().replace('-', "_");
    tests.contains(name) || tests.contains(&format!("{in_function_names}_"))
}

/// Whether `case 7`, `cases 7` or `case_7` stands in the text, alone or in a list as `cases 5, 7`.
fn names_case(tests: &str, case: u32) -> bool {
    let wanted = case.to_string();
    tests.match_indices("ase").any(|(start, word)| {
        let rest = &tests[start + word.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let Some(rest) = rest.strip_prefix([' ', '_']) else { return false };
        let list: &str = &rest[..rest.find(|letter: char| !is_list(letter)).unwrap_or(rest.len())];
        list.split(|letter: char| !letter.is_ascii_digit()).any(|number| number == wanted)
    })
}

fn is_list(letter: char) -> bool {
    letter.is_ascii_digit() || ", and_".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_by_their_whole_number_alone_and_in_lists() {
        assert!(names_case("/// Case 7.", 7));
        assert!(names_case("fn case_17_the_same() {}", 17));
        assert!(names_case("/// Cases 5, 6 and 7: x", 6) && names_case("/// Cases 5, 6 and 7: x", 7));
        assert!(!names_case("/// Case 17.", 7));
        assert!(!names_case("database 7", 8));
    }

    #[test]
    fn invariants_are_found_in_words_and_in_function_names() {
        assert!(names_invariant("/// FENCE-UP", "FENCE-UP"));
        assert!(names_invariant("fn fence_up_the_next() {}", "FENCE-UP"));
        assert!(!names_invariant("fn fence() {}", "FENCE-UP"));
    }

    #[test]
    fn only_the_test_part_of_a_file_counts() {
        let source = Source {
            path: "crates/a/src/b.rs".into(),
            text: "/// Case 1.\n#[cfg(test)]\nmod tests { /// Case 2.\n }".to_owned(),
        };
        let text = test_text(&source);
        assert!(!names_case(text, 1) && names_case(text, 2));
    }
}
