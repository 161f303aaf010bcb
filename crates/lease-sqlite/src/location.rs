//! Where a file may be, and what is said where it may not.

use std::path::{Path, PathBuf};

use lease_core::StoreError;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its folder is missing.
    #[error("the folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    /// It is missing.
    #[error("the file {} does not exist", .0.display())]
    NoFile(PathBuf),
    /// It is a folder.
    #[error("{} is a folder, not a file", .0.display())]
    Folder(PathBuf),
    /// It is no database.
    #[error("{} is not a SQLite database", .0.display())]
    NotADatabase(PathBuf),
    /// It may not be written.
    #[error("{} or its folder may not be written", .0.display())]
    ReadOnly(PathBuf),
    /// It lies on a file system that several machines share.
    #[error(
        "{} lies on a network file system ({system}), where SQLite's locks cannot be trusted; use a local disk, or PostgreSQL", path.display()
    )]
    Network {
        /// The file.
        path: PathBuf,
        /// The kind of file system.
        system: &'static str,
    },
}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        Self::Unexpected(Box::new(error))
    }
}

/// Checks what can be known before the file is opened.
pub(crate) fn check(path: &Path, create: bool) -> Result<(), OpenError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(OpenError::NoFolder(folder.to_path_buf()));
    }
    if path.is_dir() {
        return Err(OpenError::Folder(path.to_path_buf()));
    }
    if !create && !path.exists() {
        return Err(OpenError::NoFile(path.to_path_buf()));
    }
    match network(folder) {
        Some(system) => Err(OpenError::Network { path: path.to_path_buf(), system }),
        None => Ok(()),
    }
}

/// The name of a network file system, where the folder lies on one.
#[cfg(target_os = "linux")]
fn network(folder: &Path) -> Option<&'static str> {
    // Unknown is taken for local: SQLite's own locks are then what there is.
    let kind = rustix::fs::statfs(folder).ok()?.f_type;
    network_by_magic(u64::try_from(kind).ok()? & 0xffff_ffff)
}

#[cfg(not(target_os = "linux"))]
fn network(_folder: &Path) -> Option<&'static str> {
    None
}

/// From `statfs(2)`.
#[cfg(any(target_os = "linux", test))]
fn network_by_magic(kind: u64) -> Option<&'static str> {
    match kind {
        0x6969 => Some("NFS"),
        0x517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB2"),
        0x0102_1997 => Some("9P"),
        0x5346_414f => Some("AFS"),
        0x00c3_6400 => Some("Ceph"),
        0x7461_636f => Some("OCFS2"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_that_machines_share_are_told_by_name() {
        assert_eq!(network_by_magic(0x6969), Some("NFS"));
        assert_eq!(network_by_magic(0xef53), None, "ext4");
        assert_eq!(network(Path::new(".")), None, "tests run on a local disk");
    }
}
