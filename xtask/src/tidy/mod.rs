//! `tidy`: what no lint checks. Each finding names a file and line and says what to do.

mod coverage;
mod documents;
mod invariants;
mod manifest;
mod numbers;
mod rust;
mod sql;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::chore::{Failure, root};

/// A file of the repository.
struct Source {
    path: PathBuf,
    text: String,
}

/// Something to put right.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: PathBuf,
    line: usize,
    what: String,
}

impl Source {
    fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    fn is(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|found| found == extension)
    }

    fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, what: what.into() }
    }
}

/// Checks every file that the repository has or is about to have.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    let sources = sources()?;
    let mut findings = Vec::new();
    for source in &sources {
        if source.is("rs") {
            findings.extend(rust::check(source));
        } else if source.is("sql") {
            findings.extend(sql::check(source));
        } else if source.is("md") {
            findings.extend(documents::check(source));
        } else if source.name() == "Cargo.toml" {
            findings.extend(manifest::check(source));
        }
    }
    findings.extend(numbers::check(&sources));
    findings.extend(coverage::check(&sources));
    findings.extend(invariants::check(&sources));
    for Finding { path, line, what } in &findings {
        eprintln!("{}:{line}: {what}", path.display());
    }
    match findings.len() {
        0 => Ok(ExitCode::SUCCESS),
        count => Err(Failure::Findings(count)),
    }
}

/// The text files that git tracks, or would if asked.
fn sources() -> Result<Vec<Source>, Failure> {
    let mut git = Command::new("git");
    // The checkout may belong to somebody else, as on many CI machines.
    git.args(["-c", "safe.directory=*"]);
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = git.output().map_err(|source| Failure::Run { program: "git".to_owned(), source })?;
    if !listed.status.success() {
        return Err(Failure::Failed { program: "git ls-files".to_owned(), status: listed.status });
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut sources = Vec::new();
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let path = PathBuf::from(name);
        match fs::read(root().join(&path)) {
            // What is no text has nothing to check.
            Ok(bytes) => sources.extend(String::from_utf8(bytes).ok().map(|text| Source { path, text })),
            // Removed, and the removal is not committed yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::Path { path, source: error }),
        }
    }
    Ok(sources)
}
