//! The system's own processes behind the port.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::time::timeout;

use super::family::Family;
use super::output::{TooMuch, keep_all, keep_tail};
use super::process::{ProcessCall, ProcessEnd, ProcessError, ProcessRunner};

/// How long a child may still hold the pipes once the process has exited: long enough for a `tee` that
/// writes the last line, short enough that nobody waits for a daemon.
const AFTER_EXIT: Duration = Duration::from_millis(250);
/// How long the pipes are read once everybody is ended. Only a process out of reach holds them longer.
const AFTER_END: Duration = Duration::from_secs(1);

/// Starts processes on this system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemProcesses;

#[async_trait]
impl ProcessRunner for SystemProcesses {
    async fn run(&self, call: &ProcessCall) -> Result<ProcessEnd, ProcessError> {
        let (mut family, pipes) = Family::start(call).map_err(ProcessError::Start)?;
        let mut stdout = Vec::new();
        let mut stderr = VecDeque::new();
        let too_much = {
            let feed = feed(pipes.stdin, &call.input);
            let out = keep_all(pipes.stdout, &mut stdout);
            let err = keep_tail(pipes.stderr, &mut stderr);
            let mut talk = pin!(async { tokio::try_join!(feed, out, err).map(|_| ()) });
            let mut talked = tokio::select! {
                biased;
                talked = &mut talk => Some(talked),
                exited = family.leader_exited() => exited.map(|()| None).map_err(ProcessError::Watch)?,
            };
            if talked == Some(Ok(())) {
                // It closed its output; it may live on.
                family.leader_exited().await.map_err(ProcessError::Watch)?;
            }
            if talked.is_none() {
                talked = timeout(AFTER_EXIT, &mut talk).await.ok();
            }
            family.end();
            if talked.is_none() {
                talked = timeout(AFTER_END, &mut talk).await.ok();
            }
            talked == Some(Err(TooMuch))
        };
        let status = family.reap().await.map_err(ProcessError::Watch)?;
        if too_much {
            return Ok(ProcessEnd::PrintedTooMuch);
        }
        let stderr = String::from_utf8_lossy(stderr.make_contiguous()).into_owned();
        Ok(match status.code() {
            Some(code) => ProcessEnd::Exited { code, stdout, stderr },
            None => ProcessEnd::Killed { signal: status.signal().unwrap_or_default(), stderr },
        })
    }
}

/// Hands over the input. A process that does not read it breaks the pipe, which is its own affair.
async fn feed(mut stdin: ChildStdin, input: &str) -> Result<(), TooMuch> {
    let _broken = stdin.write_all(input.as_bytes()).await;
    Ok(())
}
