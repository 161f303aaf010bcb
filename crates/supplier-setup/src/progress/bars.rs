//! Lines on a terminal: one per supplier, and above them what must not be overlooked.

use std::collections::HashMap;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lease_core::{AttemptOutcome, ClaimVerdict, Ending, RunId, RunKey};
use supplier_runner::worker::{Event, EventKind};
use time::OffsetDateTime;

use super::View;
use super::words::{name, words};
use crate::log::LogTarget;
use crate::output::plain::{plain, short};

/// Up to so many suppliers each have a line from start to end; of more, only those in hand.
const LINES_LIMIT: usize = 50;
/// The width of the key's column, in characters.
const NAME_CHARS: usize = 24;
/// How often the terminal is drawn at most, per second.
const DRAWS_PER_SECOND: u8 = 10;

/// Progress lines on standard error.
pub(super) struct Bars {
    lines: MultiProgress,
    log_target: LogTarget,
    by_run: HashMap<RunId, ProgressBar>,
    /// Whether lines stay once their run has ended.
    keep: bool,
    total: Option<ProgressBar>,
    counts: Counts,
}

/// What the total line says.
#[derive(Debug, Default)]
struct Counts {
    completed: u64,
    failed: u64,
    lost: u64,
}

impl Bars {
    /// Lines for these runs; none named: for whatever is claimed.
    pub(super) fn new(log_target: LogTarget, runs: &[(RunId, RunKey)]) -> Self {
        // Drawn only once all lines are there.
        let lines = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        log_target.share_with(lines.clone());
        let keep = (1..=LINES_LIMIT).contains(&runs.len());
        let mut bars =
            Self { lines, log_target, by_run: HashMap::new(), keep, total: None, counts: Counts::default() };
        if keep {
            for (run, key) in runs {
                bars.line_for(*run, &plain(key.as_str())).set_message("queued");
            }
        } else {
            let length = u64::try_from(runs.len()).ok().filter(|length| *length > 0);
            bars.total = Some(bars.lines.add(total_line(length)));
        }
        bars.lines.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        bars.by_run.values().for_each(ProgressBar::tick);
        bars
    }

    fn line_for(&mut self, run: RunId, name: &str) -> &ProgressBar {
        self.by_run.entry(run).or_insert_with(|| {
            let prefix = format!("{:<NAME_CHARS$}", short(name, NAME_CHARS - 1));
            let line = ProgressBar::no_length().with_style(style("{prefix} {wide_msg}"));
            // Set before the line is among the others, anything else would be drawn at once and stay.
            self.lines.add(line.with_prefix(prefix))
        })
    }

    /// A line that stays above the others.
    fn say(&self, text: &str) {
        // A terminal that cannot be written to shows nothing; nobody can be told.
        let _unheard = self.lines.println(text);
    }

    fn end_line(&mut self, run: RunId, words: &str) {
        if self.keep {
            if let Some(line) = self.by_run.get(&run) {
                line.finish_with_message(words.to_owned());
            }
        } else if let Some(line) = self.by_run.remove(&run) {
            line.finish_and_clear();
            self.lines.remove(&line);
        }
    }

    fn count(&mut self, kind: &EventKind) {
        let mut over = false;
        match kind {
            EventKind::RunEnded { ending: Ending::Completed, .. } => {
                (self.counts.completed, over) = (self.counts.completed + 1, true)
            }
            EventKind::RunEnded { .. } => (self.counts.failed, over) = (self.counts.failed + 1, true),
            EventKind::AttemptEnded { outcome: AttemptOutcome::Blocked, .. } => self.counts.lost += 1,
            EventKind::NotClaimed(ClaimVerdict::Finished(_)) => over = true,
            EventKind::AttemptEnded { .. }
            | EventKind::NotClaimed(_)
            | EventKind::Claimed { .. }
            | EventKind::StepStarted { .. }
            | EventKind::PhaseSaved { .. } => {}
        }
        if let Some(total) = &self.total {
            let Counts { completed, failed, lost } = &self.counts;
            total.set_message(format!("{completed} completed, {failed} failed, {lost} leases lost"));
            total.inc(u64::from(over));
        }
    }
}

impl View for Bars {
    fn event(&mut self, _at: OffsetDateTime, event: &Event) {
        self.count(&event.kind);
        let (name, words) = (name(event), words(&event.kind));
        match &event.kind {
            EventKind::Claimed { .. } | EventKind::StepStarted { .. } | EventKind::PhaseSaved { .. } => {
                self.line_for(event.run, &name).set_message(words);
            }
            EventKind::NotClaimed(_) => {
                if let Some(line) = self.by_run.get(&event.run) {
                    line.set_message(words);
                }
            }
            // The end of the run follows at once, and says more.
            EventKind::AttemptEnded {
                outcome: AttemptOutcome::Completed | AttemptOutcome::Failed, ..
            } => {}
            EventKind::AttemptEnded { outcome, .. } => {
                if *outcome == AttemptOutcome::Blocked {
                    self.say(&format!("{name}  {words}"));
                }
                if self.keep {
                    self.line_for(event.run, &name).set_message(words);
                } else {
                    self.end_line(event.run, &words);
                }
            }
            EventKind::RunEnded { ending, .. } => {
                if *ending != Ending::Completed {
                    self.say(&format!("{name}  {words}"));
                }
                self.end_line(event.run, &words);
            }
        }
    }

    fn end(&mut self) {
        for line in self.by_run.values().filter(|line| !line.is_finished()) {
            line.abandon();
        }
        if let Some(total) = &self.total {
            total.finish_and_clear();
        }
        self.log_target.alone();
    }
}

fn total_line(length: Option<u64>) -> ProgressBar {
    match length {
        Some(length) => ProgressBar::new(length).with_style(style("{pos}/{len} {bar:30} {msg}")),
        None => ProgressBar::no_length().with_style(style("{msg}")),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates of this file are sound")
}
