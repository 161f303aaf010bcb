//! The database of a command line: where it is, and whether its schema fits.

use std::error::Error as StdError;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::sync::Arc;

use lease_core::{Document, Operator, RunReader, SchemaState, StoreError};
use lease_postgres::{InvalidUrl, PgSettings};
use lease_sqlite::{OpenError, Seal};
use supplier_runner::worker::WorkerStore;

use crate::any_store::AnyStore;
use crate::arguments::Common;
use crate::database_url::{DatabaseUrl, Place};
use crate::default_file;
use crate::error::Error;
use crate::output::note;

/// What a verb needs of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// It has to fit as it is.
    MustFit,
    /// It is brought up to date first.
    Migrate,
}

/// A connected database.
pub(crate) struct Database {
    url: DatabaseUrl,
    store: AnyStore,
}

impl Schema {
    /// What `--migrate` says.
    pub(crate) fn from_flag(migrate: bool) -> Self {
        if migrate { Self::Migrate } else { Self::MustFit }
    }
}

/// The database that is named, if one is.
fn named(common: &Common) -> Result<Option<DatabaseUrl>, Error> {
    let Some(url) = &common.database_url else { return Ok(None) };
    if url.secret().is_empty() {
        return Err(Error::EmptyUrl);
    }
    url.check()?;
    Ok(Some(url.clone()))
}

impl Database {
    /// Connects, and sees to it that the schema fits.
    ///
    /// # Errors
    /// When no database is named or it cannot be used, and when its schema does not fit.
    pub(crate) async fn open(common: &Common, settings: &PgSettings, schema: Schema) -> Result<Self, Error> {
        match schema {
            Schema::MustFit => {
                let database = Self::connect(common, settings).await?;
                database.check_schema(&database.schema_state().await?)?;
                Ok(database)
            }
            Schema::Migrate => {
                let database = Self::create(common, settings).await?;
                database.migrate().await?;
                Ok(database)
            }
        }
    }

    /// Connects, whatever the schema.
    ///
    /// # Errors
    /// When no database is named or it cannot be reached.
    pub(crate) async fn connect(common: &Common, settings: &PgSettings) -> Result<Self, Error> {
        match named(common)? {
            None => Self::default_file(settings).await,
            Some(url) => Self::at(url, settings, false).await,
        }
    }

    /// Connects, to a file that is made where it is missing.
    ///
    /// # Errors
    /// As for [`Database::connect`].
    pub(crate) async fn create(common: &Common, settings: &PgSettings) -> Result<Self, Error> {
        match named(common)? {
            None => Self::default_file(settings).await,
            Some(url) => Self::at(url, settings, true).await,
        }
    }

    /// The file in the user's data folder: made, brought up to date, and told of when it is new.
    async fn default_file(settings: &PgSettings) -> Result<Self, Error> {
        let path = default_file::path().ok_or(Error::NoDatabaseUrl)?;
        let folder = path.parent().expect("it lies in a folder of its own");
        let failed = |source| Error::System { doing: "make the folder for the runs' file", source };
        // Records hold bank details: they are for their owner's eyes only.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let is_new = made.is_ok();
        let database = Self::at(DatabaseUrl::of_file(&path), settings, true).await?;
        database.migrate().await?;
        if is_new {
            note(&format!("runs are kept in {} (--database-url chooses another place)", path.display()));
        }
        Ok(database)
    }

    async fn at(url: DatabaseUrl, settings: &PgSettings, create: bool) -> Result<Self, Error> {
        let connected = AnyStore::connect(&url, settings, create).await;
        let store = connected.map_err(|source| connect_error(&url, source))?;
        Ok(Self { url, store })
    }

    /// How the schema stands to this program.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn schema_state(&self) -> Result<SchemaState, Error> {
        self.store.schema_state().await.map_err(Error::store("read the schema's version"))
    }

    /// Brings the schema up to date.
    ///
    /// # Errors
    /// When the database is newer, or does not answer.
    pub(crate) async fn migrate(&self) -> Result<(), Error> {
        let state = self.schema_state().await?;
        match state {
            SchemaState::Current => Ok(()),
            SchemaState::Ahead { .. } | SchemaState::Altered { .. } => self.check_schema(&state),
            SchemaState::Missing | SchemaState::Behind { .. } => {
                self.store.migrate().await.map_err(Error::store("bring the schema up to date"))
            }
        }
    }

    /// Refuses a schema that does not fit.
    ///
    /// # Errors
    /// Unless the schema is current.
    pub(crate) fn check_schema(&self, state: &SchemaState) -> Result<(), Error> {
        let at = self.url.to_string();
        match state {
            SchemaState::Current => Ok(()),
            SchemaState::Missing => {
                Err(Error::NotMigrated { at, missing: "it has none of the tables".to_owned() })
            }
            SchemaState::Behind { table, at: step, wanted } => {
                let missing = format!("{table} stands at step {step} of {wanted}");
                Err(Error::NotMigrated { at, missing })
            }
            SchemaState::Ahead { table, at: step, known } => {
                let unknown =
                    format!("{table} stands at step {step}, and {known} is the last one known here");
                Err(Error::NewerDatabase { at, unknown })
            }
            SchemaState::Altered { table, version } => {
                let what =
                    format!("step {version} of {table} was taken with another text than this program has");
                Err(Error::AlteredDatabase { at, what })
            }
        }
    }

    /// Where it is, to connect again.
    pub(crate) fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// For reading.
    pub(crate) fn reader(&self) -> &dyn RunReader {
        self.store.reader()
    }

    /// Says so where the runs have moved, to whoever reads what is left.
    ///
    /// # Errors
    /// When the file does not answer.
    pub(crate) async fn tell_if_moved(&self) -> Result<(), Error> {
        let Some(file) = self.store.sqlite() else { return Ok(()) };
        let seal = file.sealed().await.map_err(Error::store("read the seal"))?;
        if let Some(seal) = seal.filter(|seal| seal.moved) {
            let Seal { destination, since, .. } = seal;
            note(&format!(
                "the runs of this file moved to {destination} at {since}: this is how they stood then"
            ));
        }
        Ok(())
    }

    /// The store itself.
    pub(crate) fn store(&self) -> &AnyStore {
        &self.store
    }

    /// The rows of the supplier's tables, by table.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn supplier_rows(&self) -> Result<Vec<(&'static str, Vec<Document>)>, Error> {
        self.store.supplier_rows().await.map_err(Error::store("read the supplier's tables"))
    }

    /// For operators' actions and submits.
    pub(crate) fn operator(&self) -> Arc<dyn Operator> {
        self.store.operator()
    }

    /// For a worker.
    pub(crate) fn worker_store(&self) -> Arc<dyn WorkerStore> {
        self.store.worker_store()
    }

    /// A failure to connect here again.
    pub(crate) fn connect_error(&self, source: StoreError) -> Error {
        connect_error(&self.url, source)
    }
}

fn connect_error(url: &DatabaseUrl, source: StoreError) -> Error {
    let cause = StdError::source(&source);
    if let Some(OpenError::NoFile(_)) = cause.and_then(|cause| cause.downcast_ref()) {
        return Error::NotMigrated { at: url.to_string(), missing: "there is no such file".to_owned() };
    }
    match cause.and_then(|cause| cause.downcast_ref::<InvalidUrl>()) {
        Some(invalid) => Error::InvalidUrl(invalid.clone()),
        None if matches!(url.place(), Place::File(_)) => Error::OpenFile(source),
        None if source.may_try_again() => Error::Connect { at: url.to_string(), source },
        None => Error::Store { doing: "use the database's sessions", source },
    }
}
