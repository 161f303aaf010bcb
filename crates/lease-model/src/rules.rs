//! The product's own rules, asked with the model's small numbers.
//!
//! Every verdict and every change comes from `lease_core::transition`. Where a guard is taken out, the
//! run is shown to the rule in a way that the guard cannot see the difference, and what the rule then
//! writes is what a store without the guard would have written.

use std::collections::HashMap;
use std::time::Duration;

use lease_core::transition::{self, AttemptChange, Decision};
use lease_core::{
    Attempt, AttemptOutcome, BlockedVerdict, Claim, ClaimVerdict, Document, Due, Effects, Fail, FailVerdict,
    Failure, FailureKind, FencingToken, Heartbeat, Lease, LeaseEnd, LeaseId, LeaseSettings, LossLimit,
    OwnerId, Phase, PhaseList, PhaseMark, Plan, PlanName, PlanVersion, Priority, Release, ReleaseVerdict,
    RenewVerdict, Run, RunId, RunKey, Save, SaveVerdict, Status, Submit, Ttl, WorkerName,
};
use serde_json::json;

use crate::message::{Answer, Ending, Hold, Holder, Request, Row};
use crate::numbers::{
    after_of, at, fence, moment, name, number, number_of, phase, small, tick, ticks, why_of,
};
use crate::setting::{Guard, Setting};
use crate::tables::{Kept, Tables, Tried};

/// How many phases the run has.
pub(crate) const PHASES: u8 = 3;

/// What the rules are asked with: everything about the run that does not change.
#[derive(Debug)]
pub(crate) struct Rules {
    setting: Setting,
    opened: Run,
    owners: Vec<OwnerId>,
    lease: LeaseSettings,
    /// Every save that may be sent: making one takes a digest.
    saves: HashMap<(Holder, u8), Save>,
}

impl Rules {
    pub(crate) fn new(setting: Setting) -> Self {
        let second = Duration::from_secs(1);
        let ttl = Ttl::new(second * u32::from(Setting::TTL)).expect("a few seconds are in range");
        let lease = LeaseSettings::new(ttl, second, second).expect("two beats and a margin fit");
        let phases = (1..=PHASES).map(name).collect();
        let plan = Plan::new(
            PlanName::new("model").expect("a plain word"),
            PlanVersion::new(1).expect("one is a version"),
            PhaseList::new(phases).expect("a few phases"),
            "model",
        );
        let submit = Submit {
            id: RunId::new(uuid::Uuid::nil()),
            key: RunKey::new("run").expect("a short key"),
            plan,
            priority: Priority::default(),
            input: Document::default(),
        };
        let worker = |owner: u8| {
            let name = WorkerName::new(format!("w{owner}")).expect("a short name");
            name.owner(u128::from(owner))
        };
        let owners = (0..=setting.claims).map(worker).collect();
        let opened = transition::open(&submit, at(0));
        let mut rules = Self { setting, opened, owners, lease, saves: HashMap::new() };
        for owner in 0..=setting.claims {
            for (fence, from) in
                (1..=setting.claims + 1).flat_map(|fence| (0..PHASES).map(move |from| (fence, from)))
            {
                let holder = Holder { owner, fence };
                rules.saves.insert((holder, from), rules.new_save(holder, from));
            }
        }
        rules
    }

    /// The row of a run that was just submitted.
    pub(crate) fn opened(&self) -> Row {
        self.row(&self.opened)
    }

    /// The local deadline of a lease whose claim, renewal or save was sent at this tick.
    pub(crate) fn deadline(&self, holder: Holder, sent_at: u8) -> u8 {
        tick(Lease::new(self.id(holder), self.lease, moment(sent_at)).deadline())
    }

    /// Whether a worker with this local deadline has to stop now.
    pub(crate) fn must_stop(&self, deadline: u8, now: u8) -> bool {
        let beat = Heartbeat::new(self.lease, moment(deadline), moment(now)).decide(moment(now));
        beat == lease_core::Beat::Stop
    }

