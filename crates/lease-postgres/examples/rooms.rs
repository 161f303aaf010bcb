//! A whole program on PostgreSQL: rooms are prepared, in two phases, by whoever claims one.
//!
//! `DATABASE_URL=postgres://… cargo run -p lease-postgres --example rooms`, as often and from as many hosts
//! as you like: each call prepares one room that is due, and says so.

use std::error::Error;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use lease_core::{
    ClaimNext, Clock, Document, Due, Effects, Guarded, LeaseSettings, LeaseStore as _, LossLimit, Moment,
    Operator as _, Phase, PhaseList, Plan, PlanName, PlanVersion, Priority, RunId, RunKey, Save, SaveEnd,
    Submit, Ttl, WorkerName, give_back, save_phase, under_lease,
};
use lease_postgres::{HISTORY, PgSettings, PgStore};

/// A monotonic clock. One that also counts the time a machine was suspended is better: CLOCK_BOOTTIME on
/// Linux.
struct SinceStart(Instant);

#[async_trait]
impl Clock for SinceStart {
    fn now(&self) -> Moment {
        Moment::from_start(self.0.elapsed())
    }

    async fn sleep_until(&self, instant: Moment) {
        tokio::time::sleep(instant.since(self.now())).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ttl = Ttl::new(Duration::from_secs(30))?;
    let settings = LeaseSettings::with_ttl(ttl)?;
    let store = PgStore::connect(&std::env::var("DATABASE_URL")?, &PgSettings::for_ttl(ttl)).await?;
    store.migrate(&[&HISTORY]).await?;
    let clock = SinceStart(Instant::now());

    let phases = PhaseList::from_names(["cleaned", "aired"])?;
    let plan = Plan::new(PlanName::new("rooms")?, PlanVersion::new(1)?, phases, "with soap; for an hour");
    for room in ["101", "102"] {
        let submit = Submit {
            id: RunId::new(uuid::Uuid::new_v4()),
            key: RunKey::new(format!("room-{room}"))?,
            plan: plan.clone(),
            priority: Priority::default(),
            input: Document::default(),
        };
        // A key that is there already is no trouble: the verdict says which run has it.
        println!("room {room}: {:?}", store.submit(&submit).await?);
    }

    let sent_at = clock.now();
    let claim = ClaimNext {
        owners: vec![WorkerName::new("cleaner")?.owner(uuid::Uuid::new_v4().as_u128())],
        ttl,
        plans: vec![plan.id.digest],
        loss_limit: LossLimit::DEFAULT,
        except: Vec::new(),
    };
    let Some(grant) = store.claim_next(&claim).await?.grants.pop() else {
        println!("nothing is due");
        return Ok(());
    };
    let (mut lease, mut job) = grant.accept(settings, sent_at);
    while let Some(phase) = job.next_phase().cloned() {
        let step = async { println!("{} is {phase}", job.key) };
        lease = match under_lease(&store, &clock, lease, step).await {
            Guarded::Finished { lease, .. } => lease,
            Guarded::Lost(why) => return Err(format!("the lease is lost: {why}").into()),
        };
        let id = lease.id().clone();
        let save =
            Save::new(&id, job.phase.clone(), phase.clone(), Document::default(), Effects::none(), ttl);
        match save_phase(&store, &clock, lease, &save).await {
            SaveEnd::Held { lease: held, .. } => lease = held,
            SaveEnd::Completed => {
                println!("{} is ready", job.key);
                return Ok(());
            }
            SaveEnd::EffectRefused { lease, message, .. } => {
                let _ended = give_back(&store, &clock, lease, job.phase, Due::Now).await;
                return Err(message.into());
            }
            SaveEnd::Lost { why, .. } => return Err(format!("the lease is lost: {why}").into()),
            SaveEnd::Error { error, .. } => return Err(error.into()),
        }
        job.phase = Phase::Saved(phase);
    }
    Ok(())
}
