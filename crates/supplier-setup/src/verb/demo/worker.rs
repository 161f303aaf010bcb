//! One of the two workers of the demonstration: claims a run, does its phases with the built-in
//! steps, and waits in one of them until it is told to go on.
//!
//! Everything up to the loss is what any worker does. After it, a worker that was started to insist
//! sends its save all the same: the store has to hold without the worker's good manners.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    BlockedVerdict, Claim, ClaimVerdict, Clock, Document, Grant, Guarded, Job, Lease, LeaseId, LeaseSettings,
    Loss, LostReason, Moment, Phase, PhaseName, Refused, RenewVerdict, Renewals, Save, SaveEnd, SaveFate,
    SaveVerdict, Standing, StoreError, Ttl, save_phase, under_lease,
};
use serde_json::Value;
use supplier_runner::plan::{RunnablePlan, built_in};
use supplier_runner::step::{StepDone, StepEnd, StepRequest};
use supplier_runner::worker::{BootClock, WorkerStore};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};
use uuid::Uuid;

use super::line::Line;
use crate::arguments::DemoWorkerArguments;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::verb::Context;
use crate::worker_settings::AllSettings;

pub(in crate::verb) async fn work(context: &Context, arguments: DemoWorkerArguments) -> Result<Exit, Error> {
    let DemoWorkerArguments { run, wait_in, insist, worker } = arguments;
    let settings = AllSettings::of(&worker)?;
    let database = Database::open(&context.common, &settings.main, Schema::MustFit).await?;
    let store = database.worker_store();
    let plan = built_in();
    let claim = Claim {
        run,
        owner: settings.worker.name.owner(Uuid::new_v4().as_u128()),
        ttl: settings.worker.lease.ttl(),
        plans: vec![plan.plan.id.digest],
        loss_limit: settings.worker.loss_limit,
    };
    let sent_at = BootClock.now();
    let verdict = store.claim(&claim).await.map_err(Error::store("claim the run"))?;
    let ClaimVerdict::Granted(grant) = verdict else {
        say(context, &Line::NotClaimed { verdict: format!("{verdict:?}") });
        return Ok(Exit::Unexpected);
    };
    let worker = Worker { context, store: &*store, plan, wait_in, insist };
    worker.work(*grant, settings.worker.lease, sent_at).await
}

struct Worker<'a> {
    context: &'a Context,
    store: &'a dyn WorkerStore,
    plan: RunnablePlan,
    wait_in: String,
    insist: bool,
}

/// How a phase came out.
enum PhaseEnd {
    Held(Lease),
    Completed,
    Lost { why: LostReason, refused: Refused, done: Option<StepDone> },
}

