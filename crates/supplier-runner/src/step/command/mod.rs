//! A step that is a command: the document on standard input, the receipt on standard output.
//!
//! The command runs in the plan file's folder with an environment made anew: `PATH`, `HOME`, the
//! locale, `RUN_ID`, `PHASE`, `FENCING_TOKEN`, `IDEMPOTENCY_KEY`, and what the plan names. Exit 0 with a
//! JSON object is the receipt, exit 75 asks for another try, and everything else is a failure. The
//! step is over when the command itself exits: children that it leaves behind are ended.

mod family;
mod output;
mod process;
mod strays;
mod system;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use rustix::io::Errno;

#[cfg(test)]
pub(crate) use process::MockProcessRunner;
pub use process::{ProcessCall, ProcessEnd, ProcessError, ProcessRunner};
pub use system::SystemProcesses;

use super::printed::{ANSWER_LIMIT, end_of, receipt_in};
use super::secrets::Secrets;
use super::{Step, StepEnd, StepRequest};

/// Exit 75, `EX_TEMPFAIL` of sysexits.h: try again later.
const TRY_AGAIN: i32 = 75;

/// A command and what it gets.
pub struct CommandStep {
    /// As written in the plan, for messages.
    pub(crate) name: String,
    /// The program: absolute, or to be looked up.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// The plan file's folder.
    pub(crate) folder: PathBuf,
    /// What it gets of the worker's environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The values that its messages must not repeat.
    pub(crate) secrets: Secrets,
    /// What runs it.
    pub(crate) runner: Arc<dyn ProcessRunner>,
}

impl CommandStep {
    fn call(&self, request: &StepRequest) -> ProcessCall {
        let mut environment = self.environment.clone();
        let mut set = |name: &str, value: String| environment.push((name.to_owned(), value));
        set("RUN_ID", request.run().to_string());
        set("PHASE", request.phase().to_string());
        set("FENCING_TOKEN", request.fence().to_string());
        set("IDEMPOTENCY_KEY", request.idempotency_key().to_owned());
        ProcessCall {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            folder: self.folder.clone(),
            environment,
            input: Arc::clone(request.document()),
        }
    }

    fn ended(&self, end: ProcessEnd) -> StepEnd {
        let name = &self.name;
        match end {
            ProcessEnd::Exited { code: 0, stdout, .. } => match receipt_in(&stdout) {
                Ok(receipt) => StepEnd::receipt(receipt),
                Err(why) => StepEnd::failed(format!("what {name} printed is no receipt: {why}")),
            },
            ProcessEnd::Exited { code: TRY_AGAIN, stderr, .. } => {
                StepEnd::again(format!("{name} asked to be tried again (exit 75){}", self.said(&stderr)))
            }
            ProcessEnd::Exited { code, stderr, .. } => {
                StepEnd::failed(format!("{name} ended with exit code {code}{}", self.said(&stderr)))
            }
            ProcessEnd::Killed { signal, stderr } => {
                StepEnd::failed(format!("{name} was ended by signal {signal}{}", self.said(&stderr)))
            }
            ProcessEnd::PrintedTooMuch => {
                let limit = ANSWER_LIMIT / (1024 * 1024);
                StepEnd::failed(format!("{name} printed more than {limit} MiB and was ended"))
            }
        }
    }

    fn said(&self, stderr: &str) -> String {
        let end = end_of(&self.secrets.hide(stderr));
        if end.is_empty() { String::new() } else { format!(": {end}") }
    }
}

#[async_trait]
impl Step for CommandStep {
    fn is_quick(&self) -> bool {
        false
    }

    async fn run(&self, request: &StepRequest) -> StepEnd {
        match self.runner.run(&self.call(request)).await {
            Ok(end) => self.ended(end),
            Err(ProcessError::Start(error)) => {
                let message = format!("could not start {}: {error}", self.name);
                if may_pass(&error) { StepEnd::again(message) } else { StepEnd::failed(message) }
            }
            Err(ProcessError::Watch(error)) => {
                StepEnd::again(format!("lost sight of {}: {error}", self.name))
            }
        }
    }
}

impl fmt::Debug for CommandStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandStep").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Whether a start failed for something that may be over soon: no memory, no free process or file, or
/// a script that is being written.
fn may_pass(error: &io::Error) -> bool {
    const PASSING: [Errno; 6] =
        [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::TXTBSY, Errno::INTR];
    Errno::from_io_error(error).is_some_and(|errno| PASSING.contains(&errno))
}

#[cfg(test)]
mod tests {
    use lease_core::FailureKind;

    use super::*;
    use crate::step::testing;

    fn step(runner: MockProcessRunner) -> CommandStep {
        CommandStep {
            name: "./screen.sh".to_owned(),
            program: "/plans/screen.sh".into(),
            arguments: vec!["--fast".to_owned()],
            folder: "/plans".into(),
            environment: vec![("PORTAL_TOKEN".to_owned(), "t0ps3cret".to_owned())],
            secrets: Secrets::new(["t0ps3cret".to_owned()]),
            runner: Arc::new(runner),
        }
    }

