//! SQL files: three header lines on a statement, a name and a reason on a migration.

use super::coverage::INVARIANTS;
use super::{Finding, Source};

pub(super) fn check(source: &Source) -> Vec<Finding> {
    if source.path.starts_with("migrations") { migration(source) } else { statement(source) }
}

fn statement(source: &Source) -> Vec<Finding> {
    let mut lines = source.text.lines();
    let what = lines.next().unwrap_or_default();
    let keeps = lines.next().unwrap_or_default();
    let clock = lines.next().unwrap_or_default();
    let mut findings = Vec::new();
    if !what.starts_with("-- ") {
        findings.push(source.finding(1, "begin with `-- ` and what the statement does"));
    }
    if !keeps.starts_with("-- Keeps: ") {
        findings.push(source.finding(2, "go on with `-- Keeps: ` and the invariants it keeps"));
    }
    for name in names(keeps).filter(|name| !INVARIANTS.contains(name)) {
        findings.push(source.finding(2, format!("the protocol has no invariant {name}")));
    }
    if !clock.starts_with("-- Clock: ") {
        findings.push(source.finding(3, "go on with `-- Clock: ` and which clock it reads, and when"));
    }
    findings
}

/// The words that look like an invariant's name: capitals with a hyphen among them.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_uppercase() && letter != '-')
        .filter(|word| word.trim_matches('-').contains('-') && !word.starts_with('-'))
}

fn migration(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = source.name().strip_suffix(".sql").unwrap_or_default();
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let fits = name.split_once('_').is_some_and(|(number, words)| {
        number.len() == 4
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && words.contains('_')
            && words.split('_').all(plain)
    });
    if !fits {
        findings.push(source.finding(1, "name a migration NNNN_verb_noun.sql"));
    }
    if !source.text.starts_with("-- ") {
        findings.push(source.finding(1, "begin a migration with `-- ` and why it is made"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let source = Source { path: path.into(), text: text.to_owned() };
        check(&source).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_statement_says_what_it_does_keeps_and_reads() {
        let whole = "-- Renews.\n-- Keeps: NO-LAZARUS\n-- Clock: the store's, after the lock\nSELECT 1";
        assert_eq!(lines("crates/a/sql/renew.sql", whole), Vec::<usize>::new());
        assert_eq!(lines("crates/a/sql/renew.sql", "SELECT 1"), [1, 2, 3]);
        assert_eq!(lines("crates/a/sql/renew.sql", &whole.replace("LAZARUS", "LAZARIS")), [2]);
    }

    #[test]
    fn a_migration_has_a_number_a_verb_a_noun_and_a_reason() {
        assert_eq!(lines("migrations/lease/0001_create_runs.sql", "-- Why.\n"), Vec::<usize>::new());
        assert_eq!(lines("migrations/lease/0001_runs.sql", "-- Why.\n"), [1]);
        assert_eq!(lines("migrations/lease/1_create_runs.sql", "CREATE"), [1, 1]);
    }
}
