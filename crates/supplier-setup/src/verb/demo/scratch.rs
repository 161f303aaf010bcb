//! A database for the demonstration alone: a new one on the server that was named.

use lease_postgres::{PgSettings, ScratchDatabase};
use uuid::Uuid;

use crate::arguments::Common;
use crate::database_url::DatabaseUrl;
use crate::error::Error;

const DOING: &str = "make a database for the demonstration";

/// A database that is taken away at the end.
pub(super) struct Scratch {
    database: ScratchDatabase,
    url: DatabaseUrl,
}

impl Scratch {
    /// Makes one.
    ///
    /// # Errors
    /// When no server is named, or it does not let the role make a database.
    pub(super) async fn make(common: &Common, settings: &PgSettings) -> Result<Self, Error> {
        let url = common.database_url.clone().filter(|url| !url.secret().is_empty());
        let url = url.ok_or(Error::NoDatabaseUrl)?;
        url.check()?;
        let name = format!("supplier_setup_demo_{}", Uuid::new_v4().simple());
        let made = ScratchDatabase::create(url.secret(), &name, settings).await;
        let database = made.map_err(|source| {
            if ScratchDatabase::is_forbidden(&source) {
                Error::NoScratch(source)
            } else {
                Error::store(DOING)(source)
            }
        })?;
        let Ok(url) = database.url().parse();
        Ok(Self { database, url })
    }

    /// Where it is.
    pub(super) fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// What it is, in words.
    pub(super) fn describe(&self) -> String {
        format!("the database {}", self.url)
    }

    /// Takes it away.
    ///
    /// # Errors
    /// When the server does not do it.
    pub(super) async fn remove(&self) -> Result<(), Error> {
        self.database.drop_it().await.map_err(Error::store("drop the demonstration's database"))
    }
}
