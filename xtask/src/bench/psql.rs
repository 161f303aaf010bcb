//! Asks the server, through psql.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::chore::Failure;
use crate::server::PrivateServer;

use super::program::output;

/// How long the server may take until a number is what it has to be.
const PATIENCE: Duration = Duration::from_secs(10);

/// One database, asked anew each time.
pub(super) struct Psql<'s> {
    server: &'s PrivateServer,
    database: String,
}

impl<'s> Psql<'s> {
    pub(super) fn new(server: &'s PrivateServer, database: &str) -> Self {
        Self { server, database: database.to_owned() }
    }

    /// The answer as text: a row a line, columns divided by tabs.
    pub(super) fn ask(&self, statement: &str) -> Result<String, Failure> {
        let mut psql = Command::new("psql");
        self.server.tell(&mut psql);
        psql.env("PGDATABASE", &self.database);
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\t"]);
        psql.args(["--set=ON_ERROR_STOP=1", "--command", statement]);
        output(&mut psql).map(|text| text.trim_end().to_owned())
    }

    /// An answer that is a number.
    pub(super) fn number(&self, statement: &str) -> Result<i64, Failure> {
        let answer = self.ask(statement)?;
        answer.parse().map_err(|_| Failure::NotMeasured(format!("{statement} gave {answer:?}")))
    }

    /// Waits until nobody else is connected: a session that has ended has told its counts.
    pub(super) fn alone(&self) -> Result<(), Failure> {
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        match self.reaches(others, 0)? {
            0 => Ok(()),
            some => Err(Failure::NotMeasured(format!("{some} sessions are still there"))),
        }
    }

    /// Waits until a number is this one; the last one seen otherwise.
    pub(super) fn reaches(&self, statement: &str, wanted: i64) -> Result<i64, Failure> {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let seen = self.number(statement)?;
            if seen == wanted || Instant::now() >= give_up {
                return Ok(seen);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
