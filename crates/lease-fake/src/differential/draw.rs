//! Draws the steps of a history, by dice and by what the history has come to.

use std::time::Duration;

use lease_core::{
    Action, Claim, ClaimNext, Digest, Due, Effects, Fail, Failure, FailureKind, FencingToken, IdempotencyKey,
    LeaseId, LossLimit, OwnerId, Phase, Plan, Priority, Release, RunId, Save, Status, Submit, Ttl,
};
use serde_json::json;

use super::dice::Dice;
use super::levers::{Grip, Levers, Writes};
use super::request::Request;
use super::step::{Step, Together};
use super::{RUNS, plan_like};
use crate::FakeStore;
use crate::conformance::words::{document, id, name, owner, phase, ttl_of};

/// What draws a history.
pub(super) struct Draw<'h> {
    dice: Dice,
    /// Where the history stands.
    fake: &'h FakeStore,
    /// For its effects.
    levers: &'h dyn Levers,
    handles: Vec<LeaseId>,
    owners: u64,
}

impl<'h> Draw<'h> {
    pub(super) fn new(seed: u64, fake: &'h FakeStore, levers: &'h dyn Levers) -> Self {
        Self { dice: Dice::new(seed), fake, levers, handles: Vec::new(), owners: 0 }
    }

    /// The next steps may use these leases.
    pub(super) fn granted(&mut self, leases: Vec<LeaseId>) {
        self.handles.extend(leases);
    }

    pub(super) fn step(&mut self) -> Step {
        let requests = match self.dice.roll(26) {
            0..=2 => self.submit(),
            3..=6 => {
                let (run, owner) = (self.run(), self.owner());
                vec![self.claim(run, owner)]
            }
            7..=9 => vec![self.claim_next()],
            10 | 11 => vec![self.renew()],
            12..=15 => {
                let lease = self.lease();
                let save = self.save(&lease);
                self.again(save)
            }
            16 => {
                let lease = self.lease();
                let release = self.release(lease);
                self.again(release)
            }
            17 => {
                let lease = self.lease();
                let fail = self.fail(lease);
                self.again(fail)
            }
            18 => {
                let lease = self.lease();
                vec![Request::Standing(lease.clone()), blocked(lease)]
            }
            19..=21 => {
                let (run, owner) = (self.run(), self.owner());
                let act = self.act(run, owner);
                self.again(act)
            }
            22 | 23 => return Step::Together(self.together()),
            _ => return self.wait(),
        };
        Step::InTurn(requests)
    }

    /// Sometimes the same is sent a second time.
    fn again(&mut self, request: Request) -> Vec<Request> {
        vec![request; if self.dice.one_in(4) { 2 } else { 1 }]
    }

    fn plan(&mut self) -> Plan {
        let meanings = ["", "", "", "other"];
        let names = ["plan", "plan", "second"];
        plan_like(self.dice.pick(&names), self.dice.pick(&meanings))
    }

    fn known(&mut self) -> Vec<Digest> {
        let all = [plan_like("plan", ""), plan_like("second", ""), plan_like("plan", "other")];
        let some = usize::try_from(self.dice.roll(4)).expect("small");
        all.iter().take(some.max(1)).map(|plan| plan.id.digest).collect()
    }

    /// Sometimes one that is not there.
    fn run(&mut self) -> RunId {
        id(u128::from(self.dice.roll(6)) + 1)
    }

    /// Mostly a new owner, sometimes one that was used before.
    fn owner(&mut self) -> OwnerId {
        if self.dice.one_in(4) { owner("same#1") } else { self.new_owner() }
    }

    fn new_owner(&mut self) -> OwnerId {
        self.owners += 1;
        owner(&format!("w#{}", self.owners))
    }

    fn ttl(&mut self) -> Ttl {
        millis(self.dice.pick(&[1, 500, 1_000, 1_000, 5_000]))
    }

