//! What can be wrong with a plan file.

use std::io;
use std::path::PathBuf;

use crate::step::NoHttpClient;

/// A plan file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It cannot be read.
    #[error("read plan {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It can be read, and is wrong.
    #[error("use plan {}", listed(path, problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// All that is wrong with it, by line. Never empty.
        problems: Vec<PlanProblem>,
    },
    /// It needs HTTP, and HTTP cannot be had.
    #[error("use plan {}", path.display())]
    Http {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: NoHttpClient,
    },
}

/// One thing that is wrong with a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {}{problem}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct PlanProblem {
    /// The line, from 1.
    pub line: usize,
    /// The key, like `phase[2].retry.first`; empty where the file is no TOML.
    pub key: String,
    /// What is wrong there.
    pub problem: String,
}

fn listed(path: &std::path::Path, problems: &[PlanProblem]) -> String {
    let problems: Vec<String> = problems.iter().map(PlanProblem::to_string).collect();
    format!("{}: {}", path.display(), problems.join("; "))
}
