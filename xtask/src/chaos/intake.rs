//! New suppliers, handed in by the program beside everything else.

use std::fs::{self, File};
use std::process::{Child, Stdio};

use crate::chore::Failure;

use super::workers::{Recipe, product};

/// What was handed in so far.
#[derive(Debug, Default)]
pub(super) struct Intake {
    taken: u32,
    /// A submit under way, and how many suppliers there are after it.
    under_way: Option<(Child, u32)>,
}

impl Intake {
    /// How many suppliers were taken.
    pub(super) fn taken(&self) -> u32 {
        self.taken
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Hands in so many more, unless the last ones are still on their way.
    pub(super) fn hand_in(&mut self, recipe: &Recipe, url: &str, count: u32) -> Result<(), Failure> {
        if self.is_under_way() {
            return Ok(());
        }
        let after = self.taken + count;
        let suppliers: Vec<String> = (self.taken..after).map(supplier).collect();
        let file = recipe.folder.join("suppliers.json");
        fs::write(&file, format!("[{}]", suppliers.join(","))).map_err(Failure::path(&file))?;
        let log = recipe.folder.join("logs/submit.log");
        let log = File::options().create(true).append(true).open(&log).map_err(Failure::path(&log))?;
        let mut submit = product(&recipe.program, url);
        submit.args(["submit", "--plan"]).arg(&recipe.plan).arg(&file).stdout(Stdio::null()).stderr(log);
        let program = recipe.program.display().to_string();
        let child = submit.spawn().map_err(|source| Failure::Run { program, source })?;
        self.under_way = Some((child, after));
        Ok(())
    }

    /// Takes note of what was taken; says so where a submit ended as it must not.
    pub(super) fn look(&mut self) -> Result<Option<String>, Failure> {
        let Some((child, after)) = &mut self.under_way else { return Ok(None) };
        let Some(status) = child.try_wait().map_err(Failure::system("cannot wait for a submit"))? else {
            return Ok(None);
        };
        let odd = match status.code() {
            Some(0) => {
                self.taken = *after;
                None
            }
            // The store was out of reach. The same once more: what was taken is there already.
            Some(69) => None,
            code => Some(format!("submit ended with {code:?}, see logs/submit.log")),
        };
        self.under_way = None;
        Ok(odd)
    }
}

fn supplier(number: u32) -> String {
    format!(
        r#"{{"key":"C-{number:06}","legal_name":"Supplier {number}","country":"DE","tax_id":"DE123456704",
            "iban":"DE89370400440532013000","bic":"EXABDE22XXX","currency":"EUR","email":"s{number}@example.org"}}"#
    )
}