    async fn end_of_step(end: Result<ProcessEnd, ProcessError>) -> StepEnd {
        let mut runner = MockProcessRunner::new();
        runner.expect_run().times(1).return_once(|_| end);
        step(runner).run(&testing::request_for("screened")).await
    }

    fn exited(code: i32, stdout: &[u8], stderr: &str) -> Result<ProcessEnd, ProcessError> {
        Ok(ProcessEnd::Exited { code, stdout: stdout.to_vec(), stderr: stderr.to_owned() })
    }

    #[tokio::test]
    async fn the_call_carries_the_document_the_token_and_the_key_and_shows_no_secret() {
        let request = testing::request_for("screened");
        let mut runner = MockProcessRunner::new();
        let (document, run) = (Arc::clone(request.document()), request.run());
        runner.expect_run().times(1).return_once(move |call| {
            assert_eq!(call.input, document);
            let set = |name: &str| {
                let mut found = call.environment.iter().filter(|(found, _)| found == name);
                let value = found.next().map(|(_, value)| value.clone());
                assert!(found.next().is_none(), "{name} stands once");
                value
            };
            assert_eq!(set("RUN_ID"), Some(run.to_string()));
            assert_eq!(set("PHASE").as_deref(), Some("screened"));
            assert_eq!(set("FENCING_TOKEN").as_deref(), Some("7"));
            assert_eq!(set("IDEMPOTENCY_KEY"), Some(format!("{run}:screened")));
            assert_eq!(set("PORTAL_TOKEN").as_deref(), Some("t0ps3cret"));
            assert!(!format!("{call:?}").contains("t0ps3cret"));
            exited(0, b"{}", "")
        });
        let step = step(runner);
        assert!(!format!("{step:?}").contains("t0ps3cret"));
        assert!(matches!(step.run(&request).await, StepEnd::Done(_)));
    }

    #[tokio::test]
    async fn exit_0_with_an_object_is_the_receipt() {
        let StepEnd::Done(done) = end_of_step(exited(0, b" {\"b\": 1, \"a\": 2}\n", "noise")).await else {
            panic!("not done")
        };
        assert_eq!((done.receipt.to_json().as_str(), done.effects.is_empty()), (r#"{"a":2,"b":1}"#, true));
    }

    #[tokio::test]
    async fn exit_75_is_another_try_and_other_codes_and_signals_are_failures() {
        let message = "./screen.sh asked to be tried again (exit 75): busy".to_owned();
        assert_eq!(end_of_step(exited(75, b"{}", "busy\n")).await, StepEnd::Again { message, after: None });
        let expected = StepEnd::failed("./screen.sh ended with exit code 3: no such supplier");
        assert_eq!(end_of_step(exited(3, b"{}", " no such supplier\n")).await, expected);
        let killed = Ok(ProcessEnd::Killed { signal: 11, stderr: String::new() });
        assert_eq!(end_of_step(killed).await, StepEnd::failed("./screen.sh was ended by signal 11"));
    }

    /// Case 24.
    #[tokio::test]
    async fn case_24_what_is_no_receipt_is_a_clear_failure() {
        for (stdout, why) in [
            (&b""[..], "it is empty; expected a JSON object"),
            (b"[]", ".: not a JSON object"),
            (b"\xff", "it is not UTF-8 (invalid utf-8 sequence of 1 bytes from index 0)"),
        ] {
            let message = format!("what ./screen.sh printed is no receipt: {why}");
            let expected = StepEnd::Failed { kind: FailureKind::STEP, message };
            assert_eq!(end_of_step(exited(0, stdout, "")).await, expected);
        }
        let expected = StepEnd::failed("./screen.sh printed more than 1 MiB and was ended");
        assert_eq!(end_of_step(Ok(ProcessEnd::PrintedTooMuch)).await, expected);
    }

    #[tokio::test]
    async fn a_secret_on_stderr_does_not_reach_the_message() {
        let end = end_of_step(exited(1, b"", "+ curl -H 'Bearer t0ps3cret'")).await;
        assert_eq!(end, StepEnd::failed("./screen.sh ended with exit code 1: + curl -H 'Bearer ***'"));
    }

    #[tokio::test]
    async fn a_start_that_fails_is_tried_again_only_if_that_may_help() {
        let start = |errno: Errno| Err(ProcessError::Start(errno.into()));
        assert!(matches!(end_of_step(start(Errno::AGAIN)).await, StepEnd::Again { .. }));
        assert!(matches!(end_of_step(start(Errno::TXTBSY)).await, StepEnd::Again { .. }));
        let StepEnd::Failed { message, .. } = end_of_step(start(Errno::NOENT)).await else { panic!() };
        assert!(message.starts_with("could not start ./screen.sh: No such file"), "{message}");
    }
}
