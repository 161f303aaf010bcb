//! Steps that take longer than the lease, and take what the worker needs.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    AttemptOutcome, Clock, Document, Effects, LeaseSettings, LossLimit, Operator, PhaseList, Plan, PlanName,
    PlanVersion, Priority, Renewals, RunKey, RunReader, Submit, SubmitVerdict, Ttl, WorkerName,
};
use lease_postgres::{PgSettings, PgStore};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use supplier_runner::plan::{PhaseStep, RunnablePlan};
use supplier_runner::step::{Step, StepDone, StepEnd, StepRequest};
use supplier_runner::worker::{
    BatchedRenewals, BootClock, HeartbeatThread, Lanes, NoEvents, StepThreads, SystemRandom, Take, Worker,
    WorkerSettings, new_run_id, stopper,
};

use crate::support::Database;

const TTL: Duration = Duration::from_millis(900);

/// Holds the pool's only connection and blocks its thread for three leases.
struct Greedy(PgPool);

#[async_trait]
impl Step for Greedy {
    fn is_quick(&self) -> bool {
        false
    }

    async fn run(&self, _request: &StepRequest) -> StepEnd {
        let connection = self.0.acquire().await.unwrap();
        // Real time is the point here: nothing on this thread can run meanwhile.
        thread::sleep(TTL * 3);
        drop(connection);
        StepEnd::Done(StepDone { receipt: Document::default(), effects: Effects::none() })
    }
}

fn plan(pool: &PgPool) -> RunnablePlan {
    let phases = PhaseList::from_names(["greedy"]).unwrap();
    let plan = Plan::new(PlanName::new("greedy").unwrap(), PlanVersion::new(1).unwrap(), phases.clone(), "");
    let step: Arc<dyn Step> = Arc::new(Greedy(pool.clone()));
    let steps = phases.as_slice().iter().map(|name| PhaseStep::new(name.clone(), Arc::clone(&step)));
    RunnablePlan::new(plan, steps.collect()).unwrap()
}

async fn work(url: &str) {
    let pool = PgPoolOptions::new().max_connections(1).connect(url).await.unwrap();
    let store = PgStore::from_pool(pool.clone());
    let plan = Arc::new(plan(&pool));
    let run = new_run_id();
    let submit = Submit {
        id: run,
        key: RunKey::new("K").unwrap(),
        plan: plan.plan.clone(),
        priority: Priority::default(),
        input: Document::default(),
    };
    assert_eq!(store.submit(&submit).await.unwrap(), SubmitVerdict::Opened);

    let ttl = Ttl::new(TTL).unwrap();
    let lease = LeaseSettings::with_ttl(ttl).unwrap();
    let settings = WorkerSettings {
        name: WorkerName::new("w").unwrap(),
        lease,
        concurrency: 1,
        poll: TTL,
        grace: TTL,
        loss_limit: LossLimit::DEFAULT,
    };
    let heartbeats = HeartbeatThread::start().unwrap();
    let steps = StepThreads::start(1).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(BootClock);
    let own_url = url.to_owned();
    let connecting = heartbeats
        .handle()
        .spawn(async move { PgStore::connect(&own_url, &PgSettings::for_ttl(ttl)).await.unwrap() });
    let own: Arc<dyn Renewals> = Arc::new(connecting.await.unwrap());
    let lane = heartbeats.handle();
    let renewals = BatchedRenewals::start(&lane, own, Arc::clone(&clock), lease.heartbeat());
    let worker = Worker {
        settings,
        plans: vec![plan],
        store: Arc::new(store.clone()),
        renewals: Arc::new(renewals),
        clock,
        lanes: Lanes { steps: steps.handle(), heartbeats: lane },
        events: Arc::new(NoEvents),
        random: Arc::new(SystemRandom),
    };
    let (stopper, stopping) = stopper();
    let report = worker.run(Take::Only(run), &stopper, stopping).await.unwrap();
    assert_eq!((report.completed, report.lost.len()), (1, 0));
    let outcomes: Vec<_> =
        store.attempts(run).await.unwrap().iter().map(lease_core::Attempt::outcome).collect();
    assert_eq!(outcomes, [Some(AttemptOutcome::Completed)], "one claim, never lost");
}

/// Neither a blocked thread nor a drained pool starves the heartbeat.
#[test]
fn a_step_that_blocks_its_thread_and_the_only_connection_for_three_leases_keeps_its_lease() {
    let database = Database::migrated();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work(database.url()));
}
