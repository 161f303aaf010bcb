//! A store against the rules: random histories, step for step on the store under test and on the fake
//! store, whose only rules are `lease_core::transition`. After every step the answers and everything
//! kept of every run have to be the same.
//!
//! A history is made from its seed alone: the same seed gives the same history on every machine.

mod search;

pub use search::{Dose, compare_many};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lease_core::{
    Action, Attempt, Claim, ClaimNext, Digest, Due, Effect, EffectKind, Effects, Fail, Failure, FailureKind,
    FencingToken, IdempotencyKey, LeaseId, LeaseStore as _, LossLimit, Operator as _, OperatorAction,
    OwnerId, Phase, Plan, Priority, Receipt, Release, Renewals as _, RunFilter, RunId, RunReader as _,
    RunView, Save, SaveVerdict, Submit, Ttl,
};
use serde_json::json;

use crate::conformance::words::{document, id, name, owner, phase, plan_of, ttl_of, who};
use crate::conformance::{Harness, Store};
use crate::{FakeStore, StoreClock};

const RUNS: u128 = 5;

/// A small generator (xorshift64*): the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        let sides = u64::try_from(items.len()).expect("a short list");
        items[usize::try_from(self.roll(sides)).expect("a short list")]
    }
}

/// Both stores, and what the history has seen so far.
struct Pair<'h> {
    dice: Dice,
    fake: FakeStore,
    real: &'h dyn Harness,
    store: Arc<dyn Store>,
    handles: Vec<LeaseId>,
    claims: u64,
    /// What was done so far, for whoever looks into a difference.
    journal: Vec<String>,
}

/// Tells the history where it ends in a difference.
impl Drop for Pair<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the history, in {} requests:", self.journal.len());
            for line in &self.journal {
                println!("  {line}");
            }
        }
    }
}

/// Everything kept of one run.
type Kept = (Option<RunView>, Vec<Receipt>, Vec<Attempt>, Vec<OperatorAction>);

/// Asks both stores the same, and compares.
macro_rules! both {
    ($pair:ident, $what:literal, $method:ident($($argument:expr),*)) => {{
        let fake = $pair.fake.$method($($argument),*).await;
        let real = $pair.store.$method($($argument),*).await;
        let (fake, real) = (fake.expect("no fault is ordered"), real.expect("a verdict"));
        $pair.journal.push(format!("{} {:?}: {fake:?}", $what, ($($argument,)*)));
        assert_eq!(real, fake, "{}: {:?}", $what, ($($argument,)*));
        real
    }};
}

