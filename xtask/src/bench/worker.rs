//! What the steps of a real worker cost: the product sets up the example suppliers through its built-in
//! plan.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::chore::{Failure, must, root};
use crate::server::PrivateServer;

use super::program::Programs;
use super::psql::Psql;
use super::round_trips::{Door, RoundTrips};

/// The database for it.
pub(super) const DATABASE: &str = "bench_worker";

/// Statements of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statements {
    /// The name of its file, or how it begins.
    pub(super) name: String,
    pub(super) calls: u32,
}

/// What was counted.
#[derive(Debug)]
pub(super) struct Cost {
    pub(super) suppliers: u32,
    /// Phases that were done and saved.
    pub(super) steps: u32,
    /// By how many there were; none where the server does not count them.
    pub(super) statements: Vec<Statements>,
    pub(super) round_trips: RoundTrips,
}

/// Each text with how often it ran, the most frequent first. Of a text, its first line.
const CALLS: &str = r"SELECT sum(s.calls), split_part(ltrim(s.query, E' \n'), E'\n', 1)
    FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() AND s.query !~ 'pg_stat_statements'
    GROUP BY 2 ORDER BY 1 DESC, 2";

/// Lets one worker set up the example suppliers, and counts.
pub(super) fn measure(server: &PrivateServer, programs: &Programs) -> Result<Cost, Failure> {
    let psql = Psql::new(server, DATABASE);
    let url = server.url_of(DATABASE);
    let suppliers = root().join("examples/suppliers.csv");
    let quiet = |url: &str| {
        let mut product = programs.product(server, url);
        product.stdin(Stdio::null()).stdout(Stdio::null());
        product
    };
    must(quiet(&url).arg("migrate"))?;
    must(quiet(&url).arg("submit").arg(suppliers))?;
    let counts_statements =
        psql.number("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'")? > 0;
    if counts_statements {
        psql.ask("CREATE EXTENSION pg_stat_statements")?;
        psql.ask("SELECT pg_stat_statements_reset()")?;
    }
    let door = Door::open(server.address())?;
    // What is encrypted cannot be counted.
    let through = format!("postgres://postgres@{}/{DATABASE}?sslmode=disable", door.address());
    must(quiet(&through).args(["work", "--drain"]))?;
    let statements = if counts_statements { statements(&psql.ask(CALLS)?)? } else { Vec::new() };
    let count = |statement: &str| {
        let number = psql.number(statement)?;
        u32::try_from(number).map_err(|_| Failure::NotMeasured(format!("{statement} gave {number}")))
    };
    let completed = count("SELECT count(*) FROM lease.runs WHERE status = 'completed'")?;
    let runs = count("SELECT count(*) FROM lease.runs")?;
    let steps = count("SELECT count(*) FROM lease.receipts")?;
    if completed != runs || steps == 0 {
        let what = format!("steps: the worker completed {completed} of {runs} runs, with {steps} receipts");
        return Err(Failure::NotMeasured(what));
    }
    Ok(Cost { suppliers: completed, steps, statements, round_trips: door.counted() })
}

fn statements(rows: &str) -> Result<Vec<Statements>, Failure> {
    let files = files()?;
    let row = |line: &str| {
        let (calls, text) = line.split_once('\t')?;
        let file = files.iter().find(|(first, _)| first == text).map(|(_, name)| name.clone());
        let name = file.unwrap_or_else(|| text.chars().take(40).collect());
        Some(Statements { name, calls: calls.parse().ok()? })
    };
    let read = |line| row(line).ok_or_else(|| Failure::NotMeasured(format!("statements: {line:?}")));
    rows.lines().map(read).collect()
}

/// The first line of every statement's file, with the file's name.
fn files() -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();
    for folder in ["crates/lease-postgres/sql", "crates/supplier-runner/sql/postgres"] {
        let folder = root().join(folder);
        for entry in fs::read_dir(&folder).map_err(Failure::path(&folder))? {
            let path = entry.map_err(Failure::path(&folder))?.path();
            let text = fs::read_to_string(&path).map_err(Failure::path(&path))?;
            let first = text.lines().next().unwrap_or_default().to_owned();
            files.push((first, stem(&path)));
        }
    }
    Ok(files)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_that_a_worker_may_send_has_a_name() {
        let files = files().map_err(|failure| failure.to_string());
        let names: Vec<String> = files.into_iter().flatten().map(|(_, name)| name).collect();
        for name in ["claim_next", "renew_many", "save", "write_setup", "open_purchase_account"] {
            assert!(names.iter().any(|found| found == name), "{name} is not among {names:?}");
        }
    }
}
