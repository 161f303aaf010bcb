//! Installs on Debian what is missing: PostgreSQL's server programs, without a server of Debian's own, and
//! what fetches those of other versions.

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
    install("postgresql", without_a_cluster)
}

/// Installs npm, if it is missing: what fetches server programs of other versions.
pub(crate) fn npm() -> Result<(), Failure> {
    let asked = Command::new("npm").arg("--version").stdout(Stdio::null()).status();
    if asked.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    install("npm", |work| work())
}

/// Installs what the chaos run needs beside PostgreSQL's programs, as far as it is missing.
pub(crate) fn chaos_programs() -> Result<(), Failure> {
    server_programs()?;
    for package in ["pgbouncer", "libfaketime", "sqlite3"] {
        let asked = Command::new("dpkg").args(["--status", package]).output();
        if !asked.is_ok_and(|said| said.status.success()) {
            install(package, |work| work())?;
        }
    }
    Ok(())
}

fn install(
    package: &str,
    around: impl FnOnce(&dyn Fn() -> Result<(), Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/apt-get").is_file() {
        return Err(Failure::CannotInstall);
    }
    apt_get(&["update"])?;
    around(&|| apt_get(&["install", "--yes", "--no-install-recommends", package]))
}

/// Does something while Debian's packages are told to make no cluster, and so to start no server.
fn without_a_cluster(work: &dyn Fn() -> Result<(), Failure>) -> Result<(), Failure> {
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