impl<'h> Pair<'h> {
    async fn new(real: &'h dyn Harness, seed: u64) -> Self {
        let fake = FakeStore::new(StoreClock::default());
        fake.refuse_effect(&EffectKind::new("refused").expect("a plain word"));
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Self {
            dice,
            fake,
            real,
            store: real.store().await,
            handles: Vec::new(),
            claims: 0,
            journal: Vec::new(),
        }
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

    fn run(&mut self) -> RunId {
        id(u128::from(self.dice.roll(6)) + 1)
    }

    /// Mostly a new owner, sometimes one that was used before.
    fn owner(&mut self) -> OwnerId {
        if self.dice.one_in(4) {
            return owner("same#1");
        }
        self.claims += 1;
        owner(&format!("w#{}", self.claims))
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
    async fn phases(&mut self, run: RunId) -> (Phase, &'static str) {
        let view = self.fake.view(run).await.expect("no fault is ordered");
        let stands = view.map_or(Phase::Submitted, |view| view.run.phase);
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

    async fn step(&mut self) {
        match self.dice.roll(24) {
            0..=2 => self.submit().await,
            3..=6 => self.claim().await,
            7..=9 => self.claim_next().await,
            10 | 11 => self.renew().await,
            12..=15 => self.save().await,
            16 => self.release().await,
            17 => self.fail().await,
            18 => self.turned_away().await,
            19..=21 => self.act().await,
            _ => self.wait().await,
        }
    }

    async fn submit(&mut self) {
        let number = u128::from(self.dice.roll(5)) + 1;
        let input = document(json!({ "content": self.dice.roll(8) / 7 }));
        let priority = Priority::new(self.dice.pick(&[-1, 0, 0, 1])).expect("in range");
        let key = lease_core::RunKey::new(format!("key {number}")).expect("short");
        let request = Submit { id: id(number), key, plan: self.plan(), priority, input };
        let _ = both!(self, "submit", submit(&request));
        let _ = both!(self, "check_plan", check_plan(&request.plan.id));
    }

    async fn claim(&mut self) {
        let request = Claim {
            run: self.run(),
            owner: self.owner(),
            ttl: self.ttl(),
            plans: self.known(),
            loss_limit: LossLimit::new(u32::try_from(self.dice.roll(3)).expect("small") + 1)
                .expect("above zero"),
        };
        let verdict = both!(self, "claim", claim(&request));
        if let lease_core::ClaimVerdict::Granted(grant) = verdict {
            self.handles.push(grant.lease);
        }
    }

    async fn claim_next(&mut self) {
        // A statement looks at as many lapsed runs as it has owners. With fewer of them than runs, and
        // runs to set aside among these, it may leave one of those to the next that the fake takes now.
        let poison = self.dice.one_in(3);
        let wanted = if poison { 6 } else { self.dice.roll(3) + 1 };
        let request = ClaimNext {
            owners: (0..wanted).map(|_| self.owner()).collect(),
            ttl: self.ttl(),
            plans: self.known(),
            loss_limit: LossLimit::new(if poison { 1 } else { 1_000 }).expect("above zero"),
            except: if self.dice.one_in(4) { vec![self.run()] } else { Vec::new() },
        };
        let claimed = both!(self, "claim_next", claim_next(&request));
        self.handles.extend(claimed.grants.into_iter().map(|grant| grant.lease));
    }

    async fn renew(&mut self) {
        let ttl = self.ttl();
        if self.dice.one_in(2) {
            let lease = self.lease();
            let _ = both!(self, "renew", renew(&lease, ttl));
            return;
        }
        let count = self.dice.roll(5);
        let leases: Vec<LeaseId> = (0..count).map(|_| self.lease()).collect();
        // Of two leases of one run at most one is good, so the order in which they are judged is the same.
        let _ = both!(self, "renew_many", renew_many(&leases, ttl));
    }

    async fn save(&mut self) {
        let lease = self.lease();
        let (from, to) = self.phases(lease.run).await;
        let receipt = document(json!({ "receipt": self.dice.roll(6) / 5 }));
        let effects = match self.dice.roll(6) {
            0 => vec![self.real.effect("first"), self.real.effect("second")],
            1 => vec![self.real.effect("first"), self.real.refused_effect()],
            _ => Vec::<Effect>::new(),
        };
        // Half of this is what the server grants an idle transaction, in real time.
        let ttl = if effects.is_empty() { self.ttl() } else { millis(20_000) };
        let effects = Effects::new(effects).expect("few");
        let request = Save::new(&lease, from, name(to), receipt, effects, ttl);
        for _ in 0..=self.dice.roll(4) / 3 {
            let fake = self.fake.save(&request).await.expect("no fault is ordered");
            let real = self.store.save(&request).await.expect("a verdict");
            self.journal.push(format!("save {request:?}: {fake:?}"));
            // The wording of a refused effect is each store's own.
            let refused = |verdict: &SaveVerdict| matches!(verdict, SaveVerdict::EffectRefused { .. });
            assert!(
                (refused(&real) && refused(&fake)) || real == fake,
                "save: {request:?}: {real:?}, not {fake:?}"
            );
        }
    }

    async fn release(&mut self) {
        let lease = self.lease();
        let (from, _) = self.phases(lease.run).await;
        let due = match self.dice.roll(3) {
            0 => Due::Now,
            1 => {
                let delay = Duration::from_micros(self.dice.roll(3_000_000));
                Due::Later { delay, failure: failure() }
            }
            _ => Due::Approval,
        };
        let request = Release { lease, from, due };
        for _ in 0..=self.dice.roll(4) / 3 {
            let _ = both!(self, "release", release(&request));
        }
    }

    async fn fail(&mut self) {
        let lease = self.lease();
        let (from, _) = self.phases(lease.run).await;
        let request = Fail { lease, from, failure: failure() };
        for _ in 0..=self.dice.roll(4) / 3 {
            let _ = both!(self, "fail", fail(&request));
        }
    }

    async fn turned_away(&mut self) {
        let lease = self.lease();
        let _ = both!(self, "standing", standing(&lease));
        let reason = document(json!({ "why": "turned away" }));
        let _ = both!(self, "mark_blocked", mark_blocked(&lease, &reason));
    }

    async fn act(&mut self) {
        let run = self.run();
        let (_, next) = self.phases(run).await;
        let action = match self.dice.roll(10) {
            0..=2 => Action::Approve { phase: name(next), owner: self.owner() },
            3 => Action::Reject { phase: name(next) },
            4 => Action::Cancel,
            5 => Action::Retry(IdempotencyKey::Same),
            6 => Action::Retry(IdempotencyKey::New),
            7 => Action::Pause,
            8 => Action::Resume,
            _ => Action::Revoke { fence: self.lease().fence },
        };
        for _ in 0..=self.dice.roll(4) / 3 {
            let _ = both!(self, "act", act(run, &action, &who()));
        }
    }

    async fn wait(&mut self) {
        let by = Duration::from_micros(self.dice.pick(&[0, 1, 999, 500_000, 1_000_000, 3_000_000]));
        let back = self.dice.one_in(12);
        self.journal.push(format!("the clock goes {} by {by:?}", if back { "back" } else { "on" }));
        if back {
            self.fake.clock().set_back(by);
            self.real.set_back(by).await;
        } else {
            self.fake.clock().advance(by);
            self.real.elapse(by).await;
        }
        if self.dice.one_in(40) {
            let run = self.run();
            let top = Some(FencingToken::LAST);
            let open = self.fake.view(run).await.expect("no fault is ordered");
            // A run that stands at the top of the range, free.
            if open.is_some_and(|view| view.run.status == lease_core::Status::Open) {
                self.fake.set_fence(run, top);
                self.real.set_fence(run, top).await;
            }
        }
    }

    async fn compare(&self) {
        for number in 1..=RUNS {
            let run = id(number);
            let fake: Kept = (
                self.fake.view(run).await.expect("no fault is ordered"),
                self.fake.receipts(run).await.expect("no fault is ordered"),
                self.fake.attempts(run).await.expect("no fault is ordered"),
                self.fake.actions(run).await.expect("no fault is ordered"),
            );
            let store = &self.store;
            let real: Kept = (
                store.view(run).await.expect("an answer"),
                store.receipts(run).await.expect("an answer"),
                store.attempts(run).await.expect("an answer"),
                store.actions(run).await.expect("an answer"),
            );
            assert_eq!(real, fake, "run {number}");
            let effects = self.fake.stored(run).map_or(0, |stored| stored.effects.len());
            assert_eq!(self.real.effect_rows(run).await.len(), effects, "effects of run {number}");
        }
        let known = [plan_like("plan", "").id.digest];
        let fake = self.fake.stranded(&known).await.expect("no fault is ordered");
        assert_eq!(self.store.stranded(&known).await.expect("an answer"), fake);
    }
}

/// Sends one random history to the store under test and to the fake, and compares them after each of
/// its steps.
///
/// # Panics
/// Where they differ, with the history printed.
pub async fn compare(harness: &dyn Harness, seed: u64, steps: usize) {
    let done = AtomicUsize::new(0);
    compare_counting(harness, seed, steps, &done).await;
}

async fn compare_counting(harness: &dyn Harness, seed: u64, steps: usize, done: &AtomicUsize) {
    let mut pair = Pair::new(harness, seed).await;
    for _ in 0..steps {
        pair.step().await;
        pair.compare().await;
        done.fetch_add(1, Ordering::Relaxed);
    }
    let all = RunFilter { limit: 100, ..RunFilter::default() };
    let listed = pair.store.list(&all).await.expect("an answer").runs.len();
    assert_eq!(listed, pair.fake.list(&all).await.expect("no fault is ordered").runs.len());
}

/// Plans of one version: another meaning is another content under the same name.
fn plan_like(plan: &str, meaning: &str) -> Plan {
    plan_of(plan, 1, meaning)
}

fn millis(count: u64) -> Ttl {
    ttl_of(Duration::from_millis(count))
}

fn failure() -> Failure {
    Failure::new(name("a"), FailureKind::STEP, "the step said no", 1)
}
