//! The invariants, kept by somebody who hears every request and every answer and knows no rule of the
//! store: a lease is what was granted, renewed and ended, counted here anew.

use lease_core::{AttemptOutcome, Status};

use crate::message::{After, Answer, Ending, Holder, Request, Why};
use crate::rules::PHASES;
use crate::setting::Setting;
use crate::tables::Tables;

/// An invariant of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Law {
    /// Numbers rise by one with every claim, and never otherwise.
    FenceUp = 1,
    /// One lease at a time.
    OneHolder = 2,
    /// No save with a lease that is over.
    NoLateSave = 4,
    /// No renewal of a lease that ran out.
    NoLazarus = 8,
    /// Phases in order, none skipped or repeated.
    InOrder = 16,
    /// One receipt for each saved phase, with its number; numbers do not fall.
    OneReceipt = 32,
    /// Phase, receipt and completion together.
    AllOrNothing = 64,
    /// A claim goes on after the last saved phase.
    Resume = 128,
    /// Every answer and every outcome is the actual one.
    Truth = 256,
    /// Being turned away changes nothing on the run, and whoever was asks for nothing more.
    BlockedNotFailed = 512,
    /// A run that is free and due is granted.
    Liveness = 1024,
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Witness {
    current: Option<Holder>,
    lease: Lease,
    finished: bool,
    due: u8,
    losses: u8,
    saved: Vec<u8>,
    saved_by: Option<Holder>,
    lapsed: Vec<Holder>,
    told: Vec<Holder>,
    /// Leases that were ended by a request or an operator, before they ran out.
    ended: Vec<Holder>,
    attempts: Vec<(Holder, Option<AttemptOutcome>)>,
    /// A lease of a store that was set back may hold what this one does not know of.
    pub(crate) restored: bool,
    broken: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Lease {
    None,
    Until(u8),
    EndedBy(Ending),
    Completed,
    Revoked,
}

impl Witness {
    pub(crate) fn new() -> Self {
        Self {
            current: None,
            lease: Lease::None,
            finished: false,
            due: 0,
            losses: 0,
            saved: Vec::new(),
            saved_by: None,
            lapsed: Vec::new(),
            told: Vec::new(),
            ended: Vec::new(),
            attempts: Vec::new(),
            restored: false,
            broken: 0,
        }
    }

    pub(crate) fn of_a_restored_store() -> Self {
        Self { restored: true, ..Self::new() }
    }

    /// Whether the invariant holds so far.
    pub(crate) fn holds(&self, law: Law) -> bool {
        self.broken & law as u16 == 0
    }

    pub(crate) fn breaks(&mut self, law: Law) {
        self.broken |= law as u16;
    }

    fn insist(&mut self, law: Law, so: bool) {
        if !so {
            self.breaks(law);
        }
    }

    /// Why this holder is turned away at this tick; `None` while it holds the run.
    pub(crate) fn loss(&self, holder: Holder, now: u8) -> Option<Why> {
        let Some(current) = self.current.filter(|current| current.fence >= holder.fence) else {
            return Some(Why::Forgotten);
        };
        if current != holder {
            return Some(Why::Superseded(current.fence));
        }
        if self.finished {
            return Some(Why::Finished);
        }
        match self.lease {
            Lease::Until(expires) => (now >= expires).then_some(Why::Expired),
            Lease::EndedBy(_) => Some(Why::Released),
            Lease::Completed => Some(Why::Finished),
            Lease::Revoked => Some(Why::Revoked),
            Lease::None => Some(Why::Forgotten),
        }
    }

    /// Whether a claim has to be granted.
    pub(crate) fn is_free(&self, now: u8) -> bool {
        !self.finished && !self.is_live(now) && now >= self.due
    }

    /// Whether somebody holds the run.
    pub(crate) fn is_live(&self, now: u8) -> bool {
        !self.finished && matches!(self.lease, Lease::Until(expires) if now < expires)
    }

    /// Whether the run goes on.
    pub(crate) fn goes_on(&self) -> bool {
        !self.finished
    }

    /// Takes in that a worker heard that it has lost its lease.
    pub(crate) fn was_told(&mut self, holder: Holder) {
        self.told.push(holder);
        self.told.sort_unstable();
        self.told.dedup();
    }

    /// Whether the lease was ended, and did not run out.
    pub(crate) fn has_ended(&self, holder: Holder) -> bool {
        self.ended.contains(&holder)
    }

    fn note_end(&mut self, holder: Holder) {
        self.ended.push(holder);
        self.ended.sort_unstable();
        self.ended.dedup();
    }

    /// Keeps of the past only what can still matter: what is known of leases that somebody still has.
    pub(crate) fn forget(&mut self, is_had: impl Fn(Holder) -> bool) {
        let current = self.current;
        self.told.retain(|holder| is_had(*holder));
        self.lapsed.retain(|holder| Some(*holder) == current);
    }

    /// Takes in that a worker sends this.
    pub(crate) fn hear_of(&mut self, request: Request) {
        let told = request.holder().is_some_and(|holder| self.told.contains(&holder));
        self.insist(Law::BlockedNotFailed, !told || matches!(request, Request::MarkBlocked(_)));
    }

    /// Takes in what the store made of a request.
    pub(crate) fn hear(&mut self, request: Request, answer: Answer, limit: u8, now: u8) {
        if answer == Answer::Undone {
            // Only tables that do not fit each other undo anything.
            self.insist(Law::AllOrNothing, self.restored);
            return;
        }
        match request {
            Request::Claim(owner) => self.hear_claim(owner, answer, limit, now),
            Request::Renew(holder) => self.hear_renewal(holder, answer, now),
            Request::Save(holder, from) => self.hear_save(holder, from, answer, now),
            Request::End(holder, from, ending) => self.hear_end(holder, from, ending, answer, now),
            Request::MarkBlocked(holder) => self.hear_blocked(holder, answer),
        }
        if let (Answer::Refused(Why::Expired), Some(holder)) = (answer, request.holder()) {
            self.lapsed.push(holder);
            self.lapsed.sort_unstable();
            self.lapsed.dedup();
        }
    }

    fn hear_claim(&mut self, owner: u8, answer: Answer, limit: u8, now: u8) {
        let lapsed = matches!(self.lease, Lease::Until(expires) if now >= expires);
        match answer {
            Answer::Granted(fence, phase) => {
                self.insist(Law::OneHolder, !self.is_live(now));
                self.insist(Law::Truth, self.is_free(now));
                self.insist(Law::FenceUp, fence == self.current.map_or(0, |current| current.fence) + 1);
                self.insist(Law::Resume, usize::from(phase) == self.saved.len());
                self.losses += u8::from(lapsed);
                self.insist(Law::Truth, self.losses <= limit);
                self.supersede();
                let holder = Holder { owner, fence };
                self.attempts.push((holder, None));
                (self.current, self.lease) = (Some(holder), Lease::Until(now + Setting::TTL));
            }
            Answer::SetAside => {
                self.losses += 1;
                self.insist(Law::Truth, self.is_free(now) && lapsed && self.losses > limit);
                self.supersede();
                self.finished = true;
            }
            Answer::Busy => self.insist(Law::Liveness, self.is_live(now)),
            Answer::NotDue => self.insist(Law::Liveness, now < self.due),
            Answer::Finished => self.insist(Law::Liveness, self.finished),
            Answer::Renewed
            | Answer::Saved(_)
            | Answer::AlreadySaved(_)
            | Answer::Ended
            | Answer::AlreadyEnded
            | Answer::Recorded
            | Answer::HadEnded
            | Answer::Refused(_)
            | Answer::Undone => self.breaks(Law::Truth),
        }
    }

    fn hear_renewal(&mut self, holder: Holder, answer: Answer, now: u8) {
        match (self.loss(holder, now), answer) {
            (None, Answer::Renewed) => {
                self.insist(Law::NoLazarus, !self.lapsed.contains(&holder));
                self.lease = Lease::Until(now + Setting::TTL);
            }
            (Some(why), Answer::Renewed) => {
                self.breaks(if why == Why::Expired { Law::NoLazarus } else { Law::OneHolder });
            }
            (why, answer) => self.insist(Law::Truth, why.map(Answer::Refused) == Some(answer)),
        }
    }

    fn hear_save(&mut self, holder: Holder, from: u8, answer: Answer, now: u8) {
        let loss = self.loss(holder, now);
        if self.saved_by == Some(holder) && self.saved.len() == usize::from(from) + 1 {
            let after = match loss {
                None => After::Held,
                Some(Why::Finished) if self.lease == Lease::Completed => After::Completed,
                Some(why) => After::Lost(why),
            };
            return self.insist(Law::Truth, answer == Answer::AlreadySaved(after));
        }
        let conflict = self.saved.len() != usize::from(from);
        let completes = from + 1 == PHASES;
        if let Answer::Saved(after) = answer {
            match loss {
                None => {}
                Some(Why::Expired) => self.breaks(Law::NoLateSave),
                Some(_) => {
                    self.breaks(Law::OneHolder);
                    self.breaks(Law::NoLateSave);
                }
            }
            self.insist(Law::InOrder, !conflict);
            self.insist(Law::Truth, after == if completes { After::Completed } else { After::Held });
            self.saved.push(holder.fence);
            self.saved_by = Some(holder);
            self.losses = 0;
            if completes {
                self.note_end(holder);
            }
            self.lease = if completes { Lease::Completed } else { Lease::Until(now + Setting::TTL) };
            if completes {
                self.finished = true;
                self.ends(holder, AttemptOutcome::Completed);
            }
            return;
        }
        let expected = loss.unwrap_or(Why::PhaseConflict);
        self.insist(Law::Truth, (loss.is_some() || conflict) && answer == Answer::Refused(expected));
    }

    fn hear_end(&mut self, holder: Holder, from: u8, ending: Ending, answer: Answer, now: u8) {
        if self.current == Some(holder) && self.lease == Lease::EndedBy(ending) {
            return self.insist(Law::Truth, answer == Answer::AlreadyEnded);
        }
        let loss = self.loss(holder, now);
        let conflict = self.saved.len() != usize::from(from);
        if answer == Answer::Ended {
            self.insist(Law::OneHolder, loss.is_none());
            self.insist(Law::InOrder, !conflict);
            self.lease = Lease::EndedBy(ending);
            self.note_end(holder);
            let outcome = match ending {
                Ending::Yield => AttemptOutcome::Yielded,
                Ending::Retry => {
                    self.due = now + 1;
                    AttemptOutcome::Retrying
                }
                Ending::Fail => {
                    self.finished = true;
                    AttemptOutcome::Failed
                }
            };
            return self.ends(holder, outcome);
        }
        let expected = loss.unwrap_or(Why::PhaseConflict);
        self.insist(Law::Truth, (loss.is_some() || conflict) && answer == Answer::Refused(expected));
    }

    fn hear_blocked(&mut self, holder: Holder, answer: Answer) {
        let known = self.attempts.iter_mut().find(|(found, _)| *found == holder);
        let expected = match known {
            Some((_, outcome @ (None | Some(AttemptOutcome::Superseded)))) => {
                *outcome = Some(AttemptOutcome::Blocked);
                Answer::Recorded
            }
            Some(_) | None => Answer::HadEnded,
        };
        self.insist(Law::Truth, answer == expected);
    }

    /// Takes in that an operator cancelled the run.
    pub(crate) fn hear_cancelled(&mut self) {
        if let (Lease::Until(_), Some(holder)) = (self.lease, self.current) {
            self.note_end(holder);
            self.ended_by_operator(holder, AttemptOutcome::Cancelled);
        }
        self.finished = true;
    }

    /// Takes in that an operator took the lease away.
    pub(crate) fn hear_revoked(&mut self) {
        self.lease = Lease::Revoked;
        if let Some(holder) = self.current {
            self.note_end(holder);
            self.ended_by_operator(holder, AttemptOutcome::Revoked);
        }
    }

    fn ended_by_operator(&mut self, holder: Holder, outcome: AttemptOutcome) {
        if let Some((_, known)) = self.attempts.iter_mut().find(|(found, _)| *found == holder) {
            known.get_or_insert(outcome);
        }
    }

    fn ends(&mut self, holder: Holder, outcome: AttemptOutcome) {
        if let Some((_, known)) = self.attempts.iter_mut().find(|(found, _)| *found == holder)
            && matches!(known, None | Some(AttemptOutcome::Blocked))
        {
            *known = Some(outcome);
        }
    }

    fn supersede(&mut self) {
        for (_, outcome) in &mut self.attempts {
            outcome.get_or_insert(AttemptOutcome::Superseded);
        }
    }

    /// Compares the tables with what was heard.
    pub(crate) fn look(&mut self, tables: &Tables) {
        let row = &tables.row;
        let top = self.current.map_or(0, |current| current.fence);
        self.insist(Law::FenceUp, row.hold.fence() == top);
        self.insist(Law::InOrder, usize::from(row.phase) == self.saved.len());
        let completed = usize::from(PHASES) == self.saved.len();
        self.insist(Law::AllOrNothing, (row.status == Status::Completed) == completed);
        self.insist(Law::AllOrNothing, tables.receipts.len() == self.saved.len());
        let mut phases: Vec<u8> = tables.receipts.iter().map(|kept| kept.phase).collect();
        phases.sort_unstable();
        let twice = phases.windows(2).any(|pair| pair[0] == pair[1]);
        let fences: Vec<u8> = tables.receipts.iter().map(|kept| kept.fence).collect();
        let as_heard = fences == self.saved && fences.is_sorted();
        self.insist(Law::OneReceipt, !twice && (as_heard || self.restored));
        let attempts = tables
            .attempts
            .iter()
            .map(|tried| (Holder { owner: tried.owner, fence: tried.fence }, tried.outcome));
        self.insist(Law::Truth, attempts.eq(self.attempts.iter().copied()));
    }
}

impl Request {
    /// Who asks, but for claims.
    pub(crate) fn holder(self) -> Option<Holder> {
        match self {
            Self::Claim(_) => None,
            Self::Renew(holder)
            | Self::Save(holder, _)
            | Self::End(holder, ..)
            | Self::MarkBlocked(holder) => Some(holder),
        }
    }
}
