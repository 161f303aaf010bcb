//! The statements as files: each can be prepared against the schema, says in three lines what it
//! does, keeps and reads, and runs on a generic plan.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use lease_postgres::STATEMENTS;
use sqlx::{AssertSqlSafe, Executor as _, SqlSafeStr as _};
use support::{Database, value};

#[tokio::test]
async fn every_statement_can_be_prepared_against_the_schema() {
    let database = Database::migrated().await;
    let mut session = database.session().await;
    for (name, statement) in STATEMENTS {
        let prepared = session.prepare(AssertSqlSafe(*statement).into_sql_str()).await;
        assert!(prepared.is_ok(), "{name}: {:?}", prepared.err());
    }
}

#[test]
fn every_file_is_a_statement_and_has_its_header() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the folder of the statements is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = STATEMENTS.iter().map(|(name, _)| format!("{name}.sql")).collect();
    assert_eq!(files, listed);
    for (name, statement) in STATEMENTS {
        let mut lines = statement.lines();
        let mut starts = |word: &str| lines.next().is_some_and(|line| line.starts_with(word));
        assert!(starts("-- ") && starts("-- Keeps: ") && starts("-- Clock: "), "{name} has no header");
        let code: String = statement.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        assert!(!code.contains("pg_catalog.clock_timestamp"), "{name}: tests could not move its clock");
        assert!(!code.contains("now()"), "{name} reads the instant its transaction began");
    }
}

/// `lease_expires_at` is in no index, index predicates included.
#[tokio::test]
async fn no_index_knows_the_expiry() {
    let database = Database::migrated().await;
    let query =
        "SELECT count(*) FROM pg_indexes WHERE schemaname = 'lease' AND indexdef LIKE '%lease_expires_at%'";
    assert_eq!(value::<i64>(&mut database.session().await, query).await, 0);
}
