//! Installs PostgreSQL's server programs on Debian, without starting a server of Debian's own.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::chore::{Failure, must};

/// Installs them, if they are missing.
pub(crate) fn server_programs() -> Result<(), Failure> {
    if crate::programs::find().is_ok() {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/apt-get").is_file() {
        return Err(Failure::CannotInstall);
    }
    apt_get(&["update"])?;
    apt_get(&["install", "--yes", "--no-install-recommends", "postgresql-common"])?;
    let settings = Path::new("/etc/postgresql-common/createcluster.conf");
    let mut text = fs::read_to_string(settings).unwrap_or_default();
    text.push_str("\ncreate_main_cluster = false\n");
    fs::write(settings, text).map_err(Failure::path(settings))?;
    apt_get(&["install", "--yes", "--no-install-recommends", "postgresql", "postgresql-contrib"])
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    must(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}
