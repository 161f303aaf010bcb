//! A lost lease, told truly and in a fixed form.
//!
//! Keeps TRUTH: it says what was asked, why it was refused, and what became of the save.

use std::fmt;

use serde_json::{Map, json};

use crate::document::Document;
use crate::lost_reason::LostReason;
use crate::phase::PhaseName;
use crate::words::words;

words! {
    /// A status that ends a run.
    Ending, "ending" {
        /// All phases saved.
        Completed = "completed",
        /// Failed, until an operator retries it.
        Failed = "failed",
        /// Cancelled by an operator.
        Cancelled = "cancelled",
    }
}

words! {
    /// What the holder asked for, or was about to ask for, when it was turned away or had to stop.
    Refused, "refused request" {
        /// The claim itself: its answer came when the lease was over, so nothing was begun.
        Claim = "claim",
        /// A renewal.
        Renew = "renew",
        /// A save.
        Save = "save",
        /// A release.
        Release = "release",
        /// Failing the run.
        Fail = "fail",
        /// Reading the receipts that stand.
        Read = "read",
    }
}

/// What became of a phase's save when its lease was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaveFate {
    /// None was sent, or it surely did not land.
    #[default]
    NotSaved,
    /// One was sent, and nobody knows whether it landed.
    Unknown,
    /// It landed, and the lease was lost after that.
    Saved,
}

/// A lost lease: what was asked, at which phase, and why it was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loss {
    /// The request that was turned away.
    pub refused: Refused,
    /// The phase that was under way.
    pub phase: PhaseName,
    /// What became of the phase's save.
    pub save: SaveFate,
    /// Why.
    pub why: LostReason,
}

impl Loss {
    /// A loss at this phase without a save under way.
    pub fn before_save(refused: Refused, phase: PhaseName, why: LostReason) -> Self {
        Self { refused, phase, save: SaveFate::NotSaved, why }
    }

    /// The same, with what became of a save of the phase that was sent before.
    pub fn after_save(self, save: SaveFate) -> Self {
        Self { save, ..self }
    }

    /// The reason of a blocked attempt: `{"refused", "phase", "why", …}` with what belongs to the
    /// reason, `"save_may_have_landed"` where that is in doubt and `"saved": true` where the phase
    /// is saved all the same.
    #[must_use]
    pub fn to_document(&self) -> Document {
        let mut fields = Map::new();
        fields.insert("refused".to_owned(), json!(self.refused.as_str()));
        fields.insert("phase".to_owned(), json!(self.phase.as_str()));
        fields.insert("why".to_owned(), json!(self.why.word()));
        self.why.add_to(&mut fields);
        match self.save {
            SaveFate::NotSaved if self.why.is_verdict() => {}
            SaveFate::NotSaved => drop(fields.insert("save_may_have_landed".to_owned(), json!(false))),
            SaveFate::Unknown => drop(fields.insert("save_may_have_landed".to_owned(), json!(true))),
            SaveFate::Saved => drop(fields.insert("saved".to_owned(), json!(true))),
        }
        Document::new(fields).expect("a loss is short, flat and without NUL")
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} refused: {}", self.refused, self.phase, self.why)?;
        match self.save {
            SaveFate::NotSaved => Ok(()),
            SaveFate::Unknown => f.write_str("; the save may have landed"),
            SaveFate::Saved => f.write_str("; the phase is saved"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fence::FencingToken;
    use crate::owner::OwnerId;

    /// Case 11: numbers stay exact in JSON.
    #[test]
    fn truth_the_reason_of_a_blocked_attempt_names_what_belongs_to_it() {
        let loss = |why| Loss::before_save(Refused::Save, PhaseName::new("registered").unwrap(), why);
        let by_owner = OwnerId::from_stored("b#1").unwrap();
        let superseded = loss(LostReason::Superseded { by_fence: FencingToken::LAST, by_owner });
        assert_eq!(
            superseded.to_document().to_json(),
            r#"{"by_fence":9223372036854775807,"by_owner":"b#1","phase":"registered","refused":"save","why":"superseded"}"#
        );
        let expired = loss(LostReason::Expired { late_by: Some(Duration::from_millis(7)) });
        assert!(expired.to_document().to_json().contains(r#""late_by_ms":7"#));
    }

    #[test]
    fn truth_the_reason_says_what_became_of_the_save() {
        let json = |save, why| {
            let phase = PhaseName::new("registered").unwrap();
            Loss { refused: Refused::Save, phase, save, why }.to_document().to_json()
        };
        assert!(json(SaveFate::Unknown, LostReason::Revoked).contains(r#""save_may_have_landed":true"#));
        assert!(json(SaveFate::Saved, LostReason::Revoked).contains(r#""saved":true"#));
        let plain = json(SaveFate::NotSaved, LostReason::Revoked);
        assert!(!plain.contains("landed") && !plain.contains("saved"), "{plain}");
        assert!(
            json(SaveFate::NotSaved, LostReason::Unconfirmed).contains(r#""save_may_have_landed":false"#)
        );
    }
}
