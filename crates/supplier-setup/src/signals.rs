//! SIGTERM and Ctrl-C: the first tells the worker to stop in good order, the second ends it at once.

use std::sync::{Arc, Mutex, PoisonError};

use supplier_runner::worker::Stopper;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::Error;
use crate::exit::Exit;

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
    let open = |kind| signal(kind).map_err(|source| Error::System { doing: "listen for signals", source });
    let (terminate, interrupt) = (open(SignalKind::terminate())?, open(SignalKind::interrupt())?);
    let signalled = Signalled::default();
    tokio::spawn(pass_on(terminate, interrupt, stopper, signalled.clone()));
    Ok(signalled)
}

async fn pass_on(mut terminate: Signal, mut interrupt: Signal, stopper: Stopper, signalled: Signalled) {
    let mut told = false;
    loop {
        let exit = tokio::select! {
            Some(()) = terminate.recv() => Exit::Terminated,
            Some(()) = interrupt.recv() => Exit::Interrupted,
            else => return,
        };
        signalled.note(exit);
        if told {
            tracing::warn!("told to stop again: ending at once; leases run out by themselves");
            stopper.stop_now();
        } else {
            tracing::info!(
                "told to stop: no new claims, steps under way may finish; a second signal ends them"
            );
            stopper.drain();
        }
        told = true;
    }
}
