//! A database for the demonstration alone: a file in a folder of its own, or a new database on the
//! server that was named.

use std::fs;
use std::path::PathBuf;

use lease_postgres::{PgSettings, ScratchDatabase};
use uuid::Uuid;

use crate::arguments::Common;
use crate::database_url::{DatabaseUrl, Place};
use crate::error::Error;

const DOING: &str = "make a database for the demonstration";

/// A database that is taken away at the end.
pub(super) struct Scratch {
    url: DatabaseUrl,
    kind: Kind,
}

enum Kind {
    Server(Box<ScratchDatabase>),
    Folder(PathBuf),
}

impl Scratch {
    /// Makes one.
    ///
    /// # Errors
    /// When the server that is named does not let the role make a database, or the system no folder.
    pub(super) async fn make(common: &Common, settings: &PgSettings) -> Result<Self, Error> {
        let name = format!("supplier_setup_demo_{}", Uuid::new_v4().simple());
        let given = common.database_url.clone().filter(|url| !url.secret().is_empty());
        if let Some(url) = &given {
            url.check()?;
        }
        match given.filter(|url| url.place() == Place::Server) {
            Some(url) => {
                let made = ScratchDatabase::create(url.secret(), &name, settings).await;
                let database = made.map_err(|source| {
                    if ScratchDatabase::is_forbidden(&source) {
                        Error::NoScratch(source)
                    } else {
                        Error::store(DOING)(source)
                    }
                })?;
                let Ok(url) = database.url().parse();
                Ok(Self { url, kind: Kind::Server(Box::new(database)) })
            }
            None => {
                let folder = std::env::temp_dir().join(name);
                fs::create_dir(&folder).map_err(|source| Error::System { doing: DOING, source })?;
                Ok(Self { url: DatabaseUrl::of_file(&folder.join("runs.db")), kind: Kind::Folder(folder) })
            }
        }
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
    /// When that cannot be done.
    pub(super) async fn remove(&self) -> Result<(), Error> {
        match &self.kind {
            Kind::Server(database) => {
                database.drop_it().await.map_err(Error::store("drop the demonstration's database"))
            }
            Kind::Folder(folder) => fs::remove_dir_all(folder)
                .map_err(|source| Error::System { doing: "take away the demonstration's folder", source }),
        }
    }
}
