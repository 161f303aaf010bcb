//! The settings of the store's own sessions, as such a session sees them.
//!
//! They are asked for on the connection that a writer of effects is given, so that whatever the
//! store asks the server for is what pgbench gets too.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use lease_core::{Document, Effect, EffectKind, Effects, LeaseStore as _, Phase, Save, SaveVerdict};
use lease_postgres::{EffectError, EffectWriter, SavedPhase};
use sqlx::{PgConnection, Row as _};

use crate::rows;
use crate::trouble::Trouble;

/// The number of the run on which the save is made.
const ASKING: u64 = 400_000_000_000;

/// Reads settings instead of writing anything.
#[derive(Default)]
struct Reader(Mutex<Vec<(String, String)>>);

#[async_trait]
impl EffectWriter for Reader {
    async fn write(
        &self,
        connection: &mut PgConnection,
        _saved: &SavedPhase,
        _effects: &[Effect],
    ) -> Result<(), EffectError> {
        // What holds outside of the save's transaction, which has one setting of its own.
        let ask = "SELECT name, reset_val FROM pg_catalog.pg_settings
            WHERE source IN ('client', 'session') ORDER BY name";
        let mut found = Vec::new();
        for row in sqlx::query(ask).fetch_all(connection).await? {
            found.push((row.try_get("name")?, row.try_get("reset_val")?));
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(())
    }
}

/// Prints them.
pub(crate) async fn print(url: &str) -> Result<(), Trouble> {
    let (store, _session) = rows::clear(url).await?;
    let reader = Arc::new(Reader::default());
    let store = store.with_effects(reader.clone());
    let lease = rows::hold(&store, rows::open(&store, ASKING).await?).await?;
    let kind = EffectKind::new("settings").expect("a short plain word");
    let effects = Effects::new(vec![Effect { kind, body: Document::default() }]).expect("one effect");
    let save = Save::new(&lease, Phase::Submitted, rows::phase(1), rows::receipt(), effects, rows::ttl());
    let verdict = store.save(&save).await?;
    if !matches!(verdict, SaveVerdict::Saved(_)) {
        return Err(Trouble::Answer(format!("{verdict:?}")));
    }
    for (name, value) in reader.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("{name}={value}");
    }
    Ok(())
}
