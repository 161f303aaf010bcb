//! The store of a command line: on a PostgreSQL server or in an SQLite file. Everything else in the
//! program asks this and does not care.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use lease_core::{
    Document, EffectKind, History, Operator, Renewals, RunReader, SchemaState, Step, StoreError,
};
use lease_postgres::{PgSettings, PgStore};
use lease_sqlite::{SqliteSettings, SqliteStore};
use supplier_runner::tables::{
    POSTGRES_EFFECTS, POSTGRES_MIGRATIONS, POSTGRES_TABLES, SQLITE_EFFECTS, SQLITE_MIGRATIONS, SQLITE_TABLES,
};
use supplier_runner::worker::WorkerStore;

use crate::database_url::{DatabaseUrl, Place};

type Migration = (i64, &'static str, &'static str);

/// The histories of the supplier's own tables.
static POSTGRES: LazyLock<History> =
    LazyLock::new(|| History { table: "supplier.migrations", steps: steps(POSTGRES_MIGRATIONS) });
static SQLITE: LazyLock<History> =
    LazyLock::new(|| History { table: "supplier_migrations", steps: steps(SQLITE_MIGRATIONS) });

fn steps(migrations: &'static [Migration]) -> &'static [Step] {
    let step = |&(version, name, sql): &Migration| Step {
        version: u32::try_from(version).expect("migrations are numbered from 1"),
        name,
        sql,
    };
    // Made once and kept for the program's life, as the port wants it.
    Vec::leak(migrations.iter().map(step).collect())
}

/// A connected store.
#[derive(Clone)]
pub(crate) enum AnyStore {
    Postgres(Arc<PgStore>),
    Sqlite(Arc<SqliteStore>),
}

impl AnyStore {
    /// Connects, whatever the schema. A file is made where it is missing only if `create`.
    ///
    /// # Errors
    /// When the store cannot be reached or used.
    pub(crate) async fn connect(
        url: &DatabaseUrl,
        settings: &PgSettings,
        create: bool,
    ) -> Result<Self, StoreError> {
        let kind = |word: &str| EffectKind::new(word).expect("the supplier's kinds keep the rule for kinds");
        match url.place() {
            Place::Server => {
                let effects = POSTGRES_EFFECTS.iter().map(|(word, sql)| (kind(word), *sql));
                let store = PgStore::connect(url.secret(), settings).await?;
                let store = store.with_effects(Arc::new(lease_postgres::SqlEffects::new(effects)));
                Ok(Self::Postgres(Arc::new(store)))
            }
            Place::File(path) => {
                let effects = SQLITE_EFFECTS.iter().map(|(word, sql)| (kind(word), *sql));
                let store = open(&path, settings, create).await?;
                let store = store.with_effects(Arc::new(lease_sqlite::SqlEffects::new(effects)));
                Ok(Self::Sqlite(Arc::new(store)))
            }
        }
    }

    /// How the schema stands to this program.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(crate) async fn schema_state(&self) -> Result<SchemaState, StoreError> {
        match self {
            Self::Postgres(store) => store.schema_state(&[&lease_postgres::HISTORY, &POSTGRES]).await,
            Self::Sqlite(store) => store.schema_state(&[&lease_sqlite::HISTORY, &SQLITE]).await,
        }
    }

    /// Brings the schema up to date.
    ///
    /// # Errors
    /// When the store is newer, or does not answer.
    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        match self {
            Self::Postgres(store) => store.migrate(&[&lease_postgres::HISTORY, &POSTGRES]).await,
            Self::Sqlite(store) => store.migrate(&[&lease_sqlite::HISTORY, &SQLITE]).await,
        }
    }

    /// The rows of the supplier's tables, by table.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(crate) async fn supplier_rows(&self) -> Result<Vec<(&'static str, Vec<Document>)>, StoreError> {
        let mut tables = Vec::new();
        match self {
            Self::Postgres(store) => {
                for table in POSTGRES_TABLES {
                    tables.push((table.name, store.documents(table.read).await?));
                }
            }
            Self::Sqlite(store) => {
                for table in SQLITE_TABLES {
                    tables.push((table.name, store.documents(table.read).await?));
                }
            }
        }
        Ok(tables)
    }

    /// The file's store, where it is one.
    pub(crate) fn sqlite(&self) -> Option<&SqliteStore> {
        match self {
            Self::Postgres(_) => None,
            Self::Sqlite(store) => Some(store),
        }
    }

    /// The server's store, where it is one.
    pub(crate) fn postgres(&self) -> Option<&PgStore> {
        match self {
            Self::Postgres(store) => Some(store),
            Self::Sqlite(_) => None,
        }
    }

    /// For reading.
    pub(crate) fn reader(&self) -> &dyn RunReader {
        match self {
            Self::Postgres(store) => &**store,
            Self::Sqlite(store) => &**store,
        }
    }

    /// For operators' actions and submits.
    pub(crate) fn operator(&self) -> Arc<dyn Operator> {
        match self {
            Self::Postgres(store) => Arc::clone(store) as _,
            Self::Sqlite(store) => Arc::clone(store) as _,
        }
    }

    /// For a worker.
    pub(crate) fn worker_store(&self) -> Arc<dyn WorkerStore> {
        match self {
            Self::Postgres(store) => Arc::clone(store) as _,
            Self::Sqlite(store) => Arc::clone(store) as _,
        }
    }

    /// For a worker's heartbeats.
    pub(crate) fn renewals(&self) -> Arc<dyn Renewals> {
        match self {
            Self::Postgres(store) => Arc::clone(store) as _,
            Self::Sqlite(store) => Arc::clone(store) as _,
        }
    }
}

async fn open(path: &Path, settings: &PgSettings, create: bool) -> Result<SqliteStore, StoreError> {
    // What a statement may wait for a lock there, a request may wait for the file here.
    let settings = SqliteSettings { busy_limit: settings.lock_timeout };
    if create {
        SqliteStore::open_or_create(path, &settings).await
    } else {
        SqliteStore::open(path, &settings).await
    }
}
