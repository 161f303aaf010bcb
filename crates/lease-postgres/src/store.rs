//! The store: its connections and who writes effects.

use std::sync::Arc;

use lease_core::StoreError;
use sqlx::postgres::PgPool;

use crate::connections::Connections;
use crate::effect::{EffectWriter, SqlEffects};
use crate::settings::PgSettings;
use crate::turns::Turns;
use crate::url;

/// A store on PostgreSQL. Cheap to clone; clones share their connections.
///
/// Connections belong to the runtime that they were opened on: a heartbeat on a runtime of its own
/// connects by itself.
#[derive(Clone)]
pub struct PgStore {
    pub(crate) connections: Connections,
    pub(crate) effects: Arc<dyn EffectWriter>,
    pub(crate) turns: Turns,
}

impl PgStore {
    /// Connects once, and checks that the settings that the store relies on are in force. Further
    /// connections are opened when they are needed.
    ///
    /// The sessions ask for READ COMMITTED, UTC, a fixed `search_path`, the limits of `settings`, no
    /// JIT and generic plans, whatever the database's or role's defaults.
    ///
    /// # Errors
    /// `Unreachable` when no connection can be made; `Unexpected` when the URL cannot be used
    /// ([`crate::InvalidUrl`]) or a setting is not in force ([`crate::NotInForce`]).
    pub async fn connect(url: &str, settings: &PgSettings) -> Result<Self, StoreError> {
        let options = url::connect_options(url, settings)
            .map_err(|invalid| StoreError::Unexpected(Box::new(invalid)))?;
        Ok(Self::on(Connections::open(options, settings).await?))
    }

    /// A store on a pool of the caller's own. The caller sees to it that its connections are at READ
    /// COMMITTED, resolve built-in functions first, and have limits below the TTL; a pool with
    /// `test_before_acquire(false)` saves a round trip.
    #[must_use]
    pub fn from_pool(pool: PgPool) -> Self {
        Self::on(Connections::Lent(pool))
    }

    /// The same store, with effects written by `writer`. Without it, a save that carries effects is
    /// refused.
    #[must_use]
    pub fn with_effects(self, writer: Arc<dyn EffectWriter>) -> Self {
        Self { effects: writer, ..self }
    }

    fn on(connections: Connections) -> Self {
        Self { connections, effects: Arc::new(SqlEffects::default()), turns: Turns::default() }
    }
}
