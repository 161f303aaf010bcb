//! The fake store, put through every clause of the store ports.

mod support;

use std::collections::BTreeSet;

use support::FakeHarness;

lease_fake::conformance_tests!(FakeHarness::new());

/// A clause that is not in the macro's list would never run.
#[test]
fn every_clause_stands_in_the_list_of_the_macro() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/conformance");
    let suite = std::fs::read_to_string(format!("{folder}/suite.rs")).unwrap();
    let listed: BTreeSet<&str> = suite.lines().map(str::trim).collect();
    let mut clauses = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
            let clause = line.split('(').next().unwrap();
            assert!(listed.contains(clause), "{clause} is not in suite.rs");
            clauses += 1;
        }
    }
    assert!(clauses > 90, "only {clauses} clauses were found");
}
