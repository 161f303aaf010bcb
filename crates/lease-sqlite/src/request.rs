//! Statements that go to the driver together.
//!
//! Each connection of the driver has a thread of its own, and handing a request to it and back is most
//! of what an operation costs here. So whatever stands between two decisions is one request. SQLite
//! runs its statements in their order and stops at the first that fails; which one that was is told
//! with the error, since only that says whether anything was committed.

use std::fmt::Write as _;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Arguments as _, AssertSqlSafe, Either, Executor as _};

/// A statement of this crate, with a value for each of its parameters.
pub(crate) struct Ask {
    sql: &'static str,
    values: Vec<Value>,
}

/// What a parameter can be.
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
}

/// What came of one statement.
pub(crate) struct Answer {
    pub(crate) rows: Vec<SqliteRow>,
}

/// Where a request stopped, counted in statements from zero, and why.
pub(crate) struct Stopped {
    pub(crate) at: usize,
    pub(crate) why: sqlx::Error,
}

/// Statements in their order.
#[derive(Clone, Default)]
pub(crate) struct Request {
    text: String,
    values: SqliteArguments,
    statements: usize,
}

impl Ask {
    pub(crate) fn new(sql: &'static str) -> Self {
        Self { sql, values: Vec::new() }
    }

    /// With the value of the next parameter.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }
}

impl Request {
    /// How many statements it has.
    pub(crate) fn len(&self) -> usize {
        self.statements
    }

    pub(crate) fn add(&mut self, ask: Ask) {
        if ask.values.is_empty() {
            self.text.push_str(ask.sql);
        } else {
            number(&mut self.text, ask.sql, self.values.len());
        }
        self.text.push_str(";\n");
        for value in ask.values {
            let added = match value {
                Value::Null => self.values.add(None::<i64>),
                Value::Integer(number) => self.values.add(number),
                Value::Text(text) => self.values.add(text),
            };
            added.expect("integers and text are what the driver can send");
        }
        self.statements += 1;
    }

    /// Sends it, and waits for what came of each statement.
    pub(crate) async fn send(self, connection: &mut SqliteConnection) -> Result<Vec<Answer>, Stopped> {
        let mut answers = Vec::with_capacity(self.statements);
        let mut rows = Vec::new();
        let mut told = connection.fetch_many(sqlx::query_with(AssertSqlSafe(self.text), self.values));
        loop {
            match soon(|context| told.as_mut().poll_next(context)).await {
                Some(Ok(Either::Right(row))) => rows.push(row),
                Some(Ok(Either::Left(_done))) => answers.push(Answer { rows: std::mem::take(&mut rows) }),
                Some(Err(why)) => return Err(Stopped { at: answers.len(), why }),
                None if answers.len() == self.statements => return Ok(answers),
                // The driver's thread is gone.
                None => return Err(Stopped { at: answers.len(), why: sqlx::Error::WorkerCrashed }),
            }
        }
    }
}

/// How often to look before asking to be woken: for some ten microseconds.
const LOOKS: u32 = 32;

/// What `poll` brings. One statement follows the other within microseconds, and waking somebody costs
/// both threads more than that; so this looks again for a moment first, and each time lets any other
/// thread have the processor.
async fn soon<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    for _ in 0..LOOKS {
        if let Poll::Ready(value) = poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
    poll_fn(poll).await
}

/// The rows that one statement returns.
pub(crate) async fn rows(connection: &mut SqliteConnection, ask: Ask) -> Result<Vec<SqliteRow>, sqlx::Error> {
    let mut request = Request::default();
    request.add(ask);
    let answers = request.send(connection).await.map_err(|stopped| stopped.why)?;
    Ok(answers.into_iter().flat_map(|answer| answer.rows).collect())
}

