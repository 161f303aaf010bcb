//! Logs: to standard error, as text or JSON, and never through the middle of progress lines.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::MultiProgress;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::arguments::LogFormat;

/// Standard error, shared with progress lines while there are some.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogTarget(Arc<Mutex<Option<MultiProgress>>>);

impl LogTarget {
    /// From now on logs are written above these lines.
    pub(crate) fn share_with(&self, lines: MultiProgress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(lines);
    }

    /// The lines are gone.
    pub(crate) fn alone(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Starts logging. `RUST_LOG` says what is logged; without it, `info` for a worker and `warn` for the
/// rest.
pub(crate) fn start(format: LogFormat, works: bool, target: LogTarget) {
    let level = if works { LevelFilter::INFO } else { LevelFilter::WARN };
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(target);
    match format {
        LogFormat::Text => builder.with_ansi(io::stderr().is_terminal()).with_target(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}

/// Writes one log line.
#[derive(Debug)]
pub(crate) struct LogLine(Option<MultiProgress>);

impl<'a> MakeWriter<'a> for LogTarget {
    type Writer = LogLine;

    fn make_writer(&'a self) -> LogLine {
        LogLine(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Write for LogLine {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let write = || io::stderr().lock().write_all(text);
        match &self.0 {
            Some(lines) => lines.suspend(write)?,
            None => write()?,
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