    /// Judges a request that set out at `sent_at` and writes what is decided.
    pub(crate) fn judge(&self, tables: &mut Tables, request: Request, sent_at: u8, now: u8) -> Answer {
        let row = tables.row;
        let answer = match request {
            Request::Claim(owner) => self.claim(tables, owner, now),
            Request::Renew(holder) => {
                let (shown, seen_at) = self.shown(row, holder, None, sent_at, now);
                let decision = transition::renew(&shown, &self.id(holder), self.lease.ttl(), at(seen_at));
                self.write(tables, row, decision, now).map(|verdict| match verdict {
                    RenewVerdict::Renewed { .. } => Answer::Renewed,
                    RenewVerdict::Refused(why) => Answer::Refused(why_of(&why)),
                    RenewVerdict::NotJudged => unreachable!("a rule judges"),
                })
            }
            Request::Save(holder, from) => {
                let (shown, seen_at) = self.shown(row, holder, Some(from), sent_at, now);
                let decision = transition::save(&shown, self.save(holder, from), at(seen_at));
                self.write(tables, row, decision, now).map(|verdict| match verdict {
                    SaveVerdict::Saved(after) => Answer::Saved(after_of(&after)),
                    SaveVerdict::AlreadySaved(after) => Answer::AlreadySaved(after_of(&after)),
                    SaveVerdict::Refused(why) => Answer::Refused(why_of(&why)),
                    SaveVerdict::EffectRefused { .. } => unreachable!("there are no effects"),
                })
            }
            Request::End(holder, from, ending) => self.end(tables, holder, from, ending, now),
            Request::MarkBlocked(holder) => return self.mark_blocked(tables, holder, now),
        };
        answer.unwrap_or_else(|()| {
            tables.row = row;
            Answer::Undone
        })
    }

    fn claim(&self, tables: &mut Tables, owner: u8, now: u8) -> Result<Answer, ()> {
        let row = tables.row;
        let claim = Claim {
            run: self.opened.id,
            owner: self.owner(owner),
            ttl: self.lease.ttl(),
            plans: vec![self.opened.plan.id.digest],
            loss_limit: LossLimit::new(u32::from(self.setting.loss_limit)).expect("above zero"),
        };
        let lapse_frees = self.setting.without != Some(Guard::LapseFrees);
        let seen_at = if lapse_frees { now } else { before_expiry(row, now) };
        let mut decision = transition::claim(&self.run(row), &claim, at(seen_at));
        if self.setting.without == Some(Guard::FenceBump) && row.hold.fence() > 0 {
            keep_the_number(&mut decision, fence(row.hold.fence()));
        }
        self.write(tables, row, decision, now).map(|verdict| match verdict {
            ClaimVerdict::Granted(grant) => {
                Answer::Granted(small(grant.lease.fence.get()), number_of(&grant.job.phase))
            }
            ClaimVerdict::Busy { .. } => Answer::Busy,
            ClaimVerdict::NotDue { .. } => Answer::NotDue,
            ClaimVerdict::Finished(_) => Answer::Finished,
            ClaimVerdict::SetAside(_) => Answer::SetAside,
            ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::UnknownPlan(_)
            | ClaimVerdict::Lapsed { .. }
            | ClaimVerdict::Gone => unreachable!("nothing in the model leads there: {verdict:?}"),
        })
    }

    fn end(
        &self,
        tables: &mut Tables,
        holder: Holder,
        from: u8,
        ending: Ending,
        now: u8,
    ) -> Result<Answer, ()> {
        let row = tables.row;
        let (lease, from) = (self.id(holder), phase(from));
        let failure = || Failure::new(name(1), FailureKind::STEP, "it did not work", 1);
        let due = match ending {
            Ending::Yield => Due::Now,
            Ending::Retry => Due::Later { delay: Duration::from_secs(1), failure: failure() },
            Ending::Fail => {
                let decision =
                    transition::fail(&self.run(row), &Fail { lease, from, failure: failure() }, at(now));
                return self.write(tables, row, decision, now).map(|verdict| match verdict {
                    FailVerdict::Failed => Answer::Ended,
                    FailVerdict::AlreadyFailed => Answer::AlreadyEnded,
                    FailVerdict::Refused(why) => Answer::Refused(why_of(&why)),
                });
            }
        };
        let decision = transition::release(&self.run(row), &Release { lease, from, due }, at(now));
        self.write(tables, row, decision, now).map(|verdict| match verdict {
            ReleaseVerdict::Released => Answer::Ended,
            ReleaseVerdict::AlreadyReleased => Answer::AlreadyEnded,
            ReleaseVerdict::Refused(why) => Answer::Refused(why_of(&why)),
        })
    }

    fn mark_blocked(&self, tables: &mut Tables, holder: Holder, now: u8) -> Answer {
        let place = tables.attempts.iter().position(|tried| tried.fence == holder.fence);
        let attempt = place.map(|place| self.attempt(tables.attempts[place]));
        let (verdict, changed) =
            transition::mark_blocked(attempt.as_ref(), &self.id(holder), &Document::default(), at(now));
        if let (Some(place), Some(changed)) = (place, changed) {
            tables.attempts[place].outcome = changed.outcome();
        }
        match verdict {
            BlockedVerdict::Recorded => Answer::Recorded,
            BlockedVerdict::AlreadyEnded(_) | BlockedVerdict::Gone => Answer::HadEnded,
        }
    }

