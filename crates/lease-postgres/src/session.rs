//! What is looked at on a store's first connection: that what the store relies on is in force there,
//! whatever stands between it and the server.

use std::fmt;

use lease_core::StoreError;
use sqlx::{PgConnection, Row as _};

use crate::error::{self, Class};
use crate::settings::PgSettings;

/// Settings that the store asked for and that are not in force on its connection.
#[derive(Debug, thiserror::Error)]
pub struct NotInForce(pub Vec<Missing>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The setting.
    pub name: &'static str,
    /// What the store needs.
    pub wanted: String,
    /// What it found.
    pub found: String,
}

impl fmt::Display for NotInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pooler in between may have dropped what the connection asked for: ")?;
        for (at, Missing { name, wanted, found }) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{name} is {found:?} and not {wanted:?}")?;
        }
        f.write_str("; set them for the role:")?;
        for Missing { name, wanted, .. } in &self.0 {
            // The one list among them: quoted, it would be one name.
            let quote = if *name == "search_path" { "" } else { "'" };
            write!(f, " ALTER ROLE … SET {name} = {quote}{wanted}{quote};")?;
        }
        Ok(())
    }
}

/// A prepared statement of this connection is another connection's too.
#[derive(Debug, thiserror::Error)]
#[error(
    "a pooler in between lends one session of the server to many connections and does not keep their prepared statements \
     apart: use its session mode, turn on its prepared statements (PgBouncer from 1.21: max_prepared_statements), or \
     connect to the server itself"
)]
pub struct SharedSession(#[source] sqlx::Error);

/// Checks that the settings the store asked for are in force. A limit may also be shorter: it may come
/// from the role, for stores of several kinds.
pub(crate) async fn check(connection: &mut PgConnection, settings: &PgSettings) -> Result<(), StoreError> {
    let wanted = settings.of_session();
    let names: Vec<String> = wanted.iter().map(|(name, _)| (*name).to_owned()).collect();
    let rows = sqlx::query("SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY ($1)")
        .bind(names)
        .fetch_all(connection)
        .await
        .map_err(of_first_statement)?;
    let mut missing = Vec::new();
    for (name, wanted) in wanted {
        let mut found = String::new();
        for row in &rows {
            if row.try_get::<&str, _>("name").map_err(error::of_statement)? == name {
                found = row.try_get("setting").map_err(error::of_statement)?;
            }
        }
        if !wanted.is_met_by(&found) {
            missing.push(Missing { name, wanted: wanted.to_string(), found });
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(StoreError::Unexpected(Box::new(NotInForce(missing)))) }
}

/// The first statement of a connection can meet no prepared statement of its own.
fn of_first_statement(failed: sqlx::Error) -> StoreError {
    match error::class(&failed) {
        Class::Stale => StoreError::Unexpected(Box::new(SharedSession(failed))),
        Class::NotApplied
        | Class::Unknown
        | Class::Unreachable
        | Class::Schema
        | Class::Corrupt
        | Class::Constraint
        | Class::Data
        | Class::Unexpected => error::of_statement(failed),
    }
}
