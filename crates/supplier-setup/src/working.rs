//! A worker at work: the wiring of its lanes, connections, clock and signals.

use std::io;
use std::sync::Arc;

use lease_core::{Clock, Renewals, RunId, RunKey};
use supplier_runner::plan::RunnablePlan;
use supplier_runner::worker::{
    BatchedRenewals, BootClock, HeartbeatThread, Lanes, StepThreads, SystemRandom, Take, WorkReport, Worker,
    stopper,
};

use crate::any_store::AnyStore;
use crate::database::Database;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::note;
use crate::progress;
use crate::signals;
use crate::verb::Context;
use crate::worker_settings::AllSettings;

/// What came of the work.
#[derive(Debug)]
pub(crate) struct Worked {
    /// The worker's report.
    pub(crate) report: WorkReport,
    /// How many of the runs asked for were completed before.
    pub(crate) completed_before: u64,
    /// The exit code of the last signal that came.
    pub(crate) signal: Option<Exit>,
}

/// Works until told to stop or until `take` is done. `asked` are the runs whose keys are known.
///
/// # Errors
/// When the system or the database does not let the worker start.
pub(crate) async fn work(
    context: &Context,
    database: &Database,
    settings: AllSettings,
    plans: Vec<Arc<RunnablePlan>>,
    take: Take,
    asked: Vec<(RunId, RunKey)>,
) -> Result<Worked, Error> {
    let threads = |source: io::Error| Error::System { doing: "start the worker's threads", source };
    let heartbeats = HeartbeatThread::start().map_err(threads)?;
    let steps = StepThreads::start(settings.worker.concurrency).map_err(threads)?;
    let clock: Arc<dyn Clock> = Arc::new(BootClock);
    let lane = heartbeats.handle();
    let beating = on_lane(&heartbeats, database, &settings).await?;
    let patience = settings.worker.lease.heartbeat();
    let renewals = BatchedRenewals::start(&lane, beating, Arc::clone(&clock), patience);
    let (stopper, stopping) = stopper();
    let signalled = signals::listen(stopper.clone())?;
    let (progress, showing) =
        progress::start(context.common.json, &context.output, &context.log_target, asked)?;
    let worker = Worker {
        random: Arc::new(SystemRandom),
        settings: settings.worker,
        plans,
        store: database.worker_store(),
        renewals: Arc::new(renewals),
        clock,
        lanes: Lanes { steps: steps.handle(), heartbeats: lane },
        events: progress.clone(),
    };
    let report = worker.run(take, &stopper, stopping).await;
    showing.end();
    let report = report?;
    if let Some(error) = &report.store_error {
        note(&Error::of_claims(error).report());
    }
    Ok(Worked { report, completed_before: progress.completed_before(), signal: signalled.last() })
}

/// The heartbeats' own connections, made on the thread that uses them: they belong to its runtime.
async fn on_lane(
    heartbeats: &HeartbeatThread,
    database: &Database,
    settings: &AllSettings,
) -> Result<Arc<dyn Renewals>, Error> {
    let (url, wanted) = (database.url().clone(), settings.heartbeat.clone());
    let connecting = heartbeats.handle().spawn(async move { AnyStore::connect(&url, &wanted, false).await });
    let connected = connecting.await.map_err(|source| Error::System {
        doing: "connect from the heartbeat thread",
        source: io::Error::other(source),
    })?;
    Ok(connected.map_err(|source| database.connect_error(source))?.renewals())
}
