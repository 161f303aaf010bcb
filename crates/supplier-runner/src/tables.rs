//! The supplier's tables: how they are made and how a step's rows are written, as SQL text.
//!
//! The text is data that a store is handed; nothing here talks to a database. ALL-OR-NOTHING is the
//! store's: it runs an effect's statement in the transaction of the save that carries it. A second
//! row for one supplier is a violated key and so the step's failure, never passed over in silence.

/// The effect that writes a row of `supplier.setups`.
pub const SETUP: &str = "supplier.setup";
/// The effect that writes a row of `supplier.purchase_accounts`.
pub const PURCHASE_ACCOUNT: &str = "supplier.purchase_account";

/// For each kind of effect the PostgreSQL statement that writes it. It takes `$1` the run (`uuid`),
/// `$2` the fencing token (`bigint`), `$3` the run's key (`text`) and `$4` the body (`jsonb`).
pub const POSTGRES_EFFECTS: &[(&str, &str)] = &[
    (SETUP, include_str!("../sql/postgres/write_setup.sql")),
    (PURCHASE_ACCOUNT, include_str!("../sql/postgres/open_purchase_account.sql")),
];

/// One of the supplier's tables, to be read as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name, as operators write it.
    pub name: &'static str,
    /// The query that returns its rows in the order of their keys, each as a JSON object in one text
    /// column `document`.
    pub read: &'static str,
}

/// The tables on PostgreSQL.
pub const POSTGRES_TABLES: &[Table] = &[
    Table { name: "supplier.setups", read: include_str!("../sql/postgres/read_setups.sql") },
    Table {
        name: "supplier.purchase_accounts",
        read: include_str!("../sql/postgres/read_purchase_accounts.sql"),
    },
];

/// The tables' history on PostgreSQL: version, name and SQL, in order.
pub const POSTGRES_MIGRATIONS: &[(i64, &str, &str)] =
    &[(1, "create_setups", include_str!("../../../migrations/supplier/0001_create_setups.sql"))];

/// For each kind of effect the SQLite statement that writes it, with the same parameters: `?1` the run
/// (text), `?2` the fencing token, `?3` the run's key and `?4` the body (JSON text).
pub const SQLITE_EFFECTS: &[(&str, &str)] = &[
    (SETUP, include_str!("../sql/sqlite/write_setup.sql")),
    (PURCHASE_ACCOUNT, include_str!("../sql/sqlite/open_purchase_account.sql")),
];

/// The statements that take in rows of the tables on PostgreSQL from another store, in the order of
/// [`POSTGRES_TABLES`]: each takes a row as `$1` (`jsonb`), in the form in which [`Table::read`] gives it.
pub const POSTGRES_IMPORTS: &[&str] = &[
    include_str!("../sql/postgres/import_setup.sql"),
    include_str!("../sql/postgres/import_purchase_account.sql"),
];

/// The tables in SQLite, in the order of [`POSTGRES_TABLES`].
pub const SQLITE_TABLES: &[Table] = &[
    Table { name: "supplier_setups", read: include_str!("../sql/sqlite/read_setups.sql") },
    Table {
        name: "supplier_purchase_accounts",
        read: include_str!("../sql/sqlite/read_purchase_accounts.sql"),
    },
];

/// The tables' history in SQLite: version, name and SQL, in order.
pub const SQLITE_MIGRATIONS: &[(i64, &str, &str)] =
    &[(1, "create_setups", include_str!("../../../migrations/supplier-sqlite/0001_create_setups.sql"))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_statement_says_what_it_keeps_and_which_clock_it_reads() {
        for (kind, sql) in POSTGRES_EFFECTS.iter().chain(SQLITE_EFFECTS) {
            let lines: Vec<&str> = sql.lines().take(4).collect();
            assert!(lines[0].starts_with("-- "), "{kind}");
            assert!(lines[1].starts_with("-- Keeps: ALL-OR-NOTHING"), "{kind}");
            assert!(lines[2].starts_with("-- Clock: "), "{kind}");
            assert!(!sql.contains("ON CONFLICT"), "{kind}");
        }
    }

    #[test]
    fn migrations_are_numbered_without_a_gap() {
        for migrations in [POSTGRES_MIGRATIONS, SQLITE_MIGRATIONS] {
            let numbers: Vec<i64> = migrations.iter().map(|(number, ..)| *number).collect();
            assert_eq!(numbers, (1..).take(numbers.len()).collect::<Vec<i64>>());
        }
    }
}
