//! The measured operations, as pgbench does them: the project's own statements, with its variables in
//! place of the parameters.

use std::fs;

use clap::ValueEnum;

use crate::chore::{Failure, root};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Operation {
    /// Claims of runs that were released.
    Claim,
    /// Renewals of held leases.
    Renew,
    /// Saves of a phase that is not the last.
    Save,
}

/// The run whose turn it is: ids end in the run's number, in decimal digits. pgbench has numbers only.
const RUN: &str = "(:id_prefix || :run::text)";

impl Operation {
    /// Its word, which is also its statement's.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Renew => "renew",
            Self::Save => "save",
        }
    }

    /// How many runs a side needs for one measurement of so many seconds.
    pub(super) fn runs(self, seconds: u32, per_second: u32) -> u32 {
        match self {
            Self::Claim => seconds.saturating_mul(per_second),
            // Each is renewed again and again.
            Self::Renew => 2_048,
            // Each has room for 62 saves. Far more than that, since the last ones of all clients are not
            // used up.
            Self::Save => seconds.saturating_mul(per_second) / 12,
        }
    }

    /// Whether it needs runs on which it was not done before.
    pub(super) fn uses_runs_up(self) -> bool {
        match self {
            Self::Claim | Self::Save => true,
            Self::Renew => false,
        }
    }

    /// What in the tables rises by exactly one with every success, and with nothing else.
    pub(super) fn evidence(self) -> &'static str {
        match self {
            Self::Claim => "SELECT coalesce(sum(fence), 0) FROM lease.runs",
            Self::Renew => "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relid = 'lease.runs'::regclass",
            Self::Save => "SELECT count(*) FROM lease.receipts",
        }
    }

    /// Where each client's variables begin.
    pub(super) fn start(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Claim | Self::Renew => &[("at", "-1")],
            Self::Save => &[("at", "0"), ("phase", "0")],
        }
    }

    /// The script for pgbench. Each client has runs of its own, `:runs_each` of them.
    pub(super) fn script(self) -> Result<String, Failure> {
        let path = root().join("crates/lease-postgres/sql").join(self.word()).with_extension("sql");
        let statement = fs::read_to_string(&path).map_err(Failure::path(&path))?;
        let (turn, parameters): (_, &[&str]) = match self {
            Self::Claim => ("\\set at :at + 1\n", &[RUN, ":owner", ":ttl", ":plans", ":loss_limit"]),
            Self::Renew => ("\\set at (:at + 1) % :runs_each\n", &[RUN, ":owner", ":fence", ":ttl"]),
            Self::Save => (
                "\\set phase :phase + 1\n\\if :phase > :saves_per_run\n\\set phase 1\n\\set at :at + 1\n\\endif\n\
                 \\set next :phase + 1\n",
                &[
                    RUN,
                    ":owner",
                    ":fence",
                    "('p' || :phase::text)",
                    "('p' || :next::text)",
                    ":digest",
                    ":receipt",
                    ":ttl",
                ],
            ),
        };
        let run = "\\set run :first + :client_id * :runs_each + :at\n";
        Ok(format!("{turn}{run}{};\n", filled(&statement, parameters)))
    }
}

/// The statement with its parameters replaced, and without its comments, in which pgbench would see
/// variables of its own.
fn filled(statement: &str, parameters: &[&str]) -> String {
    let code = statement.lines().filter(|line| !line.trim_start().starts_with("--"));
    let mut text = code.collect::<Vec<_>>().join("\n");
    // The highest number first: $1 is also how $10 begins.
    for (index, parameter) in parameters.iter().enumerate().rev() {
        text = text.replace(&format!("${}", index + 1), parameter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_replaced_and_every_comment_left_out() {
        for operation in Operation::value_variants() {
            let script = operation.script().unwrap();
            assert!(!script.contains('$') && !script.contains("--"), "{script}");
            assert!(script.contains("(:id_prefix || :run::text)::uuid"), "{script}");
            assert_eq!(script.matches(';').count(), 1, "{script}");
        }
    }

    #[test]
    fn a_higher_number_is_not_taken_for_a_lower_one() {
        let parameters: Vec<String> = (1..=10).map(|number| format!(":v{number}")).collect();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        assert_eq!(filled("-- $1\nSELECT $1, $10, $2::text", &parameters), "SELECT :v1, :v10, :v2::text");
    }
}
