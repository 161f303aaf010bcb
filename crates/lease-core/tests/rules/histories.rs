//! Random histories of one run: several workers, stalls, operators, requests sent twice and stale
//! leases used again, on a store that is nothing but the rules.
//!
//! After every step each invariant is checked on what is stored, not on what the rules say of it.

use lease_core::transition::{self, Decision};
use lease_core::{
    Action, AfterSave, Attempt, AttemptOutcome, BlockedVerdict, ClaimVerdict, Due, FailVerdict, Hold,
    IdempotencyKey, LeaseEnd, LeaseId, OperatorVerdict, PhaseName, ReleaseVerdict, RenewVerdict, Run,
    SaveVerdict, Standing, Status,
};
use proptest::prelude::*;

use crate::world::{World, fence, later, name, owner};

const PHASES: [&str; 4] = ["submitted", "a", "b", "c"];

/// One step. Leases are chosen among all that were ever granted, the newest ones more often.
#[derive(Debug, Clone)]
enum Step {
    Claim { by: u8 },
    Renew { lease: u8 },
    Save { lease: u8, fitting: bool, from: usize, to: usize, note: u8 },
    Release { lease: u8, due: u8 },
    Fail { lease: u8 },
    Block { lease: u8 },
    Act(u8),
    Pass { seconds: u64 },
    SetClock { seconds: i64 },
}

fn step(clock_may_be_set: bool) -> impl Strategy<Value = Step> {
    let lease = prop_oneof![3 => Just(0_u8), 1 => Just(1_u8), 1 => any::<u8>()];
    let saving = (lease.clone(), prop::bool::weighted(0.8), 0..4_usize, 1..4_usize, 0..2_u8);
    let saving =
        saving.prop_map(|(lease, fitting, from, to, note)| Step::Save { lease, fitting, from, to, note });
    let set = if clock_may_be_set { 2 } else { 0 };
    prop_oneof![
        8 => (0..3_u8).prop_map(|by| Step::Claim { by }),
        4 => lease.clone().prop_map(|lease| Step::Renew { lease }),
        8 => saving,
        3 => (lease.clone(), 0..3_u8).prop_map(|(lease, due)| Step::Release { lease, due }),
        1 => lease.clone().prop_map(|lease| Step::Fail { lease }),
        2 => lease.prop_map(|lease| Step::Block { lease }),
        4 => any::<u8>().prop_map(Step::Act),
        5 => prop_oneof![0..30_u64, 59..62_u64, Just(200_u64)].prop_map(|seconds| Step::Pass { seconds }),
        set => (-400..400_i64).prop_map(|seconds| Step::SetClock { seconds }),
    ]
}

/// The run, every lease ever granted, and those that were once seen not to be held.
struct History {
    world: World,
    granted: Vec<LeaseId>,
    dead: Vec<LeaseId>,
    clock_may_be_set: bool,
}

/// What one step did to the run's number.
#[derive(Debug, PartialEq)]
enum Number {
    Stays,
    RisesByOne,
}

impl History {
    fn new(clock_may_be_set: bool) -> Self {
        Self { world: World::new(), granted: Vec::new(), dead: Vec::new(), clock_may_be_set }
    }

    fn chosen(&self, lease: u8) -> LeaseId {
        let newest_first = self.granted.iter().rev().nth(usize::from(lease) % self.granted.len().max(1));
        newest_first.cloned().unwrap_or_else(|| LeaseId {
            run: self.world.run.id,
            owner: owner("nobody"),
            fence: fence(1),
        })
    }

    fn take(&mut self, step: &Step) {
        let before = self.world.clone();
        let number = match step {
            Step::Claim { by } => self.claim(*by),
            Step::Renew { lease } => self.renew(*lease),
            Step::Save { lease, fitting, from, to, note } => self.save(*lease, *fitting, *from, *to, *note),
            Step::Release { lease, due } => self.release(*lease, *due),
            Step::Fail { lease } => self.fail(*lease),
            Step::Block { lease } => self.block(*lease),
            Step::Act(choice) => self.act(*choice),
            Step::Pass { seconds } => {
                self.world.pass(*seconds);
                Number::Stays
            }
            Step::SetClock { seconds } => {
                let micros = self.world.now.as_micros() + seconds * 1_000_000;
                self.world.now = lease_core::Timestamp::from_micros(micros);
                Number::Stays
            }
        };
        self.check_fence_up(&before, &number);
        self.check_in_order_and_one_receipt(&before);
        self.check_attempts(&before);
        self.check_row();
        self.check_one_holder_and_no_lazarus();
    }

