//! SIGTERM, Ctrl-C and a closed terminal: the first tells the worker to stop in good order, the second ends it at once.
//!
//! They are heard on a thread of their own, and the second one ends the program whatever hangs: a
//! reader of its output that has stopped reading holds up everything that writes.

use std::fs;
use std::io;
use std::process;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use supplier_runner::worker::Stopper;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::Error;
use crate::exit::Exit;

/// How long a program that was told twice to stop has for its steps' processes and its last lines.
/// The worker itself waits for its steps for a second.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

/// What signals came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signalled(Arc<Mutex<Option<Exit>>>);

impl Signalled {
    /// The exit code of the last signal; none if none came.
    pub(crate) fn last(&self) -> Option<Exit> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, exit: Exit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
    }
}

/// Tells `stopper` of signals from now on.
///
/// # Errors
/// When the system does not let the program listen.
pub(crate) fn listen(stopper: Stopper) -> Result<Signalled, Error> {
    let signalled = Signalled::default();
    let (heard, (listening, began)) = (signalled.clone(), channel());
    let thread = move || match listener() {
        Ok((runtime, signals)) => {
            // Who waits for this is there until it comes.
            let _told = listening.send(Ok(()));
            runtime.block_on(pass_on(signals, stopper, heard));
        }
        Err(error) => drop(listening.send(Err(error))),
    };
    let failed = |source| Error::System { doing: "listen for signals", source };
    thread::Builder::new().name("signals".to_owned()).spawn(thread).map_err(failed)?;
    began.recv().map_err(io::Error::other).and_then(|began| began).map_err(failed)?;
    Ok(signalled)
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` where it is ignored, as under `nohup`: listening would undo that.
    hangup: Option<Signal>,
}

fn listener() -> io::Result<(Runtime, Signals)> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if hangup_is_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
        }
    };
    Ok((runtime, signals))
}

/// Whether whoever started the program had SIGHUP ignored. Where the system does not tell, it is left
/// as it is.
fn hangup_is_ignored() -> bool {
    fs::read_to_string("/proc/self/status").map_or(true, |status| ignores_hangup(&status))
}

/// From the line `SigIgn` of `/proc/self/status`: a mask in hexadecimal, whose lowest bit is SIGHUP.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

async fn heard(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

async fn pass_on(mut signals: Signals, stopper: Stopper, signalled: Signalled) {
    let mut told = false;
    loop {
        let exit = tokio::select! {
            Some(()) = signals.terminate.recv() => Exit::Terminated,
            Some(()) = signals.interrupt.recv() => Exit::Interrupted,
            Some(()) = heard(&mut signals.hangup) => Exit::Terminated,
            else => return,
        };
        signalled.note(exit);
        // Acted first: writing a line may take for ever.
        if told {
            stopper.stop_now();
            end_within(ENDS_WITHIN, exit);
            tracing::warn!("told to stop again: ending at once; leases run out by themselves");
        } else {
            stopper.drain();
            let heard = "told to stop: no new claims, steps under way may finish; a second signal ends them";
            thread::spawn(move || tracing::info!("{heard}"));
        }
        told = true;
    }
}

/// Ends the program after this time, if it has not ended by then.
fn end_within(time: Duration, exit: Exit) {
    let end = move || {
        thread::sleep(time);
        process::exit(i32::from(exit.code()));
    };
    if thread::Builder::new().name("end".to_owned()).spawn(end).is_err() {
        process::exit(i32::from(exit.code()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_is_the_lowest_bit_of_the_mask() {
        assert!(ignores_hangup("Name:\tx\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("SigIgn:\t0000000000001000\n"));
        assert!(ignores_hangup("Name:\tx\n"), "where it is not told, it is left alone");
    }
}
