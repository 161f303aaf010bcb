//! Where runs are kept when no database is named: a file in the user's data folder.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The file; `None` where the system does not say where data belongs.
pub(crate) fn path() -> Option<PathBuf> {
    in_folder(env::var_os("XDG_DATA_HOME"), env::var_os("HOME"))
}

/// By the XDG base directory specification: a data folder that is not absolute does not count.
fn in_folder(data: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let data = data.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || home.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let usual = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    let folder = data.or_else(|| Some(home()?.join(usual)))?;
    Some(folder.join("supplier-setup").join("runs.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_folder_counts_and_then_the_home_folder() {
        let file =
            |data: Option<&str>, home: Option<&str>| in_folder(data.map(Into::into), home.map(Into::into));
        assert_eq!(file(Some("/data"), Some("/home/kim")), Some("/data/supplier-setup/runs.db".into()));
        let at_home = file(Some("relative"), Some("/home/kim")).unwrap();
        assert!(at_home.starts_with("/home/kim") && at_home.ends_with("supplier-setup/runs.db"));
        assert_eq!(file(None, None), None);
    }
}
