//! A store that answers what it was told to, when it was told to, and writes down what it was asked
//! at which instant.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use lease_core::{
    BlockedVerdict, Claim, ClaimNext, ClaimVerdict, Claimed, Clock, Document, Fail, FailVerdict, LeaseId,
    LeaseStore, Release, ReleaseVerdict, RenewVerdict, Renewals, Save, SaveVerdict, Standing, StoreError,
    Ttl,
};
use lease_fake::FakeClock;

/// What happened, each line with its instant: `20s renew`.
#[derive(Clone)]
pub(crate) struct Log {
    clock: FakeClock,
    lines: Arc<Mutex<Vec<String>>>,
}

/// One answer.
pub(crate) struct Reply<V> {
    after: Duration,
    what: What<V>,
}

enum What<V> {
    Answer(V),
    Error(StoreError),
    Silence,
}

/// The answers to one kind of request, first to last.
struct Script<V>(Mutex<VecDeque<Reply<V>>>);

pub(crate) struct ScriptedStore {
    clock: FakeClock,
    log: Log,
    renewals: Script<RenewVerdict>,
    standings: Script<Standing>,
    saves: Script<SaveVerdict>,
    releases: Script<ReleaseVerdict>,
    fails: Script<FailVerdict>,
    saves_sent: Mutex<Vec<Save>>,
}

/// Writes down that a request was dropped without an answer.
struct InFlight<'a> {
    log: &'a Log,
    request: &'a str,
    answered: bool,
}

pub(crate) fn answer<V>(verdict: V) -> Reply<V> {
    Reply { after: Duration::ZERO, what: What::Answer(verdict) }
}

pub(crate) fn error<V>(error: StoreError) -> Reply<V> {
    Reply { after: Duration::ZERO, what: What::Error(error) }
}

pub(crate) fn silence<V>() -> Reply<V> {
    Reply { after: Duration::ZERO, what: What::Silence }
}

pub(crate) fn unreachable() -> StoreError {
    StoreError::Unreachable("no route".into())
}

pub(crate) fn not_applied() -> StoreError {
    StoreError::NotApplied("40001".into())
}

pub(crate) fn answer_lost() -> StoreError {
    StoreError::Unknown("connection reset".into())
}

impl<V> Reply<V> {
    pub(crate) fn after_millis(self, millis: u64) -> Self {
        Self { after: Duration::from_millis(millis), ..self }
    }

    pub(crate) fn after(self, seconds: u64) -> Self {
        self.after_millis(seconds * 1_000)
    }
}

impl Log {
    pub(crate) fn new(clock: &FakeClock) -> Self {
        Self { clock: clock.clone(), lines: Arc::default() }
    }

    pub(crate) fn add(&self, what: &str) {
        let at = self.clock.now().since_start();
        let mut lines = lock(&self.lines);
        lines.push(format!("{at:?} {what}"));
        let first_to_notice = lines.len() >= 1_000 && !std::thread::panicking();
        assert!(!first_to_notice, "it goes round and round: {:?}", &lines[..20]);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.lines).clone()
    }
}

impl<V: Debug> Script<V> {
    fn new() -> Self {
        Self(Mutex::default())
    }

    fn expect(&self, replies: impl IntoIterator<Item = Reply<V>>) {
        lock(&self.0).extend(replies);
    }

    fn next(&self) -> Option<Reply<V>> {
        lock(&self.0).pop_front()
    }
}

impl ScriptedStore {
    pub(crate) fn new(clock: &FakeClock, log: &Log) -> Self {
        Self {
            clock: clock.clone(),
            log: log.clone(),
            renewals: Script::new(),
            standings: Script::new(),
            saves: Script::new(),
            releases: Script::new(),
            fails: Script::new(),
            saves_sent: Mutex::default(),
        }
    }

    /// The answers to renewals. Those beyond the script are confirmed at once.
    pub(crate) fn renewals(&self, replies: impl IntoIterator<Item = Reply<RenewVerdict>>) {
        self.renewals.expect(replies);
    }

    /// The answer to the question how the lease stands. Without one, asking is a mistake.
    pub(crate) fn standing(&self, reply: Reply<Standing>) {
        self.standings.expect([reply]);
    }

    pub(crate) fn saves(&self, replies: impl IntoIterator<Item = Reply<SaveVerdict>>) {
        self.saves.expect(replies);
    }

    pub(crate) fn releases(&self, replies: impl IntoIterator<Item = Reply<ReleaseVerdict>>) {
        self.releases.expect(replies);
    }

    pub(crate) fn fails(&self, replies: impl IntoIterator<Item = Reply<FailVerdict>>) {
        self.fails.expect(replies);
    }

    pub(crate) fn saves_sent(&self) -> Vec<Save> {
        lock(&self.saves_sent).clone()
    }

    async fn reply<V>(&self, request: &str, reply: Option<Reply<V>>) -> Result<V, StoreError> {
        self.log.add(request);
        let Some(reply) = reply else { panic!("{request} was not expected: {:?}", self.log.lines()) };
        let mut in_flight = InFlight { log: &self.log, request, answered: false };
        if !reply.after.is_zero() {
            self.clock.sleep_until(self.clock.now().plus(reply.after)).await;
        }
        let answer = match reply.what {
            What::Answer(verdict) => Ok(verdict),
            What::Error(error) => Err(error),
            What::Silence => std::future::pending().await,
        };
        in_flight.answered = true;
        answer
    }
}

#[async_trait]
impl Renewals for ScriptedStore {
    async fn renew(&self, _: &LeaseId, _: Ttl) -> Result<RenewVerdict, StoreError> {
        let confirmed = answer(RenewVerdict::Renewed { yield_asked: false });
        self.reply("renew", Some(self.renewals.next().unwrap_or(confirmed))).await
    }

    async fn renew_many(&self, _: &[LeaseId], _: Ttl) -> Result<Vec<RenewVerdict>, StoreError> {
        self.reply("renew many", None).await
    }

    async fn standing(&self, _: &LeaseId) -> Result<Standing, StoreError> {
        self.reply("ask why", self.standings.next()).await
    }

    async fn mark_blocked(&self, _: &LeaseId, _: &Document) -> Result<BlockedVerdict, StoreError> {
        self.reply("mark blocked", None).await
    }
}

#[async_trait]
impl LeaseStore for ScriptedStore {
    async fn claim(&self, _: &Claim) -> Result<ClaimVerdict, StoreError> {
        self.reply("claim", None).await
    }

    async fn claim_next(&self, _: &ClaimNext) -> Result<Claimed, StoreError> {
        self.reply("claim next", None).await
    }

    async fn save(&self, save: &Save) -> Result<SaveVerdict, StoreError> {
        lock(&self.saves_sent).push(save.clone());
        self.reply("save", self.saves.next()).await
    }

    async fn release(&self, _: &Release) -> Result<ReleaseVerdict, StoreError> {
        self.reply("release", self.releases.next()).await
    }

    async fn fail(&self, _: &Fail) -> Result<FailVerdict, StoreError> {
        self.reply("fail", self.fails.next()).await
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.log.add(&format!("{} given up", self.request));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
