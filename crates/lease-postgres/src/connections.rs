//! The store's connections: opened when first needed, kept, and closed on any doubt.
//!
//! Not a pool of sqlx's, for two reasons. That one asks the server on every return whether the
//! connection still works, a second round trip per operation; and it takes a connection back in
//! whatever state a cancelled request left it. Here a connection goes back only after its request
//! was answered. A team's own pool can be used all the same, at that price.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lease_core::StoreError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgRow};
use sqlx::query::Query;
use sqlx::{ConnectOptions as _, FromRow, PgConnection, Postgres};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::error::{self, AllTaken, NoAnswer};
use crate::session;
use crate::settings::PgSettings;

/// A query of this crate.
pub(crate) type Ask<'q> = Query<'q, Postgres, PgArguments>;

/// A connection that stood unused for longer may have been dropped by something in between.
const FRESH: Duration = Duration::from_secs(60);

/// How long the first connection may take at least: no lease runs yet, and a short lease's limit may
/// be shorter than a handshake.
const FIRST: Duration = Duration::from_secs(5);

/// Where connections come from.
#[derive(Clone)]
pub(crate) enum Connections {
    /// Opened by this store.
    Own(Arc<Own>),
    /// Lent by somebody else's pool.
    Lent(PgPool),
}

/// Connections opened by this store.
pub(crate) struct Own {
    options: PgConnectOptions,
    settings: PgSettings,
    slots: Arc<Semaphore>,
    idle: Mutex<Vec<(PgConnection, Instant)>>,
}

/// A connection in use. Dropped, it is closed; [`Line::keep`] gives it back.
pub(crate) struct Line(Option<Kind>);

enum Kind {
    Own { connection: PgConnection, own: Arc<Own>, permit: OwnedSemaphorePermit },
    Lent(PoolConnection<Postgres>),
}

impl Connections {
    /// Opens a first connection and checks that what the store relies on is in force there.
    pub(crate) async fn open(options: PgConnectOptions, settings: &PgSettings) -> Result<Self, StoreError> {
        let slots = usize::try_from(settings.max_connections.max(1)).unwrap_or(Semaphore::MAX_PERMITS);
        let own = Own {
            options,
            settings: settings.clone(),
            slots: Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS))),
            idle: Mutex::default(),
        };
        let own = Arc::new(own);
        let limit = settings.acquire_timeout.max(FIRST);
        let first = async {
            let mut line = Arc::clone(&own).take().await?;
            session::check(line.connection(), settings).await?;
            line.keep();
            Ok(())
        };
        within(limit, first).await?;
        Ok(Self::Own(own))
    }

    /// A connection to work with.
    pub(crate) async fn take(&self) -> Result<Line, StoreError> {
        match self {
            Self::Own(own) => within(own.settings.acquire_timeout, Arc::clone(own).take()).await,
            Self::Lent(pool) => {
                let connection = pool.acquire().await.map_err(error::of_connecting)?;
                Ok(Line(Some(Kind::Lent(connection))))
            }
        }
    }

    /// How long to wait for the answer to one statement.
    pub(crate) fn answer_limit(&self) -> Duration {
        match self {
            Self::Own(own) => own.settings.answer_limit(),
            Self::Lent(_) => Duration::from_secs(60),
        }
    }

    /// How long a transaction may stand idle, where this store decides that.
    pub(crate) fn idle_limit(&self) -> Option<Duration> {
        match self {
            Self::Own(own) => Some(own.settings.idle_in_transaction_timeout),
            Self::Lent(_) => None,
        }
    }

    /// Where these connections go to.
    pub(crate) fn options(&self) -> PgConnectOptions {
        match self {
            Self::Own(own) => own.options.clone(),
            Self::Lent(pool) => pool.connect_options().as_ref().clone(),
        }
    }

    /// Asks for exactly one row.
    pub(crate) async fn one<R: for<'r> FromRow<'r, PgRow>>(&self, ask: Ask<'_>) -> Result<R, StoreError> {
        let mut line = self.take().await?;
        let answer = bounded(self.answer_limit(), ask.fetch_one(line.connection())).await?;
        let row = self.settle(line, answer)?;
        R::from_row(&row).map_err(error::of_statement)
    }

    /// Asks for any number of rows.
    pub(crate) async fn all<R: for<'r> FromRow<'r, PgRow>>(
        &self,
        ask: Ask<'_>,
    ) -> Result<Vec<R>, StoreError> {
        let mut line = self.take().await?;
        let answer = bounded(self.answer_limit(), ask.fetch_all(line.connection())).await?;
        let rows = self.settle(line, answer)?;
        rows.iter().map(|row| R::from_row(row).map_err(error::of_statement)).collect()
    }

    /// Gives a connection back after its answer, or closes it. Where one broke, so may have the
    /// others that stand idle.
    pub(crate) fn settle<T>(&self, line: Line, answer: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        match answer {
            Ok(value) => {
                line.keep();
                Ok(value)
            }
            Err(failed) => {
                if error::leaves_connection_sound(&failed) {
                    line.keep();
                } else {
                    self.forget_idle();
                }
                Err(error::of_statement(failed))
            }
        }
    }

    /// Closes the connections that stand idle.
    pub(crate) fn forget_idle(&self) {
        if let Self::Own(own) = self {
            own.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

impl Own {
    async fn take(self: Arc<Self>) -> Result<Line, StoreError> {
        let slots = Arc::clone(&self.slots);
        let permit = slots.acquire_owned().await.expect("the semaphore is never closed");
        let connection = match self.idle_one() {
            Some(connection) => connection,
            None => self.options.connect().await.map_err(error::of_connecting)?,
        };
        Ok(Line(Some(Kind::Own { connection, own: self, permit })))
    }

    /// The connection used last, if it is fresh. The others are older still.
    fn idle_one(&self) -> Option<PgConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let (connection, since) = idle.pop()?;
        if since.elapsed() < FRESH {
            return Some(connection);
        }
        idle.clear();
        None
    }
}

impl Line {
    /// The connection.
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        match self.0.as_mut().expect("a line has its connection until it is kept or dropped") {
            Kind::Own { connection, .. } => connection,
            Kind::Lent(connection) => connection,
        }
    }

    /// Gives the connection back: its request was answered, and no transaction is open.
    pub(crate) fn keep(mut self) {
        match self.0.take() {
            Some(Kind::Own { connection, own, permit }) => {
                let mut idle = own.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.push((connection, Instant::now()));
                drop(idle);
                // Only now, so that whoever waits for the slot finds the connection.
                drop(permit);
            }
            Some(Kind::Lent(connection)) => drop(connection),
            None => {}
        }
    }
}

/// Closes the connection: its request was not answered, or the answer leaves a doubt.
impl Drop for Line {
    fn drop(&mut self) {
        if let Some(Kind::Lent(connection)) = &mut self.0 {
            connection.close_on_drop();
        }
    }
}

/// Waits for a connection for so long; after that the store counts as out of reach.
async fn within<T>(
    limit: Duration,
    taken: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(limit, taken).await.unwrap_or_else(|_| Err(StoreError::Unreachable(Box::new(AllTaken(limit)))))
}

/// Waits for an answer for so long; after that it is lost.
pub(crate) async fn bounded<T>(limit: Duration, answer: impl Future<Output = T>) -> Result<T, StoreError> {
    timeout(limit, answer).await.map_err(|_| StoreError::Unknown(Box::new(NoAnswer(limit))))
}
