//! The scratch folder of a private server. It goes away with its value, and when this process is killed
//! with SIGKILL, a watchdog ends the server and removes the folder.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::chore::{Failure, must};
use crate::unprivileged::RunAs;

/// Waits until standard input ends, which it does when this process does, however that came about. The
/// number of the server's process is read from the server's own file, which is gone once the server is.
const WATCHDOG: &str = r#"
read -r end
file="$1/data/postmaster.pid"
pid=$(head -n 1 "$file" 2>/dev/null) && kill -QUIT "$pid"
tries=0
while [ -e "$file" ] && [ "$tries" -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
rm -rf "$1"
"#;

/// The longest path of a Unix socket, on the stricter systems, less the name that PostgreSQL adds.
const LONGEST_PATH: usize = 103 - "/.s.PGSQL.65535".len();

/// A folder for the server's data, socket and log.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    watchdog: Child,
}

impl Scratch {
    /// Makes it, with a watchdog beside it, for the user who runs the server.
    pub(crate) fn new(run_as: RunAs) -> Result<Self, Failure> {
        let folder = folder(run_as)?;
        let mut sh = Command::new("sh");
        sh.args(["-c", WATCHDOG, "watchdog"]).arg(folder.path()).current_dir("/");
        // A group of its own: what ends this process by its group must not end the watchdog.
        sh.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let watchdog = sh.spawn().map_err(|source| Failure::Run { program: "sh".to_owned(), source })?;
        Ok(Self { folder, watchdog })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies server programs with what lies beside their folder, where the server's user does not get to
    /// them: fetched ones in a checkout in root's home, for example. The folder of the copies.
    pub(crate) fn copy_of(&self, bin: &Path) -> Result<PathBuf, Failure> {
        let copy = self.path().join("programs");
        // Links lead to where the originals are.
        must(Command::new("cp").arg("-RL").arg(bin.join("..")).arg(&copy))?;
        Ok(copy.join(bin.file_name().unwrap_or_default()))
    }

    /// Where the data are.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }
}

impl Drop for Scratch {
    /// The watchdog first, so that it cannot find its input ended; the folder goes after this.
    fn drop(&mut self) {
        let ended = self.watchdog.kill().and_then(|()| self.watchdog.wait());
        if let Err(error) = ended {
            eprintln!("xtask: the private PostgreSQL's watchdog did not end: {error}");
        }
    }
}

/// An empty folder that the server's user owns and reaches, in the first place where that works.
fn folder(run_as: RunAs) -> Result<TempDir, Failure> {
    let mut failure = io::Error::other("no place whose path is short enough and open to the server's user");
    for place in [env::temp_dir(), "/tmp".into(), "/var/tmp".into()] {
        let folder = match tempfile::Builder::new().prefix("private-pg-").tempdir_in(place) {
            Ok(folder) => folder,
            Err(error) => {
                failure = error;
                continue;
            }
        };
        run_as.give(folder.path())?;
        if folder.path().as_os_str().len() <= LONGEST_PATH && run_as.reaches(folder.path()) {
            return Ok(folder);
        }
    }
    Err(Failure::System { doing: "cannot make a scratch folder", source: failure })
}
