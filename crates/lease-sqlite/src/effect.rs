//! Effects: rows for tables of the caller's own, written in the transaction of a save.
//!
//! Keeps ALL-OR-NOTHING: a writer is only called once the run's row was changed, and what it wrote is
//! undone unless the save is committed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use lease_core::{Effect, EffectKind, FencingToken, PhaseName, RunId, RunKey};
use sqlx::sqlite::SqliteConnection;

/// The save that effects go with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPhase {
    /// The run.
    pub run: RunId,
    /// Its key.
    pub key: RunKey,
    /// The phase that was saved.
    pub phase: PhaseName,
    /// The number it was saved with.
    pub fence: FencingToken,
}

/// Effects that could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EffectError {
    /// They cannot be written, now or later: the step's failure.
    #[error("{message}")]
    Refused {
        /// Why.
        message: String,
    },
    /// The database said no. Whether that is the step's failure or passes is read from its code.
    #[error("the database did not write the effect")]
    Database(#[from] sqlx::Error),
}

/// Writes effects.
#[async_trait]
pub trait EffectWriter: Send + Sync {
    /// Writes all `effects` of one save, in order, on the connection that has the save's transaction
    /// open. Must neither begin nor end a transaction, and must not wait for anything but the
    /// database: the whole file is locked for writing meanwhile.
    ///
    /// # Errors
    /// When one cannot be written; then none is, and the save does not land.
    ///
    /// # Cancel safety
    /// Not needed: the store runs this to its end.
    async fn write(
        &self,
        connection: &mut SqliteConnection,
        saved: &SavedPhase,
        effects: &[Effect],
    ) -> Result<(), EffectError>;
}

/// Effects written by one SQL statement per kind, with the parameters `?1` run (text), `?2` fence
/// (integer), `?3` key (text) and `?4` body (JSON text). A kind without a statement is refused.
#[derive(Debug, Clone, Default)]
pub struct SqlEffects(BTreeMap<EffectKind, &'static str>);

impl SqlEffects {
    /// Statements by kind.
    #[must_use]
    pub fn new(statements: impl IntoIterator<Item = (EffectKind, &'static str)>) -> Self {
        Self(statements.into_iter().collect())
    }
}

#[async_trait]
impl EffectWriter for SqlEffects {
    async fn write(
        &self,
        connection: &mut SqliteConnection,
        saved: &SavedPhase,
        effects: &[Effect],
    ) -> Result<(), EffectError> {
        for effect in effects {
            let Some(statement) = self.0.get(&effect.kind) else {
                let message =
                    format!("nothing is known here that writes effects of kind {}", effect.kind.as_str());
                return Err(EffectError::Refused { message });
            };
            sqlx::query(*statement)
                .bind(saved.run.to_string())
                .bind(saved.fence.to_column())
                .bind(saved.key.as_str().to_owned())
                .bind(effect.body.to_json())
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}
