//! Which package may depend on what, as far as `deny.toml` cannot say it: `lease-core` on a short list and
//! nothing else, and on `sqlx` outside of tests only the store adapters.

use super::{Finding, Source};

/// What `lease-core` may depend on.
const SHORT_LIST: [&str; 7] = ["async-trait", "serde", "serde_json", "sha2", "thiserror", "time", "uuid"];

/// Who may speak SQL.
const ADAPTERS: [&str; 2] = ["crates/lease-postgres", "crates/lease-sqlite"];

/// The table of a manifest in which a dependency stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// Of the package, or of its build.
    Package,
    /// Of its tests.
    Tests,
    /// Something else.
    Other,
}

pub(super) fn check(source: &Source) -> Vec<Finding> {
    let package = source.path.parent().and_then(|folder| folder.to_str()).unwrap_or_default();
    let mut findings = Vec::new();
    for (line, table, name) in dependencies(&source.text) {
        if package == "crates/lease-core" {
            if table == Table::Package && !SHORT_LIST.contains(&name) {
                let what = format!("lease-core may not depend on {name}: only on {}", SHORT_LIST.join(", "));
                findings.push(source.finding(line, what));
            }
            if name.starts_with("sqlx") {
                findings.push(
                    source.finding(line, "lease-core's tests know no SQL: test a store in its adapter"),
                );
            }
        } else if table == Table::Package && name.starts_with("sqlx") && !ADAPTERS.contains(&package) {
            let what = format!("only {} may depend on sqlx: use lease-core's ports", ADAPTERS.join(" and "));
            findings.push(source.finding(line, what));
        }
    }
    findings
}

/// Each dependency with its line and table.
fn dependencies(manifest: &str) -> Vec<(usize, Table, &str)> {
    let mut table = Table::Other;
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            let name;
            (table, name) = table_of(header);
            // `[dependencies.serde]` names one, and its settings follow.
            if let Some(name) = name {
                found.push((index + 1, table, name));
                table = Table::Other;
            }
            continue;
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
        if table != Table::Other && !name.is_empty() && !name.starts_with('#') {
            found.push((index + 1, table, name));
        }
    }
    found
}

/// The table of a header, with the dependency that the header itself names.
fn table_of(header: &str) -> (Table, Option<&str>) {
    for (word, table) in [
        ("dev-dependencies", Table::Tests),
        ("build-dependencies", Table::Package),
        ("dependencies", Table::Package),
    ] {
        // As in `target.'cfg(unix)'.dependencies` too, but not `workspace.dependencies`.
        let here = !header.starts_with("workspace.") && !header.starts_with("patch.");
        if here && (header == word || header.ends_with(&format!(".{word}"))) {
            return (table, None);
        }
        if let Some((_, name)) = header.split_once(&format!("{word}.")).filter(|_| here) {
            return (table, Some(name.trim_matches('"')));
        }
    }
    (Table::Other, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let source = Source { path: path.into(), text: text.to_owned() };
        check(&source).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_dependency_of_the_core_beyond_the_list_is_found_in_every_form() {
        let text = "[package]\nname = \"lease-core\"\n\n[dependencies]\n# why\nserde.workspace = true\ntokio = \"1\"\n\
                    [dev-dependencies]\nproptest = \"1\"\nsqlx.workspace = true\n\
                    [dependencies.log]\nversion = \"0.4\"\n\
                    [target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n";
        assert_eq!(lines("crates/lease-core/Cargo.toml", text), [7, 10, 11, 14]);
    }

    #[test]
    fn sql_is_for_the_adapters_and_for_tests() {
        let text = "[dependencies]\nsqlx.workspace = true\n[dev-dependencies]\nsqlx.workspace = true\n";
        assert_eq!(lines("crates/lease-postgres/Cargo.toml", text), Vec::<usize>::new());
        assert_eq!(lines("crates/supplier-setup/Cargo.toml", text), [2]);
        assert_eq!(lines("Cargo.toml", "[workspace.dependencies]\nsqlx = \"0.9\"\n"), Vec::<usize>::new());
    }
}
