//! Files for the program: the examples, supplier records, plans with steps of a test's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A file of the examples folder.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// A supplier's record as JSON.
pub(crate) fn supplier(key: &str) -> String {
    format!(
        r#"{{"key":"{key}","legal_name":"Nordlicht {key}","country":"DE","tax_id":"DE136695976","iban":"DE89370400440532013000","bic":"DEUTDEFF","currency":"EUR","email":"ap@nordlicht.example"}}"#
    )
}

/// A folder of a test's own.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A file's path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a file with these suppliers.
    pub(crate) fn suppliers(&self, keys: &[&str]) -> PathBuf {
        let lines: Vec<String> = keys.iter().map(|key| supplier(key)).collect();
        self.write("suppliers.ndjson", lines.join("\n"))
    }

    /// Writes a shell script that a plan can name as a command.
    pub(crate) fn script(&self, name: &str, text: &str) {
        let path = self.write(name, format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes a plan. Each phase is its name and what does it, as TOML.
    pub(crate) fn plan(&self, file: &str, name: &str, version: u32, phases: &[(&str, &str)]) -> PathBuf {
        let mut text = format!("name = \"{name}\"\nversion = {version}\n");
        for (phase, does) in phases {
            text.push_str(&format!("\n[[phase]]\nname = \"{phase}\"\n{does}\n"));
        }
        self.write(file, text)
    }

    /// Whether a step has left this file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }
}
