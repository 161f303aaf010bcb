//! Installs PostgreSQL's server programs on Debian, without a server of Debian's own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::chore::{Failure, must};

/// Where Debian's packages look for settings of the cluster that they would make.
const SETTINGS: &str = "/etc/postgresql-common/createcluster.d";

/// Installs them, if they are missing.
pub(crate) fn server_programs() -> Result<(), Failure> {
    match crate::programs::find() {
        Err(Failure::NoServerPrograms) => {}
        found => return found.map(drop),
    }
    update()?;
    without_a_cluster(|| apt_get(&["install", "--yes", "--no-install-recommends", "postgresql"]))
}

/// Installs what the chaos run needs beside PostgreSQL's programs, if it is missing.
pub(crate) fn chaos_programs() -> Result<(), Failure> {
    server_programs()?;
    let there = |name: &str| {
        Command::new("dpkg").args(["--status", name]).output().is_ok_and(|it| it.status.success())
    };
    let missing: Vec<&str> =
        ["pgbouncer", "libfaketime", "sqlite3"].into_iter().filter(|name| !there(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    update()?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"], &missing[..]].concat())
}

fn update() -> Result<(), Failure> {
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/apt-get").is_file() {
        return Err(Failure::CannotInstall);
    }
    apt_get(&["update"])
}

/// Does something while Debian's packages are told to make no cluster, and so to start no server.
fn without_a_cluster(work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let settings = Path::new(SETTINGS);
    fs::create_dir_all(settings).map_err(Failure::path(settings))?;
    let ours = settings.join("no-main-cluster.conf");
    fs::write(&ours, "create_main_cluster = false\n").map_err(Failure::path(&ours))?;
    let done = work();
    fs::remove_file(&ours).map_err(Failure::path(&ours))?;
    done
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut apt_get = Command::new("apt-get");
    // Standard output belongs to the command for which this is done.
    apt_get.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::from(io::stderr()));
    must(&mut apt_get)
}