    /// Whether a lease may take effect now, told from the stored hold alone.
    fn live(&self, lease: &LeaseId) -> bool {
        matches!(&self.world.run.hold, Hold::Held { fence, owner, expires_at }
            if *fence == lease.fence && *owner == lease.owner && self.world.now < *expires_at)
    }

    fn claim(&mut self, by: u8) -> Number {
        let before = self.world.clone();
        // Owner names are used again and again here: the number alone has to tell claims apart.
        match self.world.claim(&format!("w{by}")) {
            ClaimVerdict::Granted(grant) => {
                assert!(!matches!(before.run.hold, Hold::Held { expires_at, .. } if before.now < expires_at));
                assert_eq!(grant.job.phase, before.run.phase, "RESUME");
                let next = grant.job.next_phase();
                assert_eq!(next, before.run.plan.phases.as_slice().get(before.receipts.len()), "RESUME");
                self.granted.push(grant.lease);
                return Number::RisesByOne;
            }
            ClaimVerdict::SetAside(_) => assert_eq!(self.world.run.status, Status::Failed),
            ClaimVerdict::Busy { .. }
            | ClaimVerdict::NotDue { .. }
            | ClaimVerdict::Waiting { .. }
            | ClaimVerdict::Paused
            | ClaimVerdict::Finished(_) => assert_eq!(self.world.run, before.run),
            refused @ (ClaimVerdict::UnknownPlan(_) | ClaimVerdict::Lapsed { .. } | ClaimVerdict::Gone) => {
                panic!("cannot be here: {refused:?}")
            }
        }
        Number::Stays
    }

    fn renew(&mut self, lease: u8) -> Number {
        let lease = self.chosen(lease);
        let (live, before) = (self.live(&lease), self.world.run.clone());
        match self.world.renew(&lease) {
            RenewVerdict::Renewed { yield_asked } => {
                assert!(live, "NO-LAZARUS");
                assert_eq!(yield_asked, before.paused, "TRUTH");
            }
            RenewVerdict::Refused(_) => assert_eq!((live, &self.world.run), (false, &before)),
            RenewVerdict::NotJudged => panic!("no row is locked here"),
        }
        Number::Stays
    }

    fn save(&mut self, lease: u8, fitting: bool, from: usize, to: usize, note: u8) -> Number {
        let lease = self.chosen(lease);
        let stands = self.world.receipts.len();
        let (from, to) = if fitting { (stands, (stands + 1).min(3)) } else { (from, to) };
        let (live, before) = (self.live(&lease), self.world.clone());
        let note = format!("{note}");
        let verdict = self.world.save(&lease, PHASES[from], PHASES[to], &note);
        match &verdict {
            SaveVerdict::Saved(after) => {
                assert!(live, "NO-LATE-SAVE");
                assert_eq!((from, to), (stands, stands + 1), "IN-ORDER");
                assert_eq!(self.world.receipts.len(), stands + 1, "ALL-OR-NOTHING");
                let completed = self.world.run.status == Status::Completed;
                assert_eq!(completed, matches!(after, AfterSave::Completed), "TRUTH");
                let again = self.world.clone().save(&lease, PHASES[from], PHASES[to], &note);
                assert_eq!(again, SaveVerdict::AlreadySaved(after.clone()), "TRUTH");
            }
            SaveVerdict::AlreadySaved(_) => {
                let receipt = before.receipts.last().expect("a landed save left a receipt");
                assert_eq!((receipt.fence, receipt.phase.as_str()), (lease.fence, PHASES[to]), "TRUTH");
                assert_eq!(self.world.run, before.run);
            }
            SaveVerdict::Refused(_) => {
                assert_eq!(self.world.run, before.run, "ALL-OR-NOTHING");
                assert!(
                    !(live && from == stands && to == stands + 1),
                    "a good save was refused: {verdict:?}"
                );
            }
            SaveVerdict::EffectRefused { .. } => panic!("there are no effects here"),
        }
        Number::Stays
    }

    fn release(&mut self, lease: u8, due: u8) -> Number {
        let lease = self.chosen(lease);
        let due = [Due::Now, later(5), Due::Approval][usize::from(due)].clone();
        let from = self.world.run.phase.as_str().to_owned();
        let (live, before) = (self.live(&lease), self.world.run.clone());
        match self.world.release(&lease, &from, due.clone()) {
            ReleaseVerdict::Released => {
                assert!(live, "BLOCKED-NOT-FAILED");
                let again = self.world.clone().release(&lease, &from, due);
                assert_eq!(again, ReleaseVerdict::AlreadyReleased, "TRUTH");
            }
            ReleaseVerdict::AlreadyReleased => self.check_ended_before(&lease, &before),
            ReleaseVerdict::Refused(_) => assert_eq!((live, &self.world.run), (false, &before)),
        }
        Number::Stays
    }

