//! Everything that is kept, here and there, and where it differs first.

use lease_core::{RunFilter, RunId, RunReader as _, RunRecord, StoreError, written_out};
use serde_json::{Value, json};

use super::levers::Levers;
use super::{RUNS, plan_like};
use crate::conformance::Store;
use crate::conformance::words::id;
use crate::{EffectRow, FakeStore, Stored};

/// Everything that the rules keep, as [`Levers::everything`] tells it.
pub(super) fn by_the_rules(fake: &FakeStore) -> Value {
    let runs = (1..=RUNS).filter_map(|number| fake.stored(id(number))).map(|stored| {
        let Stored { run, receipts, attempts, actions, mut effects } = stored;
        let note = |effect: &EffectRow| effect.body.fields().get("note").map(Value::to_string);
        effects.sort_by_key(|effect| (effect.fence, note(effect)));
        let effects = effects
            .iter()
            .map(|effect| json!({ "note": effect.body.fields().get("note"), "fence": effect.fence.get() }));
        let effects = Value::Array(effects.collect());
        let mut value = RunRecord { run, receipts, attempts, actions }.to_value();
        value["effects"] = effects;
        value
    });
    Value::Array(runs.collect())
}

/// Where what the store keeps differs from what the rules do.
pub(super) async fn difference(levers: &dyn Levers, fake: &FakeStore) -> Option<String> {
    between(&written_out(levers.everything().await), &by_the_rules(fake))
}

/// Where two states differ first.
pub(super) fn between(real: &Value, fake: &Value) -> Option<String> {
    (real != fake).then(|| first_difference("runs", real, fake))
}

fn first_difference(path: &str, real: &Value, fake: &Value) -> String {
    match (real, fake) {
        (Value::Array(reals), Value::Array(fakes)) if reals.len() == fakes.len() => {
            let places = reals.iter().zip(fakes).enumerate().find(|(_, (real, fake))| real != fake);
            if let Some((place, (real, fake))) = places {
                return first_difference(&format!("{path}[{place}]"), real, fake);
            }
        }
        (Value::Object(reals), Value::Object(fakes)) if reals.keys().eq(fakes.keys()) => {
            let names = reals.iter().zip(fakes.values()).find(|((_, real), fake)| real != fake);
            if let Some(((name, real), fake)) = names {
                return first_difference(&format!("{path}.{name}"), real, fake);
            }
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => {}
    }
    format!("{path} is kept as {real}, and by the rules it is {fake}")
}

/// Where what the store's own reads answer differs from what the fake's do.
pub(super) async fn ports_differ(store: &dyn Store, fake: &FakeStore) -> Result<Option<String>, StoreError> {
    macro_rules! same {
        ($method:ident($($argument:expr),*)) => {
            let (real, fake) = (store.$method($($argument),*).await?, fake.$method($($argument),*).await?);
            if real != fake {
                let asked = format!("{}{:?}", stringify!($method), ($($argument,)*));
                return Ok(Some(format!("{asked} is answered {real:?}, and by the rules {fake:?}")));
            }
        };
    }
    let runs: Vec<RunId> = (1..=RUNS + 1).map(id).collect();
    for run in runs {
        same!(view(run));
        same!(receipts(run));
        same!(attempts(run));
        same!(actions(run));
    }
    same!(stranded(&[plan_like("plan", "").id.digest]));
    same!(runs_after(None::<RunId>, 100));
    same!(runs_after(Some(id(2)), 2));
    // Runs that were submitted in the same instant have no order among themselves.
    let all = RunFilter { limit: 100, ..RunFilter::default() };
    let (mut real, mut by_rules) = (store.list(&all).await?, fake.list(&all).await?);
    for page in [&mut real, &mut by_rules] {
        page.runs.sort_by_key(|view| view.run.id);
    }
    Ok((real != by_rules).then(|| format!("list is answered {real:?}, and by the rules {by_rules:?}")))
}
