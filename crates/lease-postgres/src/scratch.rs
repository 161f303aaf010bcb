//! A database of one's own on a server, for demonstrations and tests, dropped at the end.

use lease_core::StoreError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

use crate::error;
use crate::settings::PgSettings;
use crate::url;

/// A database that was made for one purpose. [`ScratchDatabase::drop_it`] takes it away again; a
/// value that is merely dropped leaves it behind.
#[derive(Debug)]
pub struct ScratchDatabase {
    server: PgConnectOptions,
    name: String,
    url: String,
}

/// A name that a scratch database cannot have.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a name of 1 to 63 small letters, digits and underscores")]
pub struct InvalidName(pub String);

impl ScratchDatabase {
    /// Makes a database with this name on the server that `url` names. The role needs the right to
    /// create databases.
    ///
    /// # Errors
    /// `Unexpected` when the URL or the name cannot be used or the role may not create databases;
    /// `Unreachable` when the server cannot be reached.
    ///
    /// # Cancel safety
    /// A dropped future may leave the database behind.
    pub async fn create(url: &str, name: &str, settings: &PgSettings) -> Result<Self, StoreError> {
        let plain = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
        if name.is_empty() || name.len() > 63 || !name.bytes().all(plain) {
            return Err(StoreError::Unexpected(Box::new(InvalidName(name.to_owned()))));
        }
        let server = url::connect_options(url, settings)
            .map_err(|invalid| StoreError::Unexpected(Box::new(invalid)))?;
        let scratch = Self { url: url::on_database(url, name), name: name.to_owned(), server };
        scratch.on_server(format!("CREATE DATABASE {name}")).await?;
        Ok(scratch)
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Drops it, whoever is connected to it.
    ///
    /// # Errors
    /// Where the server does not do it.
    ///
    /// # Cancel safety
    /// A dropped future may leave the database behind; this can be called again.
    pub async fn drop_it(&self) -> Result<(), StoreError> {
        self.on_server(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await
    }

    /// Whether an error of [`ScratchDatabase::create`] says that the role may not create databases.
    #[must_use]
    pub fn is_forbidden(error: &StoreError) -> bool {
        let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<sqlx::Error>());
        let code = cause.and_then(|cause| cause.as_database_error()).and_then(|database| database.code());
        code.as_deref() == Some("42501")
    }

    async fn on_server(&self, statement: String) -> Result<(), StoreError> {
        let mut connection = self.server.connect().await.map_err(error::of_connecting)?;
        // Copying the template takes its time on a slow disk.
        connection.execute("SET statement_timeout = '30s'").await.map_err(error::of_statement)?;
        connection.execute(AssertSqlSafe(statement)).await.map_err(error::of_statement)?;
        Ok(())
    }
}
