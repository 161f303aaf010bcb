//! A database, a folder and a plan whose steps do what the test says.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Database, Folder, Program, eventually};

/// Where a test takes place: one supplier, `S-1`, submitted under a plan of this test's own.
pub(crate) struct Stage {
    pub(crate) database: Database,
    pub(crate) folder: Folder,
    plan: PathBuf,
}

impl Stage {
    /// `slow` is the shell script of the phase `screened`, which stands between the built-in ones. It
    /// is run in the stage's folder.
    pub(crate) fn new(slow: &str) -> Self {
        Self::with_phase(slow, "")
    }

    /// `more`: further settings of that phase, as TOML.
    pub(crate) fn with_phase(slow: &str, more: &str) -> Self {
        let folder = Folder::new();
        folder.script("slow.sh", slow);
        let command = format!("command = [\"./slow.sh\"]\n{more}");
        let phases = [
            ("validated", "uses = \"validate\""),
            ("screened", command.as_str()),
            ("registered", "uses = \"register\""),
            ("purchasing_enabled", "uses = \"open_purchasing\""),
        ];
        let plan = folder.plan("plan.toml", "with-screening", 1, &phases);
        let stage = Self { database: Database::migrated(), folder, plan };
        stage.submit(&["S-1"]);
        stage
    }

    /// Submits suppliers under the plan.
    pub(crate) fn submit(&self, keys: &[&str]) {
        let file = self.folder.suppliers(keys);
        let program = self.database.program().args(["submit", "--plan"]).file(&self.plan);
        program.file(&file).end().expect_code(0);
    }

    /// A worker under this name, with a TTL, telling what it does as JSON lines.
    pub(crate) fn worker(&self, name: &str, ttl: &str) -> Program {
        let program = self.database.program().args(["--json", "work", "--name", name, "--ttl", ttl]);
        program.args(["--poll", "100ms", "--plan"]).file(&self.plan)
    }

    /// What `show --json` says of the supplier.
    pub(crate) fn show(&self) -> Value {
        self.database.program().args(["--json", "show", "S-1"]).end().expect_code(0).json()
    }

    /// Waits until a step has left this file.
    pub(crate) fn wait_for(&self, file: &str) {
        eventually(file, || self.folder.has(file).then_some(()));
    }

    /// Waits until the lease of the supplier's run is over by the database's clock.
    pub(crate) fn wait_for_lapse(&self) {
        let lapsed = "SELECT count(*) FROM lease.runs WHERE lease_expires_at <= clock_timestamp()";
        eventually("the lease to run out", || (self.database.number(lapsed) == 1).then_some(()));
    }

    /// The lines of a file that steps write to.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The receipts as `phase fence`, in the order of the phases.
    pub(crate) fn receipts(&self) -> Vec<String> {
        let shown = self.show();
        let receipts = shown["receipts"].as_array().unwrap();
        receipts
            .iter()
            .map(|receipt| format!("{} {}", receipt["phase"].as_str().unwrap(), receipt["fence"]))
            .collect()
    }

    /// The attempts as `fence outcome`.
    pub(crate) fn attempts(&self) -> Vec<String> {
        let shown = self.show();
        let attempts = shown["attempts"].as_array().unwrap();
        attempts
            .iter()
            .map(|attempt| format!("{} {}", attempt["fence"], attempt["outcome"].as_str().unwrap_or("-")))
            .collect()
    }

    /// The numbers under which rows stand in the set-up and purchase tables.
    pub(crate) fn rows(&self) -> (Vec<String>, Vec<String>) {
        let fences =
            |table: &str| self.database.rows(&format!("SELECT fence FROM supplier.{table} ORDER BY key"));
        (fences("setups"), fences("purchase_accounts"))
    }
}
