//! The statements as files: each can be prepared against the schema, says in three lines what it
//! does, keeps and reads, and runs on a generic plan.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use lease_postgres::STATEMENTS;
use sqlx::{AssertSqlSafe, Executor as _, SqlSafeStr as _};
use support::{Database, execute, value};

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

/// Plans are made when tables may still be empty, and kept while they grow. Only the list of runs
/// goes through all of them, in the order of an index.
#[tokio::test]
async fn no_plan_reads_a_whole_table() {
    let database = Database::migrated().await;
    let mut session = database.session().await;
    // As the store's own sessions are set.
    let settings = "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off";
    execute(&mut session, settings).await;
    for (name, statement) in STATEMENTS {
        execute(&mut session, format!("PREPARE tested AS {statement}")).await;
        let types = "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'tested'";
        let parameters: i32 = value(&mut session, types).await;
        let nulls = vec!["NULL"; usize::try_from(parameters).expect("a count")].join(", ");
        let explain = format!("EXPLAIN (COSTS OFF) EXECUTE tested({nulls})");
        let plan: Vec<(String,)> =
            sqlx::query_as(AssertSqlSafe(explain)).fetch_all(&mut session).await.expect("a plan");
        let lines: Vec<&str> = plan.iter().map(|(line,)| line.as_str()).collect();
        let whole = whole_reads(&lines);
        let allowed = match *name {
            "list" => whole.iter().all(|line| line.contains("runs_submitted")),
            "stranded" => whole.iter().all(|line| line.contains(" plans")),
            // The index of held runs is small, and all of it is looked through.
            "claim_next" => whole.iter().all(|line| line.contains("runs_held")),
            _ => whole.is_empty(),
        };
        assert!(allowed, "{name} reads {whole:?} whole:\n{}", lines.join("\n"));
        execute(&mut session, "DEALLOCATE tested").await;
    }
}

/// Scans of a table without a condition that an index answers.
fn whole_reads<'p>(plan: &[&'p str]) -> Vec<&'p str> {
    let scans = plan.iter().enumerate().filter(|(at, line)| {
        let by_index = line.contains("Index Scan") || line.contains("Index Only Scan");
        let conditioned = plan.get(at + 1).is_some_and(|next| next.contains("Index Cond"));
        line.contains("Seq Scan on") || (by_index && !conditioned && !line.contains("Bitmap"))
    });
    scans.map(|(_, line)| *line).collect()
}