impl Worker<'_> {
    async fn work(&self, grant: Grant, settings: LeaseSettings, sent_at: Moment) -> Result<Exit, Error> {
        let (mut lease, mut job) = grant.accept(settings, sent_at);
        let id = lease.id().clone();
        self.say(&Line::Claimed {
            fence: id.fence.get(),
            owner: id.owner.as_str().to_owned(),
            from: job.phase.as_str().to_owned(),
        });
        let renewals = NotedRenewals { store: self.store, confirmed: Mutex::new(sent_at) };
        let mut told = BufReader::new(tokio::io::stdin()).lines();
        loop {
            let phase = job.next_phase().expect("a run that can be claimed has a phase left").clone();
            match self.phase(lease, &id, &job, &phase, &renewals, &mut told).await? {
                PhaseEnd::Held(held) => {
                    self.say(&Line::Saved { phase: phase.as_str().to_owned() });
                    (lease, job.phase) = (held, Phase::Saved(phase));
                }
                PhaseEnd::Completed => {
                    self.say(&Line::Saved { phase: phase.as_str().to_owned() });
                    self.say(&Line::Completed);
                    return Ok(Exit::Done);
                }
                PhaseEnd::Lost { why, refused, done } => {
                    let deadline = renewals.deadline(settings);
                    let loss = Loss::before_save(refused, phase.clone(), why);
                    self.say(&Line::Lost { reason: shown(&loss), past_deadline_ms: past(deadline) });
                    let save = match done {
                        Some(done) if self.insist => Some(save_of(&id, &job, &phase, done, settings.ttl())),
                        Some(_) | None => None,
                    };
                    return self.after_loss(&id, loss, save, deadline).await;
                }
            }
        }
    }

    /// Does one phase, and saves it unless its lease is lost.
    async fn phase(
        &self,
        lease: Lease,
        id: &LeaseId,
        job: &Job,
        phase: &PhaseName,
        renewals: &NotedRenewals<'_>,
        told: &mut Lines<BufReader<Stdin>>,
    ) -> Result<PhaseEnd, Error> {
        let receipts = self.store.receipts(id.run).await.map_err(Error::store("read the receipts"))?;
        let request =
            StepRequest::new(id, job, receipts).expect("the receipts are those of the phases saved");
        let step = self.plan.step_for(phase).expect("the built-in plan has a step for each of its phases");
        let StepEnd::Done(done) = step.step.run(&request).await else {
            return Err(unexpected("do a built-in step"));
        };
        let waits = phase.as_str() == self.wait_in;
        let wait = async {
            if waits {
                self.say(&Line::Waiting { phase: phase.as_str().to_owned() });
                told.next_line().await
            } else {
                Ok(Some(String::new()))
            }
        };
        let lease = match under_lease(renewals, &BootClock, lease, wait).await {
            Guarded::Finished { lease, value, .. } => match value {
                Ok(Some(_)) => lease,
                // The demonstration is gone, and so is what was to be shown.
                Ok(None) | Err(_) => return Err(unexpected("hear from the demonstration")),
            },
            Guarded::Lost(why) => {
                return Ok(PhaseEnd::Lost { why, refused: Refused::Renew, done: Some(done) });
            }
        };
        let save = save_of(id, job, phase, done, lease.settings().ttl());
        match save_phase(self.store, &BootClock, lease, &save).await {
            SaveEnd::Held { lease, .. } => Ok(PhaseEnd::Held(lease)),
            SaveEnd::Completed => Ok(PhaseEnd::Completed),
            SaveEnd::Lost { why, .. } => Ok(PhaseEnd::Lost { why, refused: Refused::Save, done: None }),
            SaveEnd::EffectRefused { .. } => Err(unexpected("write the rows of a built-in step")),
            SaveEnd::Error { error, .. } => Err(Error::store("save the phase")(error)),
        }
    }

    /// Sends the late save, if one is to be sent; then tells the store that the attempt was blocked,
    /// and leaves the run alone.
    async fn after_loss(
        &self,
        id: &LeaseId,
        loss: Loss,
        save: Option<Save>,
        deadline: Moment,
    ) -> Result<Exit, Error> {
        let mut recorded = loss;
        if let Some(save) = save {
            let (past_deadline_ms, rows) = (past(deadline), save.effects().as_slice().len());
            let verdict = self.store.save(&save).await.map_err(Error::store("send the late save"))?;
            let (landed, reason) = match verdict {
                SaveVerdict::Refused(why) => {
                    recorded = Loss { refused: Refused::Save, why, save: SaveFate::NotSaved, ..recorded };
                    (false, shown(&recorded))
                }
                SaveVerdict::EffectRefused { message } => (false, Value::String(message)),
                SaveVerdict::Saved(_) | SaveVerdict::AlreadySaved(_) => (true, Value::Null),
            };
            let phase = save.to().as_str().to_owned();
            self.say(&Line::LateSave { phase, rows, landed, reason, past_deadline_ms });
        }
        let document = recorded.to_document();
        let answer = self.store.mark_blocked(id, &document).await;
        let answer = answer.map_err(Error::store("record that the attempt was blocked"))?;
        self.say(&Line::Blocked { recorded: answer == BlockedVerdict::Recorded });
        Ok(Exit::LeaseLost)
    }

    fn say(&self, line: &Line) {
        say(self.context, line);
    }
}

fn say(context: &Context, line: &Line) {
    context.output.json(line);
}

fn save_of(id: &LeaseId, job: &Job, phase: &PhaseName, done: StepDone, ttl: Ttl) -> Save {
    Save::new(id, job.phase.clone(), phase.clone(), done.receipt, done.effects, ttl)
}

fn shown(loss: &Loss) -> Value {
    Value::Object(loss.to_document().into_fields())
}

fn past(deadline: Moment) -> u64 {
    u64::try_from(BootClock.now().since(deadline).as_millis()).unwrap_or(u64::MAX)
}

fn unexpected(doing: &'static str) -> Error {
    Error::System { doing, source: io::Error::other("this should not happen") }
}

/// Renewals that note when the last confirmed one was sent, from which the worker's own time counts.
struct NotedRenewals<'a> {
    store: &'a dyn WorkerStore,
    confirmed: Mutex<Moment>,
}

impl NotedRenewals<'_> {
    fn deadline(&self, settings: LeaseSettings) -> Moment {
        let confirmed = *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        let trusted: Duration = settings.trusted();
        confirmed.plus(trusted)
    }
}

#[async_trait]
impl Renewals for NotedRenewals<'_> {
    async fn renew(&self, lease: &LeaseId, ttl: Ttl) -> Result<RenewVerdict, StoreError> {
        let sent_at = BootClock.now();
        let verdict = self.store.renew(lease, ttl).await?;
        if matches!(verdict, RenewVerdict::Renewed { .. }) {
            *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = sent_at;
        }
        Ok(verdict)
    }

    async fn renew_many(&self, leases: &[LeaseId], ttl: Ttl) -> Result<Vec<RenewVerdict>, StoreError> {
        self.store.renew_many(leases, ttl).await
    }

    async fn standing(&self, lease: &LeaseId) -> Result<Standing, StoreError> {
        self.store.standing(lease).await
    }

    async fn mark_blocked(&self, lease: &LeaseId, reason: &Document) -> Result<BlockedVerdict, StoreError> {
        self.store.mark_blocked(lease, reason).await
    }
}
