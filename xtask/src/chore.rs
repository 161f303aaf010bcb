//! What goes wrong with a chore, and running other programs.

use std::env;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// Why a chore failed. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No server programs.
    #[error(
        "PostgreSQL's server programs are not installed: install them (Debian: apt-get install postgresql; \
         macOS: brew install postgresql), set PG_BIN to their folder, or use --install on Debian as root"
    )]
    NoServerPrograms,
    /// Root without anybody to run the server as.
    #[error("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody` to run it as")]
    NoUnprivilegedUser,
    /// `PG_BIN` without them.
    #[error("PG_BIN names {folder}, which does not hold postgres and initdb", folder = .0.display())]
    NotServerPrograms(PathBuf),
    /// `--install` where it cannot work.
    #[error("--install needs Debian's apt-get and root")]
    CannotInstall,
    /// A server that does not come up.
    #[error("the private PostgreSQL did not start:\n{log}")]
    ServerDidNotStart {
        /// The end of its log.
        log: String,
    },
    /// The command for which all this was done does not start.
    #[error("cannot run {program}")]
    Command {
        /// Its name.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A program that does not start.
    #[error("cannot run {program}")]
    Run {
        /// Its name.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A program that fails.
    #[error("{program} failed: {status}")]
    Failed {
        /// Its name.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A file or folder.
    #[error("cannot use {path}", path = path.display())]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something else of the system's.
    #[error("{doing}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Something that a benchmark could not measure, and why.
    #[error("could not be measured: {0}")]
    NotMeasured(String),
    /// Server programs of another version that are not there.
    #[error(
        "PostgreSQL {version} is not installed, and its server programs could not be fetched with npm into target/"
    )]
    NotFetched {
        /// Which version.
        version: u32,
        /// Why.
        #[source]
        cause: Box<Failure>,
    },
    /// A fetched package that is not what it should be.
    #[error("{0}")]
    Package(String),
    /// Findings that were already printed.
    #[error("{0} to put right, see above")]
    Findings(usize),
}

impl Failure {
    /// Prints it with its causes.
    pub(crate) fn report(self) -> ExitCode {
        eprint!("xtask: {self}");
        let mut cause = self.source();
        while let Some(error) = cause {
            eprint!(": {error}");
            cause = error.source();
        }
        eprintln!();
        ExitCode::from(self.exit_code())
    }

    /// As `env` and `timeout` have it, so that a command's own codes can be told from these.
    fn exit_code(&self) -> u8 {
        match self {
            Self::Command { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::Command { .. } => 126,
            Self::Failed { .. } | Self::NotMeasured(_) | Self::Findings(_) => 1,
            Self::NoServerPrograms
            | Self::NotServerPrograms(_)
            | Self::NoUnprivilegedUser
            | Self::CannotInstall
            | Self::ServerDidNotStart { .. }
            | Self::NotFetched { .. }
            | Self::Package(_)
            | Self::Run { .. }
            | Self::Path { .. }
            | Self::System { .. } => 125,
        }
    }

    /// For `map_err` on file operations.
    pub(crate) fn path(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Path { path: path.to_owned(), source }
    }

    /// For `map_err` on the system's other doings.
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.status().map_err(|source| Failure::Run { program, source })
}

/// Runs a program that has to succeed.
pub(crate) fn must(command: &mut Command) -> Result<(), Failure> {
    let status = run(command)?;
    if status.success() {
        return Ok(());
    }
    let program = command.get_program().to_string_lossy().into_owned();
    Err(Failure::Failed { program, status })
}

/// The cargo that runs this, in the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    forget_this_package(&mut cargo);
    cargo
}

/// Takes away what `cargo run` tells this program about its own package. Build scripts look at these
/// variables, so that a cargo below this one would build `ring` and all above it again, and so
/// would the next one started by hand.
pub(crate) fn forget_this_package(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let about_package = name.to_str().is_some_and(|name| {
            ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
        });
        if about_package {
            command.env_remove(&name);
        }
    }
}

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace's root")
}
