//! What the histories reach: a property that is never put to the test proves nothing.

use std::collections::BTreeSet;

use lease_core::{AttemptOutcome, Refused};
use lease_fake::Exchange;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::skews;
use crate::steps::step;
use crate::world::World;

/// The first word of a value's debug text: the name of its variant.
fn variant(verdict: &impl std::fmt::Debug) -> String {
    let text = format!("{verdict:?}");
    text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// `save refused: Superseded` and the like.
fn words(exchange: &Exchange) -> Vec<String> {
    let why = |refused: Refused, verdict: &dyn std::fmt::Debug| {
        let text = format!("{verdict:?}");
        let reason =
            text.strip_prefix("Refused(").map(|reason| format!("refused: {}", variant(&Raw(reason))));
        format!("{refused} {}", reason.unwrap_or_else(|| variant(&Raw(&text))))
    };
    match exchange {
        Exchange::ClaimNext(_, claimed) => {
            let granted = (!claimed.grants.is_empty()).then_some("claim granted");
            let set_aside = (!claimed.set_aside.is_empty()).then_some("claim set aside");
            granted.into_iter().chain(set_aside).map(str::to_owned).collect()
        }
        Exchange::Renew(_, _, verdict) => vec![why(Refused::Renew, verdict)],
        Exchange::Save(_, verdict) => vec![why(Refused::Save, verdict)],
        Exchange::Release(_, verdict) => vec![why(Refused::Release, verdict)],
        Exchange::Fail(_, verdict) => vec![why(Refused::Fail, verdict)],
        Exchange::MarkBlocked(_, verdict) => vec![format!("blocked {}", variant(verdict))],
        Exchange::Act(_, action, verdict) => vec![format!("{} {}", action.word(), variant(verdict))],
        Exchange::Claim(..)
        | Exchange::RenewMany(..)
        | Exchange::Standing(..)
        | Exchange::Submit(..)
        | Exchange::Read => Vec::new(),
    }
}

/// Text that is its own debug text.
struct Raw<'a>(&'a str);

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

#[test]
fn the_histories_reach_every_kind_of_answer() {
    let mut runner = TestRunner::deterministic();
    let mut missed = expected();
    let histories = (proptest::num::u64::ANY, skews(), proptest::collection::vec(step(false), 40..60));
    for _ in 0..1_000 {
        let (seed, skews, steps) = histories.new_tree(&mut runner).unwrap().current();
        let mut world = World::new(seed, &skews, true);
        steps.iter().for_each(|step| world.take(step));
        for judged in world.journal() {
            for word in words(&judged.exchange) {
                missed.remove(&word);
            }
        }
        for attempt in world.attempts() {
            let outcome = attempt.outcome().map_or("none", AttemptOutcome::as_str);
            missed.remove(&format!("attempt {outcome}"));
        }
        if missed.is_empty() {
            return;
        }
    }
    panic!("never reached: {missed:?}");
}

/// Every answer and outcome that the histories have to bring about.
fn expected() -> BTreeSet<String> {
    let answers = [
        "claim granted",
        "claim set aside",
        "renew Renewed",
        "renew refused: Expired",
        "renew refused: Superseded",
        "renew refused: Finished",
        "renew refused: Released",
        "renew refused: Revoked",
        "save Saved",
        "save AlreadySaved",
        "save EffectRefused",
        "save refused: Expired",
        "save refused: Superseded",
        "save refused: ReceiptConflict",
        "save refused: PhaseConflict",
        "save refused: Revoked",
        "release Released",
        "release AlreadyReleased",
        "release refused: Superseded",
        "fail Failed",
        "fail AlreadyFailed",
        "fail refused: Superseded",
        "blocked Recorded",
        "blocked AlreadyEnded",
        "approve Done",
        "approve AlreadySo",
        "cancel Done",
        "pause Done",
        "reject Done",
        "resume Done",
        "retry Done",
        "revoke Done",
        "attempt none",
    ];
    let outcomes = AttemptOutcome::ALL.iter().map(|outcome| format!("attempt {outcome}"));
    answers.iter().map(|word| (*word).to_owned()).chain(outcomes).collect()
}
