//! What a worker of the demonstration says to it: one JSON object per line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub(super) enum Line {
    /// It has the run.
    Claimed {
        /// The claim's number.
        fence: u64,
        /// The claim's owner.
        owner: String,
        /// The phase that it goes on after.
        from: String,
    },
    /// Its claim was refused.
    NotClaimed {
        /// The store's answer.
        verdict: String,
    },
    /// A phase is saved.
    Saved {
        /// The phase.
        phase: String,
    },
    /// It is in the step where it waits, and its lease is renewed meanwhile.
    Waiting {
        /// The step's phase.
        phase: String,
    },
    /// All phases are saved.
    Completed,
    /// Its lease is lost.
    Lost {
        /// The reason, as it is recorded on a blocked attempt.
        reason: Value,
        /// For how long its own time has been up.
        past_deadline_ms: u64,
    },
    /// It sent its save all the same, and this came back.
    LateSave {
        /// The phase.
        phase: String,
        /// How many rows for other tables it carried.
        rows: usize,
        /// Whether anything landed.
        landed: bool,
        /// The reason for the refusal, in the same form.
        reason: Value,
        /// For how long its own time had been up when it was sent.
        past_deadline_ms: u64,
    },
    /// It told the store that its attempt was blocked.
    Blocked {
        /// Whether the store recorded that.
        recorded: bool,
    },
}