    fn fail(&mut self, lease: u8) -> Number {
        let lease = self.chosen(lease);
        let from = self.world.run.phase.as_str().to_owned();
        let (live, before) = (self.live(&lease), self.world.run.clone());
        match self.world.fail(&lease, &from) {
            FailVerdict::Failed => {
                assert!(live, "BLOCKED-NOT-FAILED");
                assert_eq!(self.world.clone().fail(&lease, &from), FailVerdict::AlreadyFailed, "TRUTH");
            }
            FailVerdict::AlreadyFailed => self.check_ended_before(&lease, &before),
            FailVerdict::Refused(_) => assert_eq!((live, &self.world.run), (false, &before)),
        }
        Number::Stays
    }

    /// TRUTH: what is told to have been done before was done by this very claim.
    fn check_ended_before(&self, lease: &LeaseId, before: &Run) {
        assert_eq!(self.world.run, *before);
        let ended = matches!(&before.hold, Hold::Ended { fence, owner, .. }
            if *fence == lease.fence && *owner == lease.owner);
        assert!(ended, "TRUTH: {lease:?} on {:?}", before.hold);
    }

    /// A worker reports that it was turned away; here only workers that were do.
    fn block(&mut self, lease: u8) -> Number {
        let lease = self.chosen(lease);
        if self.live(&lease) || self.granted.is_empty() {
            return Number::Stays;
        }
        let before = self.world.run.clone();
        let verdict = self.world.block(&lease);
        assert!(matches!(verdict, BlockedVerdict::Recorded | BlockedVerdict::AlreadyEnded(_)), "{verdict:?}");
        assert_eq!(self.world.run, before, "BLOCKED-NOT-FAILED");
        Number::Stays
    }

    fn act(&mut self, choice: u8) -> Number {
        let waits_for = self.world.run.next_phase().cloned().unwrap_or_else(|| name("c"));
        let action = action(choice, &waits_for, &self.world);
        let before = self.world.clone();
        let verdict = self.world.act(&action);
        if verdict != OperatorVerdict::Done {
            assert_eq!((&self.world.run, &self.world.actions), (&before.run, &before.actions), "TRUTH");
            return Number::Stays;
        }
        assert_eq!(self.world.actions.len(), before.actions.len() + 1);
        let approval = matches!(action, Action::Approve { .. });
        if approval { Number::RisesByOne } else { Number::Stays }
    }

    fn check_fence_up(&self, before: &World, number: &Number) {
        let value = |world: &World| world.run.hold.fence().map_or(0, lease_core::FencingToken::get);
        let rise = u64::from(*number == Number::RisesByOne);
        assert_eq!(value(&self.world), value(before) + rise, "FENCE-UP");
    }

    fn check_in_order_and_one_receipt(&self, before: &World) {
        let receipts = &self.world.receipts;
        assert!(receipts.starts_with(&before.receipts), "ONE-RECEIPT: a receipt never changes");
        let phases: Vec<&PhaseName> = receipts.iter().map(|receipt| &receipt.phase).collect();
        let list = &self.world.run.plan.phases;
        let in_order: Vec<&PhaseName> = list.as_slice().iter().take(phases.len()).collect();
        assert_eq!(phases, in_order, "IN-ORDER, ONE-RECEIPT");
        assert_eq!(list.saved_count(&self.world.run.phase), Some(phases.len()), "ALL-OR-NOTHING");
        assert!(receipts.is_sorted_by_key(|receipt| receipt.fence), "ONE-RECEIPT");
        let mark = self.world.run.mark.as_ref().map(|mark| mark.fence);
        assert_eq!(mark, receipts.last().map(|receipt| receipt.fence));
    }

