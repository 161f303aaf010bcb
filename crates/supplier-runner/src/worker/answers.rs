//! The store's answers to a worker's claims: waited for as long as they are worth having, and what
//! is to be said when none come.

use std::sync::Arc;
use std::time::Duration;

use lease_core::{Moment, StoreError};

use super::lanes::OwnedTask;
use super::main_loop::Context;

/// Log lines about the same trouble come no more often than this.
const QUIET: Duration = Duration::from_secs(60);

/// Keeps track of whether the store answers.
pub(super) struct Answers {
    context: Arc<Context>,
    is_down: bool,
    /// Errors in a row that asking again does not help.
    refusals: u32,
    /// Claims that were sent together are refused together, and count once.
    next_refusal: Moment,
    quiet_until: Moment,
    stranded_look: Moment,
    /// The look that is under way.
    look: Option<OwnedTask<()>>,
}

/// What came of a claim.
pub(super) enum Answer<T> {
    /// An answer.
    Came(T),
    /// None, for now.
    None,
    /// Again and again an error that asking again does not help.
    Refused(StoreError),
}

impl Answers {
    /// A refusal may come from a schema that is being changed: so many in a row do not.
    const REFUSALS: u32 = 5;

    pub(super) fn new(context: Arc<Context>) -> Self {
        let now = context.clock.now();
        Self {
            context,
            is_down: false,
            refusals: 0,
            next_refusal: now,
            quiet_until: now,
            stranded_look: now,
            look: None,
        }
    }

    /// The answer to a claim that was sent at `sent_at`, if one comes while the lease it brings would
    /// still be worth having.
    pub(super) async fn wait_for<T>(
        context: &Context,
        request: impl Future<Output = Result<T, StoreError>>,
        sent_at: Moment,
    ) -> Result<T, StoreError> {
        let worth_having = sent_at.plus(context.settings.lease.trusted());
        tokio::select! {
            biased;
            answer = request => answer,
            () = context.stopping.grace_over() => Err(StoreError::Unknown("told to stop".into())),
            () = context.clock.sleep_until(worth_having) => Err(StoreError::Unknown("no answer in time".into())),
        }
    }

    /// Takes in what came of a claim.
    pub(super) fn note<T>(&mut self, answer: Result<T, StoreError>) -> Answer<T> {
        match answer {
            Ok(answer) => {
                self.refusals = 0;
                if std::mem::take(&mut self.is_down) {
                    tracing::info!("the store answers again");
                }
                Answer::Came(answer)
            }
            Err(error) if error.may_try_again() => {
                self.refusals = 0;
                if !std::mem::replace(&mut self.is_down, true) {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "cannot claim; trying again");
                }
                Answer::None
            }
            Err(error) => self.refused(error),
        }
    }

    fn refused<T>(&mut self, error: StoreError) -> Answer<T> {
        let now = self.context.clock.now();
        self.is_down = true;
        if now >= self.next_refusal {
            self.refusals = self.refusals.saturating_add(1);
            self.next_refusal = now.plus(self.context.settings.claim_pause());
        }
        if now >= self.quiet_until {
            self.quiet_until = now.plus(QUIET);
            let error: &dyn std::error::Error = &error;
            tracing::error!(error, "cannot claim, and trying again will hardly help");
        }
        if self.refusals < Self::REFUSALS { Answer::None } else { Answer::Refused(error) }
    }

    /// Says, at most once a minute, which plans open runs wait for in vain. Nothing waits for that.
    pub(super) fn tell_of_stranded(&mut self) {
        let now = self.context.clock.now();
        if now < self.stranded_look {
            return;
        }
        self.stranded_look = now.plus(QUIET);
        let look = look_for_stranded(Arc::clone(&self.context));
        self.look = Some(OwnedTask::spawn(&tokio::runtime::Handle::current(), look));
    }
}

async fn look_for_stranded(context: Arc<Context>) {
    let known = context.known();
    let stranded = tokio::select! {
        biased;
        () = context.stopping.draining() => return,
        stranded = context.store.stranded(&known) => stranded,
    };
    match stranded {
        Ok(stranded) => {
            for waiting in stranded {
                tracing::warn!(
                    plan = %waiting.plan, digest = %waiting.plan.digest, runs = waiting.runs,
                    "open runs wait for a plan that this worker was not given"
                );
            }
        }
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "cannot look for runs of unknown plans");
        }
    }
}