/// Appends a statement whose first parameter is the one after `before` others.
///
/// The driver takes the number of a `$1` from its name and that of a `?1` from its place among all
/// numbers up to the highest, which a statement in the middle of a request does not use.
fn number(text: &mut String, sql: &str, before: usize) {
    for line in sql.lines().filter(|line| !line.starts_with("--")) {
        let mut parts = line.split('?');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (parameter, rest) = part.split_at(digits);
            let parameter: usize = parameter.parse().expect("a parameter of this crate has a number");
            // Writing to a string cannot fail.
            let _written = write!(text, "${}{rest}", before + parameter);
        }
        text.push('\n');
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Integer(i64::from(yes))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use sqlx::sqlite::SqliteConnectOptions;
    use sqlx::{ConnectOptions as _, Row as _};

    use super::*;

    async fn memory() -> SqliteConnection {
        let mut connection = SqliteConnectOptions::new().connect().await.expect("a database in memory");
        let table = "CREATE TABLE pair (a INTEGER NOT NULL, b TEXT)";
        rows(&mut connection, Ask::new(table)).await.expect("made");
        connection
    }

    fn together(asks: impl IntoIterator<Item = Ask>) -> Request {
        let mut request = Request::default();
        asks.into_iter().for_each(|ask| request.add(ask));
        request
    }

    #[tokio::test]
    async fn every_value_reaches_its_own_parameter_of_its_own_statement() {
        let mut connection = memory().await;
        let add = || Ask::new("-- What is ?1 here?\nINSERT INTO pair (b, a)\nVALUES (?2, ?1)");
        let request = together([
            Ask::new("SELECT ?1 || ?3 || ?2 || ?1 AS text").bind("x").bind("y").bind("z"),
            add().bind(1).bind("one"),
            Ask::new("SELECT '?' AS text"),
            add().bind(2).bind(None::<i64>),
            Ask::new("SELECT a || ':' || coalesce(b, '-') AS text FROM pair WHERE a > ?1 ORDER BY a").bind(0),
        ]);
        // Twice: the second time, the statements come out of the driver's cache.
        for expected in [vec!["1:one", "2:-"], vec!["1:one", "1:one", "2:-", "2:-"]] {
            let Ok(answers) = request.clone().send(&mut connection).await else { panic!("it is sound") };
            let told = answers.iter().map(|answer| {
                let text = |row: &SqliteRow| row.get::<String, _>("text");
                answer.rows.iter().map(text).collect::<Vec<_>>()
            });
            let expected = [vec!["xzyx"], vec![], vec!["?"], vec![], expected];
            assert_eq!(told.collect::<Vec<_>>(), expected);
        }
    }

    #[tokio::test]
    async fn a_request_stops_at_the_first_statement_that_fails_and_says_which_it_was() {
        let mut connection = memory().await;
        let add = || Ask::new("INSERT INTO pair (a) VALUES (?1)");
        let request = together([add().bind(1), add().bind(None::<i64>), add().bind(3)]);
        let Err(stopped) = request.send(&mut connection).await else { panic!("a may not be empty") };
        assert_eq!(stopped.at, 1);
        let kept = rows(&mut connection, Ask::new("SELECT a FROM pair")).await.expect("read");
        assert_eq!(kept.len(), 1);
    }

    #[tokio::test]
    async fn a_write_of_another_number_of_rows_than_one_stops_the_request() {
        let mut connection = memory().await;
        for (values, stops) in [("(1)", false), ("(2), (3)", true), ("(4) EXCEPT SELECT 4", true)] {
            let write: &'static str = format!("INSERT INTO pair (a) VALUES {values}").leak();
            let after = Ask::new("INSERT INTO pair (a, b) VALUES (9, 'after')");
            let sent =
                together([Ask::new(write), Ask::new(crate::sql::ONE_ROW), after]).send(&mut connection);
            assert_eq!(sent.await.err().map(|stopped| stopped.at), stops.then_some(1), "{values}");
        }
        let after = rows(&mut connection, Ask::new("SELECT 1 FROM pair WHERE b = 'after'")).await;
        assert_eq!(after.expect("read").len(), 1);
    }
}