    /// TRUTH: one attempt for each number; an outcome, once written, changes only from `superseded` to
    /// `blocked`, and from `blocked` to how the lease was ended in this very step, by its own holder;
    /// every attempt but the newest has ended, and the newest with its lease.
    fn check_attempts(&self, before: &World) {
        let attempts = &self.world.attempts;
        let numbers: Vec<u64> = attempts.iter().map(|attempt| attempt.fence.get()).collect();
        let newest = self.world.run.hold.fence().map_or(0, lease_core::FencingToken::get);
        assert_eq!(numbers, (1..=newest).collect::<Vec<_>>());
        for (was, is) in before.attempts.iter().zip(attempts) {
            match (was.outcome(), is.outcome()) {
                (Some(AttemptOutcome::Superseded), Some(AttemptOutcome::Blocked)) => {
                    let ended_at = |attempt: &Attempt| attempt.end.map(|(_, at)| at);
                    assert_eq!(ended_at(was), ended_at(is));
                }
                (Some(AttemptOutcome::Blocked), Some(outcome)) if was != is => {
                    let (was_held, hold) = (&before.run.hold, &self.world.run.hold);
                    assert!(matches!(was_held, Hold::Held { fence, .. } if *fence == is.fence), "{is:?}");
                    let Hold::Ended { how, .. } = hold else { panic!("{hold:?} under {is:?}") };
                    assert!(!matches!(how, LeaseEnd::Cancelled | LeaseEnd::Revoked), "{is:?}");
                    assert_eq!(outcome.as_str(), how.as_str());
                }
                (Some(_), _) => assert_eq!(was, is),
                (None, _) => {}
            }
        }
        if let Some((last, older)) = attempts.split_last() {
            assert!(older.iter().all(|attempt| attempt.end.is_some()), "{older:?}");
            let lease_over = matches!(self.world.run.hold, Hold::Ended { .. });
            assert!(last.end.is_some() || !lease_over, "{last:?}");
        }
    }

    /// What stands on the row fits together.
    fn check_row(&self) {
        let run = &self.world.run;
        let held = matches!(run.hold, Hold::Held { .. });
        assert!(!held || run.status == Status::Open, "{run:?}");
        assert_eq!(run.next_phase().is_none(), run.status == Status::Completed);
        assert_eq!(run.error.is_some(), run.status == Status::Failed);
        let over = matches!(run.status, Status::Completed | Status::Cancelled);
        assert!(!(over && run.paused));
    }

    fn check_one_holder_and_no_lazarus(&mut self) {
        let standing = |lease: &LeaseId| self.world.standing(lease);
        let held: Vec<_> = self.granted.iter().filter(|lease| standing(lease) == Standing::Held).collect();
        assert!(held.len() <= 1, "ONE-HOLDER: {held:?}");
        assert!(held.iter().all(|lease| self.live(lease)), "NO-LATE-SAVE");
        if !self.clock_may_be_set {
            let risen: Vec<_> = held.iter().filter(|lease| self.dead.contains(lease)).collect();
            assert!(risen.is_empty(), "NO-LAZARUS: {risen:?}");
        }
        let dead: Vec<_> =
            self.granted.iter().filter(|lease| standing(lease) != Standing::Held).cloned().collect();
        self.dead = dead;
    }

    /// LIVENESS: an open, due run with no live lease is granted to whoever asks.
    fn check_liveness(&mut self) {
        let run = &self.world.run;
        let free = !matches!(run.hold, Hold::Held { expires_at, .. } if self.world.now < expires_at);
        let due = run.due_at <= self.world.now;
        if run.status == Status::Open && !run.paused && free && due {
            let request = crate::world::claim(run, "fresh");
            let Decision { verdict, .. } = transition::claim(run, &request, self.world.now);
            let taken = matches!(verdict, ClaimVerdict::Granted(_) | ClaimVerdict::SetAside(_));
            assert!(taken, "LIVENESS: {verdict:?}");
        }
    }
}

fn action(choice: u8, waits_for: &PhaseName, world: &World) -> Action {
    let current = world.run.hold.fence().unwrap_or(fence(1));
    match choice % 9 {
        0 | 1 => Action::Approve { phase: waits_for.clone(), owner: owner("ops#1") },
        2 => Action::Reject { phase: waits_for.clone() },
        3 => Action::Retry(IdempotencyKey::Same),
        4 => Action::Retry(IdempotencyKey::New),
        5 => Action::Pause,
        6 => Action::Resume,
        7 if choice >= 200 => Action::Cancel,
        7 => Action::Revoke { fence: fence(1) },
        _ => Action::Revoke { fence: current },
    }
}

fn run_through(steps: &[Step], clock_may_be_set: bool) {
    let mut history = History::new(clock_may_be_set);
    for step in steps {
        history.take(step);
        history.check_liveness();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// FENCE-UP, ONE-HOLDER, NO-LATE-SAVE, NO-LAZARUS, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING, RESUME,
    /// TRUTH, BLOCKED-NOT-FAILED, LIVENESS.
    #[test]
    fn every_invariant_holds_after_every_step_of_any_history(
        steps in prop::collection::vec(step(false), 1..80),
    ) {
        run_through(&steps, false);
    }

    /// FENCE-UP, ONE-HOLDER, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING and RESUME do not need the clock.
    #[test]
    fn what_does_not_depend_on_time_holds_when_the_stores_clock_is_set_back_and_forward(
        steps in prop::collection::vec(step(true), 1..80),
    ) {
        run_through(&steps, true);
    }
}
