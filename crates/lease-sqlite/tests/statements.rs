//! Every statement fits the schema that the migrations make, and no plan goes through all runs to
//! claim or to renew.

mod support;

use lease_sqlite::STATEMENTS;
use sqlx::{AssertSqlSafe, Executor as _, Row as _, SqlSafeStr as _};
use support::{SqliteHarness, session};

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let harness = SqliteHarness::open().await;
    let mut connection = session(&harness.path).await;
    for (name, sql) in STATEMENTS {
        let prepared = connection.prepare(AssertSqlSafe(sql.to_string()).into_sql_str()).await;
        prepared.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[tokio::test]
async fn what_is_claimed_and_renewed_is_found_by_indexes() {
    let harness = SqliteHarness::open().await;
    let mut connection = session(&harness.path).await;
    for name in ["claimable", "next_look", "hold", "renew"] {
        let sql = STATEMENTS.iter().find(|(file, _)| *file == name).expect("the statement is there").1;
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = sqlx::query(explain).bind("[]").bind("[]").bind(1).fetch_all(&mut connection).await;
        for row in rows.expect("it can be explained") {
            let detail: String = row.get("detail");
            let by_index =
                !detail.starts_with("SCAN r") || detail.contains("USING") && detail.contains("INDEX");
            assert!(by_index, "{name}: {detail}");
        }
    }
}
