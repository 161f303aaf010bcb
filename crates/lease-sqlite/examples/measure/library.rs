//! The store's own statements, in the same order and in the same kind of transaction, through SQLite's
//! library and nothing else: what an operation costs at the least.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, Statement, params};

use crate::Operation;
use crate::rows::{self, Place};
use crate::trouble::Trouble;

/// The columns of `write_run`, in its order, from ?6 on.
const WRITTEN: [&str; 15] = [
    "phase",
    "phase_fence",
    "phase_owner",
    "phase_digest",
    "status",
    "paused",
    "fence",
    "owner",
    "lease_expires_us",
    "lease_ended",
    "losses",
    "failures",
    "due_us",
    "key_epoch",
    "error",
];

/// Longer than anybody has the file for himself.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens the file as the store does: renewals need not reach the disk.
pub(crate) fn open(file: &Path, operation: Operation) -> Result<Connection, Trouble> {
    let connection = Connection::open(file)?;
    let synchronous = if operation == Operation::Renew { "NORMAL" } else { "FULL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// What rises by one with every claim, and with every save.
pub(crate) fn evidence(connection: &Connection, operation: Operation) -> Result<i64, Trouble> {
    let ask = match operation {
        Operation::Claim => "SELECT sum(fence) FROM lease_runs",
        Operation::Renew | Operation::Save => "SELECT count(*) FROM lease_receipts",
    };
    Ok(connection.query_row(ask, [], |row| row.get(0))?)
}

/// The statements, prepared once.
pub(crate) struct Library<'c> {
    begin: Statement<'c>,
    commit: Statement<'c>,
    clock: Statement<'c>,
    run: Statement<'c>,
    hold: Statement<'c>,
    renew: Statement<'c>,
    write_run: Statement<'c>,
    supersede: Statement<'c>,
    open_attempt: Statement<'c>,
    add_receipt: Statement<'c>,
    owner: String,
    receipt: String,
    ttl_us: i64,
}

impl<'c> Library<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self, Trouble> {
        let prepare = |name: &str| {
            let text = lease_sqlite::STATEMENTS.iter().find(|(found, _)| *found == name);
            connection.prepare(text.expect("a statement of the store").1)
        };
        Ok(Self {
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            clock: prepare("clock")?,
            run: prepare("run")?,
            hold: prepare("hold")?,
            renew: prepare("renew")?,
            write_run: prepare("write_run")?,
            supersede: prepare("supersede_attempts")?,
            open_attempt: prepare("open_attempt")?,
            add_receipt: prepare("add_receipt")?,
            owner: rows::owner().as_str().to_owned(),
            receipt: rows::receipt().to_json(),
            ttl_us: rows::ttl().as_millis() * 1_000,
        })
    }

    pub(crate) fn claim(&mut self, place: Place) -> Result<(), Trouble> {
        let run = rows::run(place.run).to_string();
        self.begin.execute([])?;
        let mut found = self.read(&run)?;
        let (fence, now) = (found.number("fence")? + 1, found.now);
        let was = found.clone();
        found.set("fence", Value::Integer(fence));
        found.set("owner", Value::Text(self.owner.clone()));
        found.set("lease_expires_us", Value::Integer(now + self.ttl_us));
        found.set("lease_ended", Value::Null);
        self.write(&run, &was, &found)?;
        self.supersede.execute(params![run, fence - 1, now])?;
        one(
            "open_attempt",
            self.open_attempt.execute(params![run, fence, self.owner, now, found.get("phase")])?,
        )?;
        self.end()
    }

    pub(crate) fn renew(&mut self, place: Place) -> Result<(), Trouble> {
        let lease = rows::held(place.run);
        let leases = serde_json::json!([[lease.run.to_string(), self.owner, lease.fence.to_column()]]);
        let leases = leases.to_string();
        self.begin.execute([])?;
        let held = |row: &Row<'_>| Ok((row.get::<_, i64>("fence")?, row.get::<_, i64>("now_us")?));
        let (_fence, now) = self.hold.query_row([&leases], held)?;
        let renewed = |row: &Row<'_>| row.get::<_, i64>("lease_expires_us");
        let expiry = self.renew.query_row(params![leases, self.ttl_us], renewed)?;
        if expiry < now + self.ttl_us {
            return Err(Trouble::Answer(format!("a lease until {expiry}, read at {now}")));
        }
        self.end()
    }

    pub(crate) fn save(&mut self, place: Place) -> Result<(), Trouble> {
        let run = rows::run(place.run).to_string();
        let save = rows::save(&rows::held(place.run), place.phase);
        self.begin.execute([])?;
        let mut found = self.read(&run)?;
        let (fence, now) = (found.number("fence")?, found.now);
        let was = found.clone();
        found.set("phase", Value::Text(save.to().as_str().to_owned()));
        found.set("phase_fence", Value::Integer(fence));
        found.set("phase_owner", Value::Text(self.owner.clone()));
        found.set("phase_digest", Value::Text(save.digest().to_string()));
        found.set("lease_expires_us", Value::Integer(now + self.ttl_us));
        self.write(&run, &was, &found)?;
        let added = self.add_receipt.execute(params![run, save.to().as_str(), fence, self.receipt, now])?;
        one("add_receipt", added)?;
        self.end()
    }

    fn read(&mut self, run: &str) -> Result<Found, Trouble> {
        let read = |row: &Row<'_>| {
            let columns = WRITTEN.iter().map(|name| row.get(*name)).collect::<Result<_, _>>()?;
            Ok(Found { columns, now: row.get("now_us")? })
        };
        Ok(self.run.query_row([run], read)?)
    }

    fn write(&mut self, run: &str, was: &Found, is: &Found) -> Result<(), Trouble> {
        let found = ["fence", "owner", "lease_expires_us", "phase"].map(|name| was.get(name).clone());
        let values =
            std::iter::once(Value::Text(run.to_owned())).chain(found).chain(is.columns.iter().cloned());
        one("write_run", self.write_run.execute(rusqlite::params_from_iter(values))?)
    }

    fn end(&mut self) -> Result<(), Trouble> {
        self.commit.execute([])?;
        let _now: i64 = self.clock.query_row([], |row| row.get(0))?;
        Ok(())
    }
}

/// A run's columns as they are written.
#[derive(Debug, Clone)]
struct Found {
    columns: Vec<Value>,
    now: i64,
}

impl Found {
    fn get(&self, name: &str) -> &Value {
        &self.columns[index(name)]
    }

    fn number(&self, name: &str) -> Result<i64, Trouble> {
        let value = self.get(name);
        let Value::Integer(number) = value else {
            return Err(Trouble::Answer(format!("{name} is {value:?}")));
        };
        Ok(*number)
    }

    fn set(&mut self, name: &str, value: Value) {
        self.columns[index(name)] = value;
    }
}

fn index(name: &str) -> usize {
    WRITTEN.iter().position(|found| *found == name).expect("a column that is written")
}

fn one(statement: &'static str, rows: usize) -> Result<(), Trouble> {
    if rows == 1 { Ok(()) } else { Err(Trouble::Rows { statement, rows }) }
}
