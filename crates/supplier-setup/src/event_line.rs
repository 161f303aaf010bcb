//! Events as JSON, one per line: what `run` and `work` print with `--json`.

use lease_core::{Document, Failure, RunKey};
use serde::Serialize;
use serde_json::{Map, Value};
use supplier_runner::worker::{Event, EventKind};
use time::OffsetDateTime;

/// One line. Every line has every field; what an event does not have is null.
#[derive(Debug, Serialize)]
pub(crate) struct EventLine {
    event: &'static str,
    at: String,
    run: String,
    key: Option<String>,
    fence: Option<u64>,
    phase: Option<String>,
    outcome: Option<&'static str>,
    reason: Option<Map<String, Value>>,
}

impl EventLine {
    /// The line for an event that came at this time by the worker's wall clock, which is for display
    /// only; `None` for events that are not told to scripts.
    pub(crate) fn new(at: OffsetDateTime, event: &Event) -> Option<Self> {
        let line = |name, phase: Option<&str>, outcome, reason: Option<Document>| Self {
            event: name,
            at: shown(at),
            run: event.run.to_string(),
            key: event.key.as_ref().map(RunKey::to_string),
            fence: event.fence.map(|fence| fence.get()),
            phase: phase.map(str::to_owned),
            outcome,
            reason: reason.map(Document::into_fields),
        };
        match &event.kind {
            EventKind::Claimed { from } => Some(line("claimed", Some(from.as_str()), None, None)),
            EventKind::PhaseSaved { phase } => Some(line("phase_saved", Some(phase.as_str()), None, None)),
            EventKind::AttemptEnded { phase, outcome, reason } => {
                let phase = phase.as_ref().map(|phase| phase.as_str());
                Some(line("attempt_ended", phase, Some(outcome.as_str()), reason.clone()))
            }
            EventKind::RunEnded { ending, failure } => {
                let phase = failure.as_ref().map(|failure| failure.phase.as_str());
                let reason = failure.as_ref().map(Failure::to_document);
                Some(line("run_ended", phase, Some(ending.as_str()), reason))
            }
            EventKind::StepStarted { .. } | EventKind::NotClaimed(_) => None,
        }
    }
}

/// RFC 3339 in UTC with microseconds.
fn shown(at: OffsetDateTime) -> String {
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, micro) = at.time().as_hms_micro();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lease_core::{FencingToken, PhaseName};

    use super::*;

    #[test]
    fn a_line_has_every_field_and_microseconds() {
        let event = Event {
            run: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(),
            key: RunKey::new("S-1").ok(),
            fence: FencingToken::new(3).ok(),
            kind: EventKind::PhaseSaved { phase: PhaseName::new("registered").unwrap() },
        };
        let at = OffsetDateTime::UNIX_EPOCH + Duration::from_micros(1_764_561_600_000_001);
        let line = EventLine::new(at, &event).unwrap();
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            r#"{"event":"phase_saved","at":"2025-12-01T04:00:00.000001Z","run":"01890a5d-ac96-774b-bcce-b302099a8057","key":"S-1","fence":3,"phase":"registered","outcome":null,"reason":null}"#
        );
    }
}
