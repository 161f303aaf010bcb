//! Finds PostgreSQL's server programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chore::Failure;

/// The folder of the installed server programs: `PG_BIN` and nothing else where that is set, else what
/// `pg_config` says, else the PATH, else Debian's and Homebrew's folders, the newest version first.
pub(crate) fn find() -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os("PG_BIN").map(PathBuf::from) {
        return if has_server(&named) { Ok(named) } else { Err(Failure::NotServerPrograms(named)) };
    }
    let on_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>());
    from_pg_config()
        .into_iter()
        .chain(on_path.into_iter().flatten())
        .chain(versions_below(Path::new("/usr/lib/postgresql"), "bin"))
        .chain(homebrew(Path::new("/opt/homebrew/opt")))
        .chain(homebrew(Path::new("/usr/local/opt")))
        .find(|folder| has_server(folder))
        .ok_or(Failure::NoServerPrograms)
}

/// The folder of installed server programs of this major version, in the folders where several versions
/// stand side by side.
pub(crate) fn installed(version: u32) -> Option<PathBuf> {
    let debian = Path::new("/usr/lib/postgresql").join(version.to_string()).join("bin");
    let homebrew = ["/opt/homebrew/opt", "/usr/local/opt"]
        .map(|base| Path::new(base).join(format!("postgresql@{version}")).join("bin"));
    std::iter::once(debian).chain(homebrew).find(|folder| has_server(folder))
}

fn has_server(folder: &Path) -> bool {
    ["postgres", "initdb"].iter().all(|program| folder.join(program).is_file())
}

fn from_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(folder.trim()))
}

/// `base/VERSION/bin`, the highest version first.
fn versions_below(base: &Path, bin: &str) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = folders(base)
        .filter_map(|folder| {
            let version = folder.file_name()?.to_str()?.parse().ok()?;
            Some((version, folder.join(bin)))
        })
        .collect();
    versions.sort_by(|one, other| other.cmp(one));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

/// `base/postgresql@VERSION/bin`, the highest version first, and `base/postgresql/bin`.
fn homebrew(base: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = folders(base)
        .filter_map(|folder| {
            let name = folder.file_name()?.to_str()?;
            let version = name.strip_prefix("postgresql")?.trim_start_matches('@');
            Some((version.parse().unwrap_or(0), folder.join("bin")))
        })
        .collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, folder)| folder).collect()
}

fn folders(base: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(base).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_comes_first_by_number_and_not_by_letter() {
        let base = tempfile::tempdir().unwrap();
        for version in ["9", "15", "14", "common"] {
            fs::create_dir_all(base.path().join(version).join("bin")).unwrap();
        }
        let found = versions_below(base.path(), "bin");
        let expected: Vec<_> = ["15", "14", "9"].map(|version| base.path().join(version).join("bin")).into();
        assert_eq!(found, expected);
    }
}
