//! The database of a command line: where it is, whether its schema fits, and what writes the
//! supplier's rows.

use std::error::Error as StdError;
use std::sync::{Arc, LazyLock};

use lease_core::{Document, EffectKind, History, Operator, RunReader, SchemaState, Step, StoreError};
use lease_postgres::{HISTORY, InvalidUrl, PgSettings, PgStore, SqlEffects};
use supplier_runner::tables::{POSTGRES_EFFECTS, POSTGRES_MIGRATIONS, POSTGRES_TABLES};
use supplier_runner::worker::WorkerStore;

use crate::arguments::Common;
use crate::database_url::DatabaseUrl;
use crate::error::Error;

/// The steps of the supplier's own tables.
static SUPPLIER_STEPS: LazyLock<Vec<Step>> = LazyLock::new(|| {
    let step = |&(version, name, sql): &(i64, &'static str, &'static str)| Step {
        version: u32::try_from(version).expect("migrations are numbered from 1"),
        name,
        sql,
    };
    POSTGRES_MIGRATIONS.iter().map(step).collect()
});

/// The history of the supplier's own tables.
static SUPPLIER_HISTORY: LazyLock<History> =
    LazyLock::new(|| History { table: "supplier.migrations", steps: &SUPPLIER_STEPS });

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
    store: Arc<PgStore>,
}

impl Schema {
    /// What `--migrate` says.
    pub(crate) fn from_flag(migrate: bool) -> Self {
        if migrate { Self::Migrate } else { Self::MustFit }
    }
}

impl Database {
    /// Connects, and sees to it that the schema fits.
    ///
    /// # Errors
    /// When no database is named or it cannot be used, and when its schema does not fit.
    pub(crate) async fn open(common: &Common, settings: &PgSettings, schema: Schema) -> Result<Self, Error> {
        let database = Self::connect(common, settings).await?;
        match schema {
            Schema::MustFit => database.check_schema(&database.schema_state().await?)?,
            Schema::Migrate => database.migrate().await?,
        }
        Ok(database)
    }

    /// Connects, whatever the schema.
    ///
    /// # Errors
    /// When no database is named or it cannot be reached.
    pub(crate) async fn connect(common: &Common, settings: &PgSettings) -> Result<Self, Error> {
        let url = common.database_url.clone().filter(|url| !url.secret().is_empty());
        let url = url.ok_or(Error::NoDatabaseUrl)?;
        url.check()?;
        let connected = PgStore::connect(url.secret(), settings).await;
        let store = connected.map_err(|source| connect_error(&url, source))?.with_effects(effects());
        Ok(Self { url, store: Arc::new(store) })
    }

    /// How the schema stands to this program.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn schema_state(&self) -> Result<SchemaState, Error> {
        self.store
            .schema_state(&[&HISTORY, &SUPPLIER_HISTORY])
            .await
            .map_err(Error::store("read the schema's version"))
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
            SchemaState::Missing | SchemaState::Behind { .. } => self
                .store
                .migrate(&[&HISTORY, &SUPPLIER_HISTORY])
                .await
                .map_err(Error::store("bring the schema up to date")),
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
        &*self.store
    }

    /// The rows of the supplier's tables, by table.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn supplier_rows(&self) -> Result<Vec<(&'static str, Vec<Document>)>, Error> {
        let mut tables = Vec::new();
        for table in POSTGRES_TABLES {
            let rows = self.store.documents(table.read).await;
            tables.push((table.name, rows.map_err(Error::store("read the supplier's tables"))?));
        }
        Ok(tables)
    }

    /// For operators' actions and submits.
    pub(crate) fn operator(&self) -> Arc<dyn Operator> {
        self.store.clone()
    }

    /// For a worker.
    pub(crate) fn worker_store(&self) -> Arc<dyn WorkerStore> {
        self.store.clone()
    }

    /// A failure to connect here again.
    pub(crate) fn connect_error(&self, source: StoreError) -> Error {
        connect_error(&self.url, source)
    }
}

/// What writes the rows of the supplier's tables.
fn effects() -> Arc<SqlEffects> {
    let kind = |word: &str| EffectKind::new(word).expect("the supplier's kinds keep the rule for kinds");
    Arc::new(SqlEffects::new(POSTGRES_EFFECTS.iter().map(|(word, sql)| (kind(word), *sql))))
}

fn connect_error(url: &DatabaseUrl, source: StoreError) -> Error {
    let cause = StdError::source(&source).and_then(|cause| cause.downcast_ref::<InvalidUrl>());
    match cause {
        Some(invalid) => Error::InvalidUrl(invalid.clone()),
        None if source.may_try_again() => Error::Connect { at: url.to_string(), source },
        None => Error::Store { doing: "use the database's sessions", source },
    }
}
