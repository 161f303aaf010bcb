//! Hearing that there may be work: LISTEN on a connection of its own, opened again when it breaks.
//!
//! Only saves waiting. Behind a pooler in transaction mode nothing is heard, and polls find the work.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::WorkSignal;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The channel that the statements tell.
const CHANNEL: &str = "lease_work";

/// How long to wait before a broken connection is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// A running listener; dropped, it stops.
pub(crate) struct Listening {
    heard: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Listening {
    /// Starts to listen; `None` outside a tokio runtime.
    pub(crate) fn start(options: PgConnectOptions) -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        let heard = Arc::new(Notify::new());
        let task = runtime.spawn(listen(options, Arc::clone(&heard)));
        Some(Self { heard, task })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[async_trait]
impl WorkSignal for Listening {
    async fn changed(&self) {
        self.heard.notified().await;
    }
}

async fn listen(options: PgConnectOptions, heard: Arc<Notify>) {
    loop {
        // Why it failed does not matter here: requests to the store fail for the same reason and say so.
        if let Err(error) = listen_once(options.clone(), &heard).await {
            tracing::debug!(%error, "not listening for work, trying again");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Listens until the connection breaks.
async fn listen_once(options: PgConnectOptions, heard: &Notify) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // Whatever was told before this moment was not heard.
    heard.notify_one();
    while listener.try_recv().await?.is_some() {
        heard.notify_one();
    }
    Ok(())
}
