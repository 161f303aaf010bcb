//! Runs the server's programs as somebody who is not root, which they refuse.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::chore::Failure;

/// Whom to run the server as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunAs {
    /// Whoever runs this.
    Oneself,
    /// This user, because whoever runs this is root.
    User {
        /// The user's number.
        uid: u32,
        /// The number of the user's group.
        gid: u32,
    },
}

impl RunAs {
    /// Oneself, or for root the first of `postgres` and `nobody` that there is.
    pub(crate) fn choose() -> Result<Self, Failure> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Oneself);
        }
        let path = Path::new("/etc/passwd");
        let users = fs::read_to_string(path).map_err(Failure::path(path))?;
        let (uid, gid) = ["postgres", "nobody"]
            .iter()
            .find_map(|name| user(&users, name))
            .ok_or(Failure::NoUnprivilegedUser)?;
        Ok(Self::User { uid, gid })
    }

    /// Gives a folder to that user.
    pub(crate) fn give(self, folder: &Path) -> Result<(), Failure> {
        match self {
            Self::Oneself => Ok(()),
            Self::User { uid, gid } => chown(folder, Some(uid), Some(gid)).map_err(Failure::path(folder)),
        }
    }

    /// Whether that user reaches a folder: root's own scratch folders may lie where nobody else does.
    pub(crate) fn reaches(self, folder: &Path) -> bool {
        if self == Self::Oneself {
            return true;
        }
        let mut test = Command::new("test");
        test.arg("-x").arg(folder).current_dir("/");
        self.apply(&mut test);
        test.status().is_ok_and(|status| status.success())
    }

    /// Makes a command run as that user.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Self::User { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }
}

/// The numbers of a user in the text of `/etc/passwd`.
fn user(users: &str, name: &str) -> Option<(u32, u32)> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some((uid, gid))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_whole_name() {
        let users =
            "root:x:0:0:root:/root:/bin/bash\npostgres2:x:7:8::/:/x\npostgres:x:101:103:,,,:/var:/bin/sh\n";
        assert_eq!(user(users, "postgres"), Some((101, 103)));
        assert_eq!(user(users, "nobody"), None);
    }
}
