//! How many renewals are in-page (HOT) updates.

use std::time::{Duration, Instant};

use lease_core::{RenewVerdict, Renewals as _};
use sqlx::{PgConnection, Row as _};

use crate::rows;
use crate::trouble::Trouble;

/// How many runs are held.
const RUNS: u64 = 50;

/// Each renews every run twice: in one statement for all, and one by one.
const ROUNDS: u64 = 10;

/// How long the server may take to tell its counts.
const PATIENCE: Duration = Duration::from_secs(10);

/// Renews, and prints the counts.
pub(crate) async fn run(url: &str) -> Result<(), Trouble> {
    let (store, mut session) = rows::clear(url).await?;
    let mut leases = Vec::new();
    for number in 0..RUNS {
        leases.push(rows::hold(&store, rows::open(&store, rows::FIRST[1] + number).await?).await?);
    }
    // A session tells its counts when it ends, at the latest.
    drop(store);
    alone(&mut session).await?;
    let before = counts(&mut session).await?;
    let store = rows::connect(url, 1).await?;
    let renewed = |verdict: RenewVerdict| {
        let as_wanted = verdict == RenewVerdict::Renewed { yield_asked: false };
        if as_wanted { Ok(()) } else { Err(Trouble::Answer(format!("{verdict:?}"))) }
    };
    for _ in 0..ROUNDS {
        for verdict in store.renew_many(&leases, rows::ttl()).await? {
            renewed(verdict)?;
        }
        for lease in &leases {
            renewed(store.renew(lease, rows::ttl()).await?)?;
        }
    }
    drop(store);
    alone(&mut session).await?;
    let made = i64::try_from(2 * ROUNDS * RUNS).expect("a thousand fits");
    let give_up = Instant::now() + PATIENCE;
    loop {
        let after = counts(&mut session).await?;
        let counted = after.0 - before.0;
        if counted == made {
            println!("renewals={made}\nin_page={}", after.1 - before.1);
            return Ok(());
        }
        if Instant::now() >= give_up {
            return Err(Trouble::Counts { counted, made });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Updates of runs, and those of them that were in-page.
async fn counts(session: &mut PgConnection) -> Result<(i64, i64), Trouble> {
    let ask = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'lease.runs'::regclass";
    let row = sqlx::query(ask).fetch_one(session).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// Waits until no session of a store is left.
async fn alone(session: &mut PgConnection) -> Result<(), Trouble> {
    let ask = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'bench'";
    let give_up = Instant::now() + PATIENCE;
    loop {
        let shown: i64 = sqlx::query(ask).fetch_one(&mut *session).await?.try_get(0)?;
        if shown == 0 {
            return Ok(());
        }
        if Instant::now() >= give_up {
            return Err(Trouble::Sessions { shown, wanted: 0 });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
