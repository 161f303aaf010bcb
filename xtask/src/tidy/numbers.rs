//! Migrations and decisions are numbered from 0001 on, each folder for itself, with no number twice and
//! none left out: two branches that both add the next one are found before they meet.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Finding, Source};

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut folders: BTreeMap<&Path, Vec<(u32, &Source)>> = BTreeMap::new();
    for source in sources {
        let Some(folder) = source.path.parent().filter(|folder| is_numbered(folder)) else { continue };
        // A name without a number is another check's finding.
        if let Some(number) = number(source.name()) {
            folders.entry(folder).or_default().push((number, source));
        }
    }
    let mut findings = Vec::new();
    for files in folders.values_mut() {
        files.sort_by_key(|(number, source)| (*number, source.path.clone()));
        for ((number, source), expected) in files.iter().zip(1..) {
            if *number != expected {
                findings.push(source.finding(1, format!("the number here must be {expected:04}")));
                break;
            }
        }
    }
    findings
}

fn is_numbered(folder: &Path) -> bool {
    folder.starts_with("migrations") || folder == Path::new("docs/adr")
}

fn number(name: &str) -> Option<u32> {
    name.split(['_', '-']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str]) -> Vec<String> {
        let sources: Vec<_> =
            paths.iter().map(|path| Source { path: path.into(), text: String::new() }).collect();
        check(&sources).into_iter().map(|finding| finding.path.display().to_string()).collect()
    }

    #[test]
    fn a_number_that_comes_twice_or_is_left_out_is_found_in_its_own_folder() {
        let right = ["migrations/a/0001_x_y.sql", "migrations/a/0002_x_y.sql", "migrations/b/0001_x_y.sql"];
        assert_eq!(found(&right), Vec::<String>::new());
        assert_eq!(found(&["docs/adr/0001-a-b.md", "docs/adr/0001-c-d.md"]), ["docs/adr/0001-c-d.md"]);
        assert_eq!(
            found(&["migrations/a/0001_x_y.sql", "migrations/a/0003_x_y.sql"]),
            ["migrations/a/0003_x_y.sql"]
        );
    }
}
