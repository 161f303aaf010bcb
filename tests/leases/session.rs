//! Somebody's open database session, as in psql: statements run one by one, and what it locks stays
//! locked until it commits, rolls back or is dropped.

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime::{Builder, Runtime};

use crate::support::Database;

/// An open session.
pub(crate) struct Session {
    connection: PgConnection,
    runtime: Runtime,
}

impl Session {
    /// Connects.
    pub(crate) fn open(database: &Database) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let connection = runtime.block_on(PgConnection::connect(database.url())).unwrap();
        Self { connection, runtime }
    }

    /// Runs statements.
    pub(crate) fn run(&mut self, sql: &str) {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        self.runtime.block_on(sql.execute(&mut self.connection)).unwrap();
    }
}
