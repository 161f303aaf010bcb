//! Runs pgbench.

use std::io::Write as _;
use std::process::Command;

use crate::chore::Failure;
use crate::server::PrivateServer;

use super::facts::Facts;
use super::program::output;

/// What one measurement gave, on either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    /// How often the operation was done.
    pub(super) operations: i64,
    /// In how many seconds.
    pub(super) seconds: f64,
}

/// One run of pgbench.
#[derive(Debug)]
pub(super) struct Run<'r> {
    pub(super) database: &'r str,
    /// The settings of its sessions.
    pub(super) session: &'r Facts,
    pub(super) script: &'r str,
    /// The script's variables.
    pub(super) variables: Vec<(&'r str, String)>,
    pub(super) connections: u32,
    pub(super) seconds: u32,
}

/// Runs it to its end.
pub(super) fn run(server: &PrivateServer, run: &Run<'_>) -> Result<Measured, Failure> {
    let file = Failure::system("cannot write a script for pgbench");
    let script = tempfile::NamedTempFile::new().and_then(|mut script| {
        script.write_all(run.script.as_bytes())?;
        Ok(script)
    });
    let script = script.map_err(file)?;
    let mut pgbench = Command::new("pgbench");
    server.tell(&mut pgbench);
    pgbench.env("PGOPTIONS", options(run.session)).env("PGDATABASE", run.database);
    pgbench.args(["--protocol=prepared", "--no-vacuum", "--jobs=2"]);
    pgbench.arg(format!("--client={}", run.connections)).arg(format!("--time={}", run.seconds));
    for (name, value) in &run.variables {
        pgbench.arg(format!("--define={name}={value}"));
    }
    pgbench.arg("--file").arg(script.path());
    read(&output(&mut pgbench)?)
}

/// Settings as libpq hands them to the server.
fn options(session: &Facts) -> String {
    let mut text = String::new();
    for (name, value) in session.pairs() {
        text.push_str(" -c ");
        text.push_str(name);
        text.push('=');
        for character in value.chars() {
            if character.is_ascii_whitespace() || character == '\\' {
                text.push('\\');
            }
            text.push(character);
        }
    }
    text
}

/// Reads what pgbench prints. Its time is that without opening connections.
fn read(text: &str) -> Result<Measured, Failure> {
    let after = |begin: &str| text.lines().find_map(|line| line.trim().strip_prefix(begin));
    let operations = after("number of transactions actually processed: ")
        .and_then(|rest| rest.split(['/', ' ']).next()?.parse().ok());
    let per_second = text
        .lines()
        .filter(|line| {
            line.contains("without initial connection time") || line.contains("excluding connections")
        })
        .find_map(|line| line.trim().strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    let (Some(operations), Some(per_second)) = (operations, per_second) else {
        return Err(Failure::NotMeasured(format!("pgbench printed\n{text}")));
    };
    // Not a conversion that could lose anything: counts stay far below 2^32.
    let count = f64::from(u32::try_from(operations).unwrap_or(u32::MAX));
    if per_second <= 0.0 {
        return Err(Failure::NotMeasured(format!("pgbench did nothing:\n{text}")));
    }
    Ok(Measured { operations, seconds: count / per_second })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pgbench_prints_is_read() {
        let text = "transaction type: a\nnumber of transactions actually processed: 3000\n\
            number of failed transactions: 0 (0.000%)\nlatency average = 0.5 ms\n\
            initial connection time = 4.1 ms\ntps = 1500.0 (without initial connection time)\n";
        assert_eq!(read(text).unwrap(), Measured { operations: 3_000, seconds: 2.0 });
        assert!(read("tps = 0.0 (without initial connection time)\n").is_err());
    }

    #[test]
    fn a_setting_with_blanks_is_one_word_for_the_server() {
        let session = Facts::read("default_transaction_isolation=read committed\njit=off");
        assert_eq!(options(&session), " -c default_transaction_isolation=read\\ committed -c jit=off");
    }
}
