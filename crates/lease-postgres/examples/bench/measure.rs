//! One measurement: so many connections with as many tasks, for so long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lease_core::Renewals as _;
use lease_postgres::PgStore;
use sqlx::{Connection as _, PgConnection, Row as _};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::operation::{Lane, Operation};
use crate::rows;
use crate::trouble::Trouble;

/// Measures, and prints how many operations were done in how many microseconds.
pub(crate) async fn run(
    url: &str,
    operation: Operation,
    connections: u32,
    span: Duration,
    runs: u32,
) -> Result<(), Trouble> {
    let store = rows::connect(url, connections).await?;
    open_all(&store, url, connections).await?;
    let runs_each = u64::from(runs / connections);
    if runs_each == 0 {
        return Err(Trouble::RanOut(0));
    }
    let start = Arc::new(Barrier::new(connections as usize + 1));
    let mut clients = JoinSet::new();
    for client in 0..u64::from(connections) {
        let lane = Lane { first: rows::FIRST[1] + client * runs_each, runs: runs_each };
        let (store, start) = (store.clone(), Arc::clone(&start));
        clients.spawn(async move {
            start.wait().await;
            operation.repeat(&store, lane, Instant::now() + span).await
        });
    }
    start.wait().await;
    let began = Instant::now();
    let mut operations = 0;
    while let Some(client) = clients.join_next().await {
        operations += client??;
    }
    let micros = began.elapsed().as_micros();
    println!("operations={operations}\nmicros={micros}");
    Ok(())
}

/// Opens every connection before the clock runs, as pgbench does.
async fn open_all(store: &PgStore, url: &str, connections: u32) -> Result<(), Trouble> {
    let mut session = PgConnection::connect(url).await?;
    let count = "SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'bench' AND datname = current_database() AND backend_type = 'client backend'";
    let mut shown = 0;
    for _ in 0..20 {
        let mut asking = JoinSet::new();
        for _ in 0..connections {
            let store = store.clone();
            asking.spawn(async move { store.standing(&rows::held(rows::FIRST[1])).await });
        }
        while let Some(answer) = asking.join_next().await {
            // Whatever it says: it only has to open a connection.
            let _standing = answer??;
        }
        shown = sqlx::query(count).fetch_one(&mut session).await?.try_get(0)?;
        if shown == i64::from(connections) {
            return Ok(session.close().await?);
        }
        // Those of a program that has just ended may still be there.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(Trouble::Sessions { shown, wanted: connections })
}
