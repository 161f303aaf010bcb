//! The lease protocol on PostgreSQL.
//!
//! Every operation is one statement and one round trip, refusals included (a save with effects is a
//! transaction). The statements are the files in `sql/`; the tables are in `migrations/lease/`. Each
//! statement locks the run's row first and reads the clock after the lock, and judges that row and
//! nothing else: it is `lease_core::transition` written as SQL, and the conformance suite of
//! `lease-fake` holds both to the same rules.
//!
//! **Invariant:** nothing here knows suppliers. Rows of the caller's own come as effects, and an
//! [`EffectWriter`] writes them.

mod claim_row;
mod connections;
mod effect;
mod error;
mod history;
mod holder_row;
mod import;
mod leases;
mod listening;
mod migration;
mod operating;
mod reading;
mod renewing;
mod row;
mod rows;
mod run_row;
mod saving;
mod scratch;
mod session;
mod settings;
mod sql;
mod store;
mod turns;
mod url;

pub use effect::{EffectError, EffectWriter, SavedPhase, SqlEffects};
pub use error::{IdTaken, SentTwice};
pub use history::HISTORY;
pub use import::{Arrived, Import};
pub use scratch::{InvalidName, ScratchDatabase};
pub use session::{Missing, NotInForce, SharedSession};
pub use settings::PgSettings;
pub use sql::STATEMENTS;
pub use store::PgStore;
pub use url::InvalidUrl;
