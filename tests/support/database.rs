//! A database of a test's own, dropped with it.

use std::env;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, Row};
use tokio::runtime::{Builder, Runtime};
use url::Url;
use uuid::Uuid;

use super::Program;

/// A fresh database.
pub(crate) struct Database {
    server: Url,
    url: Url,
    name: String,
    runtime: Runtime,
}

impl Database {
    /// An empty one.
    pub(crate) fn empty() -> Self {
        let server = env::var("DATABASE_URL").expect("DATABASE_URL names a server: run cargo xtask test");
        let server = Url::parse(&server).expect("DATABASE_URL is a URL");
        let name = format!("e2e_{}", Uuid::new_v4().simple());
        let mut url = server.clone();
        url.set_path(&name);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let database = Self { server, url, name, runtime };
        database.run_on(&database.server, &format!("CREATE DATABASE {} TEMPLATE template0", database.name));
        database
    }

    /// One with the program's tables.
    pub(crate) fn migrated() -> Self {
        let database = Self::empty();
        database.program().args(["migrate"]).end().expect_code(0);
        database
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The program, with this database in its environment.
    pub(crate) fn program(&self) -> Program {
        Program::new().env("DATABASE_URL", self.url())
    }

    /// Executes statements.
    pub(crate) fn execute(&self, sql: &str) {
        self.run_on(&self.url, sql);
    }

    /// The number that a query gives.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.rows(sql).first().and_then(|row| row.parse().ok()).unwrap_or_else(|| panic!("no number: {sql}"))
    }

    /// The rows of a query with one column, as text.
    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        let sql = format!("SELECT q.c::text FROM ({sql}) AS q (c)");
        self.runtime.block_on(async {
            let mut connection = connect(&self.url).await;
            let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap();
            rows.iter().map(|row| row.get::<Option<String>, _>(0).unwrap_or_default()).collect()
        })
    }

    fn run_on(&self, url: &Url, sql: &str) {
        self.runtime.block_on(async {
            let mut connection = connect(url).await;
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        });
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.run_on(&self.server, &format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

async fn connect(url: &Url) -> PgConnection {
    let options: PgConnectOptions = url.as_str().parse().unwrap();
    options.disable_statement_logging().connect().await.unwrap()
}
