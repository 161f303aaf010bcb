//! What one run left behind, and how that is judged: alone, and against a run where no worker failed.
//!
//! Keeps the trial apart from the rules: these know only what every run has to leave behind (IN-ORDER,
//! ONE-RECEIPT, ALL-OR-NOTHING, RESUME).

use std::fmt;

use lease_core::{Effect, PhaseName, Status};

use super::call::{Done, Steps};
use super::finding::Difference;
use crate::store::Stored;

/// What a run left behind.
pub(super) struct Left<S: Steps> {
    /// The steps that it was done with.
    pub(super) steps: S,
    /// What is in the store.
    pub(super) stored: Stored,
    /// What was saved, in the order of the saves.
    pub(super) saved: Vec<(PhaseName, Done)>,
    /// Phases whose step was called though their receipt was there.
    pub(super) called_again: Vec<PhaseName>,
    /// What is seen of the world outside.
    pub(super) seen: S::Seen,
}

impl<S: Steps> Left<S> {
    /// What is wrong with it, whatever its steps are for.
    pub(super) fn broken(&self) -> Vec<Difference> {
        let Stored { run, receipts, effects, .. } = &self.stored;
        let again = self.called_again.iter().cloned().map(Difference::CalledAgain);
        let mut found: Vec<Difference> = again.collect();
        if run.status != Status::Completed {
            found.push(Difference::NotCompleted(run.status));
        }
        let phases = receipts.iter().map(|receipt| &receipt.phase);
        if !phases.clone().eq(run.plan.phases.as_slice()) {
            found.push(Difference::Receipts(phases.cloned().collect()));
        }
        if !receipts.is_sorted_by_key(|receipt| receipt.fence) {
            found.push(Difference::Numbers(receipts.iter().map(|receipt| receipt.fence).collect()));
        }
        let rows = effects.iter().map(|row| Effect { kind: row.kind.clone(), body: row.body.clone() });
        let rows: Vec<Effect> = rows.collect();
        if !rows.iter().eq(self.saved.iter().flat_map(|(_, done)| done.effects.as_slice())) {
            found.push(Difference::Effects(rows));
        }
        found
    }

    /// How it differs from what a run left behind in which no worker failed.
    pub(super) fn differs_from(&self, calm: &Self) -> Vec<Difference> {
        let both = calm.saved.iter().zip(&self.saved);
        let mut found: Vec<Difference> = both
            .filter_map(|((phase, first), (_, again))| returned(&self.steps, phase, first, again))
            .collect();
        found.extend(outside(&calm.seen, &self.seen));
        found
    }
}

/// The difference between what two calls of a step returned.
pub(super) fn returned<S: Steps>(
    steps: &S,
    phase: &PhaseName,
    first: &Done,
    again: &Done,
) -> Option<Difference> {
    if steps.same(phase, first, again) {
        return None;
    }
    let [first, again] = [first, again].map(|done| Box::new(done.clone()));
    Some(Difference::Returned { phase: phase.clone(), first, again })
}

/// The difference between two looks at the world outside.
pub(super) fn outside<T: PartialEq + fmt::Debug>(first: &T, again: &T) -> Option<Difference> {
    (first != again).then(|| Difference::Outside { first: format!("{first:?}"), again: format!("{again:?}") })
}

#[cfg(test)]
mod tests {
    use lease_core::{
        Document, EffectKind, Effects, FencingToken, PhaseList, Plan, PlanName, PlanVersion, Priority, RunId,
        RunKey, Submit,
    };

    use super::super::{Call, Point, Trial};
    use super::*;
    use crate::drive;

    /// Steps that leave a row each.
    struct Plain;

    impl Steps for Plain {
        type Process = ();
        type Seen = ();

        fn start(&self) {}

        async fn step(&self, (): &mut (), call: &Call) -> Result<Done, String> {
            let kind = EffectKind::new(call.phase.as_str()).unwrap();
            let row = Effect { kind, body: Document::default() };
            Ok(Done { receipt: Document::default(), effects: Effects::new(vec![row]).unwrap() })
        }

        async fn seen(&self) {}
    }

    /// What a run left behind whose second worker saved the second of two phases.
    fn left() -> Left<Plain> {
        let phases = PhaseList::from_names(["a", "b"]).unwrap();
        let plan = Plan::new(PlanName::new("plain").unwrap(), PlanVersion::new(1).unwrap(), phases, "");
        let second = plan.phases.as_slice()[1].clone();
        let trial = Trial::new(Submit {
            id: RunId::new(uuid::Uuid::from_u128(1)),
            key: RunKey::new("run").unwrap(),
            plan,
            priority: Priority::default(),
            input: Document::default(),
        });
        let carried = trial.carry(Plain, Some((&second, Point::BeforeStep)));
        let Ok(left) = drive::at_once(carried).unwrap() else { panic!("plain steps say no") };
        left
    }

    /// What is found after something was done to what a good run left behind.
    fn found(damage: impl FnOnce(&mut Left<Plain>)) -> Vec<Difference> {
        let mut left = left();
        damage(&mut left);
        left.broken()
    }

    fn phase(name: &str) -> PhaseName {
        PhaseName::new(name).unwrap()
    }

    #[test]
    fn nothing_is_found_where_nothing_is_damaged() {
        assert_eq!(found(|_| {}), []);
        assert_eq!(left().stored.receipts[1].fence.get(), 2);
        assert_eq!(left().differs_from(&left()), []);
    }

    #[test]
    fn resume_a_step_that_was_called_after_its_save_and_a_run_that_goes_on_are_found() {
        assert_eq!(found(|left| left.called_again.push(phase("a"))), [Difference::CalledAgain(phase("a"))]);
        let open = |left: &mut Left<Plain>| left.stored.run.status = Status::Open;
        assert_eq!(found(open), [Difference::NotCompleted(Status::Open)]);
    }

    #[test]
    fn one_receipt_a_missing_and_a_second_receipt_and_falling_numbers_are_found() {
        let missing = found(|left| drop(left.stored.receipts.pop()));
        assert_eq!(missing, [Difference::Receipts(vec![phase("a")])]);
        let twice = found(|left| left.stored.receipts.push(left.stored.receipts[1].clone()));
        assert_eq!(twice, [Difference::Receipts(vec![phase("a"), phase("b"), phase("b")])]);
        let [two, three] = [2, 3].map(|number| FencingToken::new(number).unwrap());
        let falling = found(|left| left.stored.receipts[0].fence = three);
        assert_eq!(falling, [Difference::Numbers(vec![three, two])]);
    }

    #[test]
    fn all_or_nothing_an_effect_that_landed_twice_or_not_at_all_is_found() {
        let twice = found(|left| left.stored.effects.push(left.stored.effects[1].clone()));
        assert!(matches!(&twice[..], [Difference::Effects(rows)] if rows.len() == 3));
        let none = found(|left| left.stored.effects.clear());
        assert_eq!(none, [Difference::Effects(Vec::new())]);
    }
}