    /// Cancels the run.
    pub(crate) fn cancel(&self, tables: &mut Tables, now: u8) {
        self.act(tables, &lease_core::Action::Cancel, now);
    }

    /// Takes the lease away from its holder.
    pub(crate) fn revoke(&self, tables: &mut Tables, now: u8) {
        let seen = fence(tables.row.hold.fence());
        self.act(tables, &lease_core::Action::Revoke { fence: seen }, now);
    }

    fn act(&self, tables: &mut Tables, action: &lease_core::Action, now: u8) {
        let row = tables.row;
        let who = lease_core::Who::new("kim", None).expect("a short name");
        let decision = transition::act(&self.run(row), action, &who, at(now));
        let written = self.write(tables, row, decision, now);
        written.map(drop).expect("an operator's act adds nothing that a constraint could refuse");
    }

    /// The run as a rule gets to see it, and the clock.
    fn shown(&self, row: Row, holder: Holder, from: Option<u8>, sent_at: u8, now: u8) -> (Run, u8) {
        let mut run = self.run(row);
        let set =
            |hold: &mut lease_core::Hold, owner: Option<OwnerId>, number: Option<FencingToken>| match hold {
                lease_core::Hold::Never => {}
                lease_core::Hold::Held { owner: o, fence: f, .. }
                | lease_core::Hold::Ended { owner: o, fence: f, .. } => {
                    *o = owner.unwrap_or_else(|| o.clone());
                    *f = number.unwrap_or(*f);
                }
            };
        let mut seen_at = now;
        match self.setting.without {
            Some(Guard::Owner) => set(&mut run.hold, Some(self.owner(holder.owner)), None),
            Some(Guard::Fence) => set(&mut run.hold, None, Some(fence(holder.fence))),
            Some(Guard::Expiry) if from.is_some() => seen_at = before_expiry(row, now),
            Some(Guard::NoRenewalAfterLapse) if from.is_none() => seen_at = before_expiry(row, now),
            Some(Guard::ClockAfterLock) => seen_at = sent_at,
            Some(Guard::Phase) => run.phase = phase(from.unwrap_or(row.phase)),
            Some(Guard::Digest) => run.mark = None,
            Some(
                Guard::Expiry
                | Guard::NoRenewalAfterLapse
                | Guard::FenceBump
                | Guard::LossWins
                | Guard::DeadlineFromSending
                | Guard::ReceiptUnique
                | Guard::LapseFrees
                | Guard::ReleaseFrees
                | Guard::SaveExtends,
            )
            | None => {}
        }
        (run, seen_at)
    }

    /// Writes a decision on the tables; an error where a constraint undoes it.
    fn write<V>(&self, tables: &mut Tables, found: Row, decision: Decision<V>, now: u8) -> Result<V, ()> {
        let Some(change) = decision.change else { return Ok(decision.verdict) };
        let mut row = self.row(&change.run);
        // A store without a guard on these columns would not write them either.
        if let (Hold::Held(was, _), Hold::Held(is, expires)) = (found.hold, row.hold) {
            match self.setting.without {
                Some(Guard::Owner) => row.hold = Hold::Held(Holder { owner: was.owner, ..is }, expires),
                Some(Guard::Fence) if is.fence < was.fence => row.hold = Hold::Held(was, expires),
                Some(Guard::Expiry | Guard::NoRenewalAfterLapse) => {
                    row.hold = Hold::Held(is, now + Setting::TTL);
                }
                Some(Guard::SaveExtends) if change.receipt.is_some() => row.hold = found.hold,
                Some(_) | None => {}
            }
        }
        let released = matches!(row.hold, Hold::Ended(_, LeaseEnd::Yielded | LeaseEnd::Retrying));
        if released && self.setting.without == Some(Guard::ReleaseFrees) {
            row.hold = found.hold;
        }
        if let Some(receipt) = change.receipt {
            let kept = Kept { phase: number(&receipt.phase), fence: small(receipt.fence.get()) };
            if self.setting.one_receipt() && tables.receipts.iter().any(|there| there.phase == kept.phase) {
                return Err(());
            }
            tables.receipts.push(kept);
        }
        for change in change.attempts {
            self.write_attempt(tables, change, now)?;
        }
        tables.row = row;
        Ok(decision.verdict)
    }