    /// Mostly a lease that was granted, sometimes one made up from it.
    fn lease(&mut self) -> LeaseId {
        let mut lease = match self.handles.len() {
            0 => LeaseId { run: self.run(), owner: owner("nobody#1"), fence: FencingToken::FIRST },
            // The newest are the most telling.
            known => {
                let back = usize::try_from(self.dice.roll(8)).expect("small").min(known - 1);
                self.handles[known - 1 - back].clone()
            }
        };
        match self.dice.roll(16) {
            0 => lease.fence = lease.fence.next().unwrap_or(FencingToken::FIRST),
            1 => lease.owner = owner("same#1"),
            2 => lease.run = self.run(),
            _ => {}
        }
        lease
    }

    /// Mostly where the run stands, sometimes elsewhere.
    fn phases(&mut self, run: RunId) -> (Phase, &'static str) {
        let stands = self.fake.stored(run).map_or(Phase::Submitted, |stored| stored.run.phase);
        let stands =
            if self.dice.one_in(6) { phase(self.dice.pick(&["submitted", "a", "b", "c"])) } else { stands };
        let next = match stands.as_str() {
            "submitted" => "a",
            "a" => "b",
            _ => "c",
        };
        let next = if self.dice.one_in(8) { self.dice.pick(&["a", "b", "c", "d"]) } else { next };
        (stands, next)
    }

    fn submit(&mut self) -> Vec<Request> {
        let number = u128::from(self.dice.roll(5)) + 1;
        let input = document(json!({ "content": self.dice.roll(8) / 7 }));
        let priority = Priority::new(self.dice.pick(&[-1, 0, 0, 1])).expect("in range");
        let key = lease_core::RunKey::new(format!("key {number}")).expect("short");
        let request = Submit { id: id(number), key, plan: self.plan(), priority, input };
        let plan = request.plan.id.clone();
        vec![Request::Submit(request), Request::CheckPlan(plan)]
    }

    fn claim(&mut self, run: RunId, owner: OwnerId) -> Request {
        let limit = u32::try_from(self.dice.roll(3)).expect("small") + 1;
        let loss_limit = LossLimit::new(limit).expect("above zero");
        Request::Claim(Claim { run, owner, ttl: self.ttl(), plans: self.known(), loss_limit })
    }

    fn claim_next(&mut self) -> Request {
        // A statement looks at as many runs as it has owners. With fewer of them than runs, and runs to set
        // aside among these, it may leave one of those to the next that the fake takes now.
        let poison = self.dice.one_in(3);
        let few = self.dice.roll(3) + 1;
        let wanted = if poison || self.one_has_no_number_left() { 6 } else { few };
        Request::ClaimNext(ClaimNext {
            owners: (0..wanted).map(|_| self.owner()).collect(),
            ttl: self.ttl(),
            plans: self.known(),
            loss_limit: LossLimit::new(if poison { 1 } else { 1_000 }).expect("above zero"),
            except: if self.dice.one_in(4) { vec![self.run()] } else { Vec::new() },
        })
    }

    fn one_has_no_number_left(&self) -> bool {
        let mut stored = (1..=RUNS).filter_map(|number| self.fake.stored(id(number)));
        stored.any(|stored| stored.run.hold.fence() == Some(FencingToken::LAST))
    }

    fn renew(&mut self) -> Request {
        let ttl = self.ttl();
        if self.dice.one_in(2) {
            return Request::Renew(self.lease(), ttl);
        }
        let count = self.dice.roll(5);
        // Of two leases of one run at most one is good, so the order in which they are judged is the same.
        Request::RenewMany((0..count).map(|_| self.lease()).collect(), ttl)
    }

    fn save(&mut self, lease: &LeaseId) -> Request {
        let (from, to) = self.phases(lease.run);
        let receipt = document(json!({ "receipt": self.dice.roll(6) / 5 }));
        let effects = match self.dice.roll(6) {
            0 => vec![self.levers.effect("first"), self.levers.effect("second")],
            1 => vec![self.levers.effect("first"), self.levers.refused_effect()],
            _ => Vec::new(),
        };
        // Half of this is what the server grants an idle transaction, in real time.
        let ttl = if effects.is_empty() { self.ttl() } else { millis(20_000) };
        let effects = Effects::new(effects).expect("few");
        Request::Save(Save::new(lease, from, name(to), receipt, effects, ttl))
    }

