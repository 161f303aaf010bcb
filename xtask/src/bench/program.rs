//! The programs that are measured, built as they are released.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::chore::{Failure, cargo};
use crate::server::PrivateServer;

use super::facts::Facts;

/// The benchmark program's exit code where its rows were too few.
const RAN_OUT: i32 = 3;

/// Where they are.
#[derive(Debug)]
pub(super) struct Programs {
    /// `lease-postgres`'s own benchmark program.
    bench: PathBuf,
    /// `lease-sqlite`'s.
    measure: PathBuf,
    /// The product.
    product: PathBuf,
}

impl Programs {
    /// Builds them.
    pub(super) fn build() -> Result<Self, Failure> {
        let mut build = cargo();
        build.args(["build", "--release", "--package", "lease-postgres", "--example", "bench"]);
        build.args(["--package", "lease-sqlite", "--example", "measure"]);
        build.args(["--package", "supplier-setup", "--bin", "supplier-setup"]);
        // Says where it puts what it builds; what the compiler says goes to standard error.
        build.arg("--message-format=json-render-diagnostics");
        let said = output(&mut build)?;
        let built = |name: &str| {
            executable(&said, name).ok_or_else(|| Failure::NotMeasured(format!("cargo built no {name}")))
        };
        Ok(Self { bench: built("bench")?, measure: built("measure")?, product: built("supplier-setup")? })
    }

    /// Runs the benchmark program, which has to succeed.
    pub(super) fn bench(
        &self,
        server: &PrivateServer,
        database: &str,
        arguments: &[&str],
    ) -> Result<Facts, Failure> {
        output(&mut self.benching(server, database, arguments)).map(|said| Facts::read(&said))
    }

    /// Runs the benchmark program of the embedded store.
    pub(super) fn measure(&self, arguments: &[&str]) -> Result<Facts, Failure> {
        output(Command::new(&self.measure).args(arguments)).map(|said| Facts::read(&said))
    }

    /// Runs an operation; `None` where the rows were too few for it.
    pub(super) fn operate(
        &self,
        server: &PrivateServer,
        database: &str,
        arguments: &[&str],
    ) -> Result<Option<Facts>, Failure> {
        match output(&mut self.benching(server, database, arguments)) {
            Ok(said) => Ok(Some(Facts::read(&said))),
            Err(Failure::Failed { status, .. }) if status.code() == Some(RAN_OUT) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn benching(&self, server: &PrivateServer, database: &str, arguments: &[&str]) -> Command {
        let mut bench = Command::new(&self.bench);
        server.tell(&mut bench);
        bench.env("DATABASE_URL", server.url_of(database)).args(arguments);
        bench
    }

    /// The product, on a database.
    pub(super) fn product(&self, server: &PrivateServer, url: &str) -> Command {
        let mut product = Command::new(&self.product);
        server.tell(&mut product);
        product.env("DATABASE_URL", url);
        product
    }
}

/// What a program prints that has to succeed.
pub(super) fn output(command: &mut Command) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Failure::Run { program: program.clone(), source })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::Failed { program, status: output.status })
    }
}

/// The path of a program in cargo's messages, one JSON object a line.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    let mut paths = messages.lines().filter_map(|line| {
        let (_, rest) = line.split_once(r#""executable":""#)?;
        Some(PathBuf::from(rest.split('"').next()?))
    });
    paths.find(|path| path.file_stem().is_some_and(|stem| stem == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_what_cargo_says() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"bench_x"},"executable":null,"fresh":true}"#,
            "\n",
            r#"{"reason":"compiler-artifact","executable":"/t/release/examples/bench","fresh":true}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(executable(messages, "bench"), Some("/t/release/examples/bench".into()));
        assert_eq!(executable(messages, "supplier-setup"), None);
    }
}