    fn write_attempt(&self, tables: &mut Tables, change: AttemptChange, now: u8) -> Result<(), ()> {
        match change {
            AttemptChange::Open(attempt) => {
                let fence = small(attempt.fence.get());
                if self.setting.one_attempt() && tables.attempts.iter().any(|there| there.fence == fence) {
                    return Err(());
                }
                tables.attempts.push(Tried {
                    fence,
                    owner: self.owner_number(&attempt.owner),
                    outcome: None,
                });
            }
            AttemptChange::End { fence, outcome, reason } => {
                let fence = small(fence.get());
                for tried in tables.attempts.iter_mut().filter(|there| there.fence == fence) {
                    if let Some(ended) = self.attempt(*tried).ended(outcome, reason.clone(), at(now)) {
                        tried.outcome = ended.outcome();
                    }
                }
            }
            AttemptChange::SupersedeUpTo(fence) => {
                let fence = small(fence.get());
                for tried in tables.attempts.iter_mut().filter(|there| there.fence <= fence) {
                    tried.outcome.get_or_insert(AttemptOutcome::Superseded);
                }
            }
        }
        Ok(())
    }

    fn attempt(&self, tried: Tried) -> Attempt {
        let attempt = Attempt::open(fence(tried.fence), self.owner(tried.owner), at(0), Phase::Submitted);
        Attempt { end: tried.outcome.map(|outcome| (outcome, at(0))), ..attempt }
    }

    fn run(&self, row: Row) -> Run {
        let held = |holder: Holder| (fence(holder.fence), self.owner(holder.owner));
        let mark = row.mark.map(|holder| {
            let (fence, owner) = held(holder);
            let digest = self.save(holder, row.phase - 1).digest();
            PhaseMark { fence, owner, digest }
        });
        let hold = match row.hold {
            Hold::Never => lease_core::Hold::Never,
            Hold::Held(holder, expires) => {
                let (fence, owner) = held(holder);
                lease_core::Hold::Held { fence, owner, expires_at: at(expires) }
            }
            Hold::Ended(holder, how) => {
                let (fence, owner) = held(holder);
                lease_core::Hold::Ended { fence, owner, how }
            }
        };
        Run {
            phase: phase(row.phase),
            mark,
            status: row.status,
            hold,
            losses: u32::from(row.losses),
            failures: u32::from(row.failures),
            due_at: at(row.due),
            ..self.opened.clone()
        }
    }

    fn row(&self, run: &Run) -> Row {
        let holder = |fence: FencingToken, owner: &OwnerId| Holder {
            owner: self.owner_number(owner),
            fence: small(fence.get()),
        };
        Row {
            phase: number_of(&run.phase),
            mark: run.mark.as_ref().map(|mark| holder(mark.fence, &mark.owner)),
            status: run.status,
            hold: match &run.hold {
                lease_core::Hold::Never => Hold::Never,
                lease_core::Hold::Held { fence, owner, expires_at } => {
                    Hold::Held(holder(*fence, owner), ticks(*expires_at))
                }
                lease_core::Hold::Ended { fence, owner, how } => Hold::Ended(holder(*fence, owner), *how),
            },
            losses: small(u64::from(run.losses)),
            failures: small(u64::from(run.failures)),
            due: ticks(run.due_at),
        }
    }

    /// The save of the phase after `from`: every claim's work returns something of its own.
    fn save(&self, holder: Holder, from: u8) -> &Save {
        &self.saves[&(holder, from)]
    }

    fn new_save(&self, holder: Holder, from: u8) -> Save {
        let receipt = json!({ "by": [holder.owner, holder.fence], "phase": from });
        let receipt = Document::from_value(receipt).expect("a small object");
        let ttl = self.lease.ttl();
        Save::new(&self.id(holder), phase(from), name(from + 1), receipt, Effects::none(), ttl)
    }

    fn id(&self, holder: Holder) -> LeaseId {
        LeaseId { run: self.opened.id, owner: self.owner(holder.owner), fence: fence(holder.fence) }
    }

    fn owner(&self, owner: u8) -> OwnerId {
        self.owners[usize::from(owner)].clone()
    }

    fn owner_number(&self, owner: &OwnerId) -> u8 {
        let place = self.owners.iter().position(|known| known == owner);
        small(place.expect("an owner of the model") as u64)
    }
}

fn keep_the_number(decision: &mut Decision<ClaimVerdict>, number: FencingToken) {
    if let ClaimVerdict::Granted(grant) = &mut decision.verdict {
        grant.lease.fence = number;
    }
    let Some(change) = &mut decision.change else { return };
    if let lease_core::Hold::Held { fence, .. } = &mut change.run.hold {
        *fence = number;
    }
    for attempt in &mut change.attempts {
        if let AttemptChange::Open(attempt) = attempt {
            attempt.fence = number;
        }
    }
}

/// A clock that has not come to the row's expiry yet, for a rule that does not look at it.
fn before_expiry(row: Row, now: u8) -> u8 {
    match row.hold {
        Hold::Held(_, expires) => now.min(expires - 1),
        Hold::Never | Hold::Ended(..) => now,
    }
}

/// Whether a run's status is one in which it goes on.
pub(crate) fn goes_on(status: Status) -> bool {
    status.ending().is_none()
}
