//! The answer to a holder's request: what the statement decided, beside the row that it judged.
//!
//! Keeps TRUTH: the reason of a refusal is computed from the locked row by lease-core's own rule,
//! and where that rule would not refuse, the answer is an error rather than a guess.

use lease_core::{
    AfterSave, Ending, Hold, LeaseEnd, LeaseId, LostReason, Phase, Standing, Status, Timestamp,
};

use crate::row::row;
use lease_core::stored::{self, BadValue, present};

row! {
    /// Columns of `renew`, `renew_many`, `standing`, `save`, `release` and `fail`.
    HolderRow {
        verdict: Option<String>,
        phase: Option<String>,
        status: Option<String>,
        paused: Option<bool>,
        fence: Option<i64>,
        owner: Option<String>,
        lease_ended: Option<String>,
        expires_us: Option<i64>,
        now_us: Option<i64>,
        end_us: i64,
    }
}

/// What a statement decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// It took effect.
    Done,
    /// It had taken effect before.
    Already,
    /// This claim saved the phase before, with something else.
    ReceiptConflict,
    /// The lease is live, but the run stands elsewhere.
    PhaseConflict,
    /// The lease is not good.
    Lost,
    /// Nothing was asked of it but to be read.
    Seen,
}

/// The row as it was judged.
pub(crate) struct Judged {
    pub(crate) word: Word,
    pub(crate) phase: Phase,
    pub(crate) status: Status,
    pub(crate) paused: bool,
    pub(crate) hold: Hold,
    /// The clock at the verdict.
    pub(crate) now: Timestamp,
    /// The clock at the end of the statement.
    pub(crate) end: Timestamp,
}

/// A holder's answer.
pub(crate) enum HolderAnswer {
    Judged(Box<Judged>),
    NotJudged,
    Gone,
}

impl TryFrom<HolderRow> for HolderAnswer {
    type Error = BadValue;

    fn try_from(row: HolderRow) -> Result<Self, BadValue> {
        let HolderRow {
            verdict,
            phase,
            status,
            paused,
            fence,
            owner,
            lease_ended,
            expires_us,
            now_us,
            end_us,
        } = row;
        let word = match verdict.as_deref() {
            Some("gone") => return Ok(Self::Gone),
            Some("not_judged") => return Ok(Self::NotJudged),
            Some("done") => Word::Done,
            Some("already") => Word::Already,
            Some("receipt_conflict") => Word::ReceiptConflict,
            Some("phase_conflict") => Word::PhaseConflict,
            Some("lost") => Word::Lost,
            Some("seen") => Word::Seen,
            Some(_) | None => return Err(BadValue::Answer(verdict)),
        };
        Ok(Self::Judged(Box::new(Judged {
            word,
            phase: stored::phase(&present("phase", phase)?)?,
            status: present("status", status)?.parse().map_err(stored::invalid("status"))?,
            paused: present("paused", paused)?,
            hold: stored::hold(present("fence", fence)?, owner, expires_us, lease_ended)?,
            now: Timestamp::from_micros(present("now", now_us)?),
            end: Timestamp::from_micros(end_us),
        })))
    }
}

impl Judged {
    /// Where the lease stood at the verdict.
    pub(crate) fn standing(&self, lease: &LeaseId) -> Standing {
        self.hold.standing(self.status, lease, self.now)
    }

    /// Why the lease was refused.
    pub(crate) fn why(&self, lease: &LeaseId) -> Result<LostReason, BadValue> {
        match self.standing(lease) {
            Standing::Lost(why) => Ok(why),
            Standing::Held => Err(BadValue::Contradiction("a live lease was refused")),
        }
    }

    /// The refusal of a request that says the run stands at `expected`.
    pub(crate) fn conflict(&self, expected: &Phase) -> LostReason {
        LostReason::PhaseConflict { expected: expected.clone(), actual: self.phase.clone() }
    }

    /// Whether an expiry that was just written has passed already.
    pub(crate) fn lapsed_meanwhile(&self) -> Option<LostReason> {
        match &self.hold {
            Hold::Held { expires_at, .. } if *expires_at <= self.end => {
                Some(LostReason::Expired { late_by: Some(self.end.since(*expires_at)) })
            }
            Hold::Held { .. } | Hold::Never | Hold::Ended { .. } => None,
        }
    }

    /// Where the lease stands beside a save that landed, by the clock at the end.
    pub(crate) fn after_save(&self, lease: &LeaseId) -> AfterSave {
        let own_completion = matches!(self.hold, Hold::Ended { how: LeaseEnd::Completed, .. });
        match self.hold.standing(self.status, lease, self.end) {
            Standing::Held => AfterSave::Held { yield_asked: self.paused },
            Standing::Lost(LostReason::Finished(Ending::Completed)) if own_completion => AfterSave::Completed,
            Standing::Lost(why) => AfterSave::Lost(why),
        }
    }
}

/// The answer that a statement gave and cannot give here.
pub(crate) fn out_of_place(word: Word) -> BadValue {
    BadValue::Answer(Some(format!("{word:?}")))
}
