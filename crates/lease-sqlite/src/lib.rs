//! The lease protocol in one SQLite file.
//!
//! Every operation is one transaction: it takes the file's write lock first, then reads the run's row
//! together with the store's clock, lets `lease_core::transition` decide, and writes what that says. A
//! renewal is written where its lease is found held, and `lease_core` judges what was found and written.
//! The statements are the files in `sql/`; the tables are in `migrations/lease-sqlite/`. The
//! conformance suite of `lease-fake` holds this store to the same rules as the others.
//!
//! **Invariant:** there are no rules here. What an operation does to a run is decided by `lease-core`.
//!
//! **Invariant:** nothing here knows suppliers. Rows of the caller's own come as effects, and an
//! [`EffectWriter`] writes them.

#![doc = include_str!("../README.md")]

mod act;
mod beat;
mod connections;
mod documents;
mod effect;
mod error;
mod history;
mod lease;
mod location;
mod migration;
mod read;
mod request;
mod row;
mod seal;
mod settings;
mod sql;
mod store;
mod transaction;
mod write;

pub use effect::{EffectError, EffectWriter, SavedPhase, SqlEffects};
pub use error::{Failed, Sealed};
pub use history::HISTORY;
pub use location::OpenError;
pub use seal::{LiveLease, Seal};
pub use settings::SqliteSettings;
pub use sql::STATEMENTS;
pub use store::SqliteStore;
