//! What a worker's events look like while it works: lines per supplier on a terminal, lines of text
//! off it, JSON for scripts.
//!
//! Events are shown by a thread of their own, because the worker must not wait for a terminal or a
//! pipe. Where that thread falls far behind (a reader that does not read), further events are dropped
//! and counted, rather than kept without limit.

mod bars;
mod lines;
mod words;

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use lease_core::{ClaimVerdict, Ending, RunId, RunKey};
use supplier_runner::worker::{Event, EventKind, Events};
use time::OffsetDateTime;

use crate::error::Error;
use crate::event_line::EventLine;
use crate::log::LogTarget;
use crate::output::Output;

/// The most events that wait to be shown.
const WAITING_LIMIT: usize = 65_536;

/// Shows events, in the order in which they come.
trait View: Send {
    /// Shows one, which came at this time by the worker's wall clock.
    fn event(&mut self, at: OffsetDateTime, event: &Event);

    /// Nothing more will come.
    fn end(&mut self) {}
}

/// An event on its way to the view.
enum Told {
    Event(OffsetDateTime, Box<Event>),
    End,
}

/// Takes a worker's events and passes them on.
pub(crate) struct Progress {
    told: SyncSender<Told>,
    dropped: AtomicU64,
    keys: HashMap<RunId, RunKey>,
    seen: Mutex<Seen>,
}

/// What was seen of runs, for the summary.
#[derive(Debug, Default)]
struct Seen {
    runs: HashSet<RunId>,
    completed_before: u64,
}

/// The thread that shows.
pub(crate) struct Showing {
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
}

/// Starts to show what happens to these runs (or, for a worker that takes any, to all).
///
/// # Errors
/// When the system has no more threads.
pub(crate) fn start(
    json: bool,
    output: &Output,
    log_target: &LogTarget,
    runs: Vec<(RunId, RunKey)>,
) -> Result<(Arc<Progress>, Showing), Error> {
    let view: Box<dyn View> = if json {
        Box::new(JsonLines(output.clone()))
    } else if io::stderr().is_terminal() {
        Box::new(bars::Bars::new(log_target.clone(), &runs))
    } else {
        Box::new(lines::Lines::new(output.clone()))
    };
    let (told, events) = sync_channel(WAITING_LIMIT);
    let started = thread::Builder::new().name("progress".to_owned()).spawn(move || show(view, &events));
    let thread = started.map_err(|source| Error::System { doing: "start the progress thread", source })?;
    let keys = runs.into_iter().collect();
    let progress = Arc::new(Progress { told, dropped: AtomicU64::new(0), keys, seen: Mutex::default() });
    Ok((Arc::clone(&progress), Showing { progress, thread }))
}

fn show(mut view: Box<dyn View>, events: &Receiver<Told>) {
    while let Ok(Told::Event(at, event)) = events.recv() {
        view.event(at, &event);
    }
    view.end();
}

impl Events for Progress {
    fn emit(&self, event: &Event) {
        let mut event = event.clone();
        if event.key.is_none() {
            event.key = self.keys.get(&event.run).cloned();
        }
        self.look(&event);
        if self.told.try_send(Told::Event(OffsetDateTime::now_utc(), Box::new(event))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Progress {
    /// A run that is found completed by the first look at it was completed before.
    fn look(&self, event: &Event) {
        if !self.keys.contains_key(&event.run) {
            return;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.runs.insert(event.run)
            && matches!(event.kind, EventKind::NotClaimed(ClaimVerdict::Finished(Ending::Completed)))
        {
            seen.completed_before += 1;
        }
    }

    /// How many of the runs asked for were completed before this worker looked at them.
    pub(crate) fn completed_before(&self) -> u64 {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).completed_before
    }
}

impl Showing {
    /// Waits until everything that was told is shown.
    pub(crate) fn end(self) {
        // An error means that the thread has ended, and then there is nothing to wait for.
        let _ended = self.progress.told.send(Told::End);
        if self.thread.join().is_err() {
            tracing::error!("the progress thread panicked");
        }
        let dropped = self.progress.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            tracing::warn!(dropped, "events were not shown: their reader was too slow");
        }
    }
}

/// One JSON object per line on standard output.
struct JsonLines(Output);

impl View for JsonLines {
    fn event(&mut self, at: OffsetDateTime, event: &Event) {
        if let Some(line) = EventLine::new(at, event) {
            self.0.json(&line);
        }
    }
}
