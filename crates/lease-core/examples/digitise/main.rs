//! Digitises one book on the store in memory: `cargo run -p lease-core --example digitise`.
//!
//! `worker.rs` is the part to read; the README shows it.

mod worker;

use std::time::Duration;

use lease_core::{
    AttemptOutcome, Claim, Document, LeaseSettings, LossLimit, Operator, PhaseList, Plan, PlanName,
    PlanVersion, Priority, RunId, RunKey, Submit, Timestamp, Ttl, WorkerName,
};
use lease_fake::{FakeClock, FakeStore, drive};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = FakeClock::default();
    let store = FakeStore::new(clock.store_clock(Timestamp::from_micros(0)));
    let phases = PhaseList::from_names(["scanned", "recognised", "bound"])?;
    let plan = Plan::new(PlanName::new("digitise")?, PlanVersion::new(1)?, phases, "300 dpi, one file");
    let submit = Submit {
        id: RunId::new(uuid::Uuid::from_u128(1)),
        key: RunKey::new("isbn-9780131103627")?,
        plan: plan.clone(),
        priority: Priority::default(),
        input: Document::from_json(br#"{"shelf": "QA 76.73"}"#)?,
    };
    let settings = LeaseSettings::with_ttl(Ttl::new(Duration::from_secs(60))?)?;
    let claim = Claim {
        run: submit.id,
        owner: WorkerName::new("scanner-1")?.owner(0x5eed),
        ttl: settings.ttl(),
        plans: vec![plan.id.digest],
        loss_limit: LossLimit::DEFAULT,
    };
    let outcome = drive::run(&clock, async {
        let _opened = store.submit(&submit).await?;
        worker::digitise((&store, &clock), (settings, &claim), async |phase, job| {
            println!("{}: {phase}", job.key);
            Ok(Document::default())
        })
        .await
    });
    match outcome.ok_or("the store never answered")?? {
        Some(AttemptOutcome::Completed) => Ok(()),
        other => Err(format!("the book is not digitised: {other:?}").into()),
    }
}