    fn release(&mut self, lease: LeaseId) -> Request {
        let (from, _) = self.phases(lease.run);
        let due = match self.dice.roll(3) {
            0 => Due::Now,
            1 => {
                let delay = Duration::from_micros(self.dice.roll(3_000_000));
                Due::Later { delay, failure: failure() }
            }
            _ => Due::Approval,
        };
        Request::Release(Release { lease, from, due })
    }

    fn fail(&mut self, lease: LeaseId) -> Request {
        let (from, _) = self.phases(lease.run);
        Request::Fail(Fail { lease, from, failure: failure() })
    }

    fn act(&mut self, run: RunId, owner: OwnerId) -> Request {
        let (_, next) = self.phases(run);
        let action = match self.dice.roll(10) {
            0..=2 => Action::Approve { phase: name(next), owner },
            3 => Action::Reject { phase: name(next) },
            4 => Action::Cancel,
            5 => Action::Retry(IdempotencyKey::Same),
            6 => Action::Retry(IdempotencyKey::New),
            7 => Action::Pause,
            8 => Action::Resume,
            _ => Action::Revoke { fence: self.lease().fence },
        };
        Request::Act(run, action)
    }

    /// Two or three requests for one run that were all sent before any of them was answered. So none of
    /// them can know what another is granted: claims have owners that no lease has.
    fn together(&mut self) -> Together {
        let lease = self.lease();
        let run = lease.run;
        let mut requests: Vec<Request> = Vec::new();
        for _ in 0..2 + self.dice.roll(2) {
            let other = LeaseId { run, ..self.lease() };
            let lease = if self.dice.one_in(4) { other } else { lease.clone() };
            let request = match self.dice.roll(16) {
                0..=2 => {
                    let owner = self.new_owner();
                    self.claim(run, owner)
                }
                3 | 4 => Request::Renew(lease, self.ttl()),
                5..=7 => self.save(&lease),
                8 | 9 => self.release(lease),
                10 => self.fail(lease),
                11 | 12 => {
                    let owner = self.new_owner();
                    self.act(run, owner)
                }
                13 => blocked(lease),
                14 => match requests.last() {
                    // The answer was given up on, and the same is sent again.
                    Some(last) => last.clone(),
                    None => self.save(&lease),
                },
                _ => {
                    if self.dice.one_in(2) {
                        let ttl = self.ttl();
                        Request::RenewMany(vec![lease, self.lease()], ttl)
                    } else {
                        self.claim_next()
                    }
                }
            };
            requests.push(request);
        }
        let grip = Grip {
            attempts: self.dice.one_in(3),
            writes: self.dice.pick(&[Writes::Nothing, Writes::TheSame, Writes::Undone]),
        };
        let elapse = self.dice.pick(&[0, 0, 1, 500_000, 1_000_000, 5_000_000]);
        Together { run, grip, requests, elapse: Duration::from_micros(elapse) }
    }

    fn wait(&mut self) -> Step {
        if self.dice.one_in(40) {
            let run = self.run();
            // A run that stands at the top of the range, free.
            if self.fake.stored(run).is_some_and(|stored| stored.run.status == Status::Open) {
                return Step::TopFence(run);
            }
        }
        let by = Duration::from_micros(self.dice.pick(&[0, 1, 999, 500_000, 1_000_000, 3_000_000]));
        Step::Clock { back: self.dice.one_in(12), by }
    }
}

fn blocked(lease: LeaseId) -> Request {
    Request::MarkBlocked(lease, document(json!({ "why": "turned away" })))
}

fn millis(count: u64) -> Ttl {
    ttl_of(Duration::from_millis(count))
}

fn failure() -> Failure {
    Failure::new(name("a"), FailureKind::STEP, "the step said no", 1)
}
