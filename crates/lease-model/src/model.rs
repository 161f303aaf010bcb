//! The state machine: workers, the messages under way, the store, and a clock.
//!
//! A worker that stalls is one that does nothing while the clock goes on. A message may be late for any
//! time, lost, or delivered twice; what a worker no longer waits for is dropped.

use std::sync::atomic::{AtomicU32, Ordering};

use stateright::{Model, Property};

use crate::message::{After, Answer, Ending, Hold, Holder, Message, Request};
use crate::pace::{Longest, Pace};
use crate::rules::{PHASES, Rules, goes_on};
use crate::setting::{Guard, Restored, Setting};
use crate::tables::Tables;
use crate::witness::{Law, Witness};

/// Everything at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The store's clock, and everybody's.
    pub now: u8,
    /// The store.
    pub tables: Tables,
    /// The workers.
    pub workers: Vec<Worker>,
    /// What is under way, in no order.
    pub network: Vec<Message>,
    pub(crate) claims_sent: u8,
    acts_left: u8,
    restores_left: u8,
    pub(crate) witness: Witness,
    pub(crate) pace: Pace,
}

/// A worker, and when the request whose answer it waits for set out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Worker {
    /// What it does.
    pub doing: Doing,
    /// The request it waits for, and when that set out.
    pub waits: Option<(Request, u8)>,
}

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Nothing, or it waits for a claim.
    Idle,
    /// It holds a lease, as far as it knows.
    Holding(Held),
    /// Its work is done, and is to be saved.
    Saving(Held),
    /// It gives the lease back.
    Ending(Held, Ending),
    /// It was turned away, or gave up, and is to write that down.
    Lost(Holder),
}

/// A lease as its holder knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// Which.
    pub holder: Holder,
    /// The phase saved last.
    pub phase: u8,
    /// The local deadline.
    pub deadline: u8,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A tick of the clock.
    Tick,
    /// A worker sends a request.
    Send(u8, Request),
    /// A worker gives up waiting for an answer.
    GiveUpWaiting(u8),
    /// A worker stops at its local deadline.
    Stop(u8),
    /// A worker dies, and forgets everything.
    Crash(u8),
    /// A message arrives.
    Deliver(Message),
    /// A request arrives, and a copy of it is still under way; nobody hears the answer to the first.
    DeliverTwice(Message),
    /// A message is lost.
    Lose(Message),
    /// An operator cancels the run.
    Cancel,
    /// An operator takes the lease away.
    Revoke,
    /// The store is set back.
    Restore,
}

/// The model of one setting.
#[derive(Debug)]
pub struct LeaseModel {
    /// What is explored.
    pub setting: Setting,
    rules: Rules,
    /// A bit for each kind of answer that the store gave.
    reached: AtomicU32,
    pub(crate) longest: Longest,
}

impl LeaseModel {
    /// A model of this setting.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        Self { setting, rules: Rules::new(setting), reached: AtomicU32::new(0), longest: Longest::default() }
    }

    /// The kinds of answers that were given, by their names.
    #[must_use]
    pub fn reached(&self) -> Vec<&'static str> {
        let bits = self.reached.load(Ordering::Relaxed);
        let given = Answer::KINDS.iter().enumerate().filter(|(kind, _)| bits & (1 << kind) != 0);
        given.map(|(_, name)| *name).collect()
    }

    fn deliver(&self, state: &mut State, message: Message, again: bool) {
        if let Some(answer) = message.answer {
            self.hear(state, message, answer);
            return;
        }
        let before = state.tables.row;
        let request = message.request;
        let answer = self.rules.judge(&mut state.tables, request, message.sent_at, state.now);
        state.witness.hear(request, answer, self.setting.loss_limit, state.now);
        if let Some(kind) = answer.kind() {
            self.reached.fetch_or(1 << kind, Ordering::Relaxed);
        }
        let turned_away = matches!(answer, Answer::Refused(_)) || matches!(request, Request::MarkBlocked(_));
        if turned_away && state.tables.row != before {
            state.witness.breaks(Law::BlockedNotFailed);
        }
        state.witness.look(&state.tables);
        if again {
            return;
        }
        if self.setting.late_answers {
            state.network.push(Message { answer: Some(answer), ..message });
        } else if state.workers[usize::from(message.worker)].waits == Some((request, message.sent_at)) {
            self.hear(state, message, answer);
        }
    }

    /// A worker hears what it waits for.
    fn hear(&self, state: &mut State, message: Message, answer: Answer) {
        if let (Answer::Refused(_), Some(holder)) = (answer, message.request.holder()) {
            state.witness.was_told(holder);
        }
        let worker = &mut state.workers[usize::from(message.worker)];
        let (sent_at, now) = (message.sent_at, state.now);
        worker.waits = None;
        let from_sending = self.setting.without != Some(Guard::DeadlineFromSending);
        let counted_from = if from_sending { sent_at } else { now };
        let trusted = |deadline: u8| !self.rules.must_stop(deadline, now);
        worker.doing = match (worker.doing, answer) {
            (Doing::Idle, Answer::Granted(fence, phase)) => {
                let Request::Claim(owner) = message.request else { unreachable!("only a claim is granted") };
                let holder = Holder { owner, fence };
                let deadline = self.rules.deadline(holder, counted_from);
                // An answer that comes late is not trusted.
                if trusted(deadline) { Doing::Holding(Held { holder, phase, deadline }) } else { Doing::Idle }
            }
            (Doing::Holding(held), Answer::Renewed) if trusted(held.deadline) => {
                let deadline = self.rules.deadline(held.holder, counted_from).max(held.deadline);
                Doing::Holding(Held { deadline, ..held })
            }
            (Doing::Holding(held), Answer::Refused(_)) if self.setting.without == Some(Guard::LossWins) => {
                Doing::Saving(held)
            }
            (Doing::Saving(held), Answer::Saved(After::Held)) => {
                let deadline = self.rules.deadline(held.holder, counted_from).max(held.deadline);
                next_phase(held, deadline, now, &self.rules)
            }
            // It does not say when the lease was made longer.
            (Doing::Saving(held), Answer::AlreadySaved(After::Held)) => {
                next_phase(held, held.deadline, now, &self.rules)
            }
            (Doing::Saving(_), Answer::Saved(After::Completed) | Answer::AlreadySaved(After::Completed))
            | (Doing::Ending(..), Answer::Ended | Answer::AlreadyEnded) => Doing::Idle,
            (
                Doing::Holding(held) | Doing::Saving(held) | Doing::Ending(held, _),
                Answer::Refused(_) | Answer::Undone | Answer::AlreadySaved(After::Lost(_)),
            ) => Doing::Lost(held.holder),
            (doing, _) => doing,
        };
    }

    fn send(&self, state: &mut State, worker: u8, request: Request) {
        let now = state.now;
        let it = &mut state.workers[usize::from(worker)];
        match (request, it.doing) {
            (Request::Claim(_), _) => state.claims_sent += u8::from(self.setting.troubles.is_none()),
            (Request::Save(..), Doing::Holding(held)) => it.doing = Doing::Saving(held),
            (Request::End(_, _, ending), Doing::Holding(held)) => it.doing = Doing::Ending(held, ending),
            (Request::MarkBlocked(_), _) => it.doing = Doing::Idle,
            (Request::Renew(_) | Request::Save(..) | Request::End(..), _) => {}
        }
        state.witness.hear_of(request);
        // Whether that was written down makes no difference to what it does next.
        let waits = !matches!(request, Request::MarkBlocked(_));
        it.waits = waits.then_some((request, now));
        state.network.push(Message { worker, sent_at: now, request, answer: None });
    }

    fn sendable(&self, state: &State, worker: &Worker, actions: &mut Vec<Request>) {
        let now = state.now;
        let may_act = |held: &Held| !self.rules.must_stop(held.deadline, now);
        match &worker.doing {
            Doing::Idle => actions.extend(self.next_owner(state).map(Request::Claim)),
            Doing::Holding(held) if may_act(held) => {
                actions.push(Request::Renew(held.holder));
                actions.push(Request::Save(held.holder, held.phase));
                for ending in [Ending::Yield, Ending::Retry, Ending::Fail] {
                    actions.push(Request::End(held.holder, held.phase, ending));
                }
            }
            Doing::Saving(held) if may_act(held) => actions.push(Request::Save(held.holder, held.phase)),
            Doing::Ending(held, ending) if may_act(held) => {
                actions.push(Request::End(held.holder, held.phase, *ending));
            }
            Doing::Lost(holder) => actions.push(Request::MarkBlocked(*holder)),
            Doing::Holding(_) | Doing::Saving(_) | Doing::Ending(..) => {}
        }
    }

    /// SELF-STOP: up to its local deadline, a worker's lease is live in the store, or was ended there.
    fn stops_in_time(&self, state: &State) -> bool {
        state.workers.iter().all(|worker| match worker.doing {
            Doing::Holding(held) | Doing::Saving(held) | Doing::Ending(held, _)
                if state.now <= held.deadline =>
            {
                let loss = state.witness.loss(held.holder, state.now);
                let ended = state.witness.has_ended(held.holder);
                ended || !matches!(loss, Some(crate::Why::Expired | crate::Why::Superseded(_)))
            }
            Doing::Idle | Doing::Holding(_) | Doing::Saving(_) | Doing::Ending(..) | Doing::Lost(_) => true,
        })
    }

    /// LIVENESS: whenever the run is free, a claim that arrives is granted, or sets the run aside.
    fn is_claimable(&self, state: &State) -> bool {
        if !state.witness.is_free(state.now) {
            return true;
        }
        let mut tables = state.tables.clone();
        let asked = Request::Claim(self.setting.claims);
        let answer = self.rules.judge(&mut tables, asked, state.now, state.now);
        matches!(answer, Answer::Granted(..) | Answer::SetAside)
    }
}

impl Doing {
    /// The lease that it is about.
    fn holder(self) -> Option<Holder> {
        match self {
            Self::Idle => None,
            Self::Holding(held) | Self::Saving(held) | Self::Ending(held, _) => Some(held.holder),
            Self::Lost(holder) => Some(holder),
        }
    }
}

/// What a worker does after a save that landed: the next phase, while the lease is still its own.
fn next_phase(held: Held, deadline: u8, now: u8, rules: &Rules) -> Doing {
    let held = Held { phase: held.phase + 1, deadline, ..held };
    if held.phase == PHASES {
        Doing::Idle
    } else if rules.must_stop(deadline, now) {
        Doing::Lost(held.holder)
    } else {
        Doing::Holding(held)
    }
}

impl Model for LeaseModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            now: 0,
            tables: Tables { row: self.rules.opened(), receipts: Vec::new(), attempts: Vec::new() },
            workers: vec![Worker { doing: Doing::Idle, waits: None }; usize::from(self.setting.workers)],
            network: Vec::new(),
            claims_sent: 0,
            acts_left: if self.setting.plain { 0 } else { self.setting.operator_acts },
            restores_left: u8::from(self.setting.restored != Restored::Never),
            witness: Witness::new(),
            pace: Pace::new(&self.setting),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.now < self.setting.ticks {
            actions.push(Action::Tick);
        }
        let room = state.network.len() < self.setting.in_flight;
        for (number, worker) in (0..).zip(&state.workers) {
            if worker.waits.is_some() {
                actions.push(Action::GiveUpWaiting(number));
            } else if room {
                let mut requests = Vec::new();
                self.sendable(state, worker, &mut requests);
                actions.extend(requests.into_iter().map(|request| Action::Send(number, request)));
            }
            if let Doing::Holding(held) | Doing::Saving(held) | Doing::Ending(held, _) = worker.doing
                && self.rules.must_stop(held.deadline, state.now)
            {
                actions.push(Action::Stop(number));
            }
            if !self.setting.plain && worker.doing != Doing::Idle {
                actions.push(Action::Crash(number));
            }
        }
        for message in &state.network {
            actions.push(Action::Deliver(*message));
            // An answer that is lost is one that its worker gave up waiting for.
            if message.answer.is_none() {
                actions.push(Action::Lose(*message));
                actions.push(Action::DeliverTwice(*message));
            }
        }
        if state.acts_left > 0 && state.witness.goes_on() && goes_on(state.tables.row.status) {
            actions.push(Action::Cancel);
            if state.witness.is_live(state.now) && matches!(state.tables.row.hold, Hold::Held(..)) {
                actions.push(Action::Revoke);
            }
        }
        if state.restores_left > 0 {
            actions.push(Action::Restore);
        }
        actions.retain(|action| self.may_happen(state, action));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let taken = |state: &mut State, message: Message| {
            let place = state.network.iter().position(|there| *there == message);
            state.network.swap_remove(place.expect("a message under way"));
        };
        match action {
            Action::Tick => state.now += 1,
            Action::Send(worker, request) => self.send(&mut state, worker, request),
            Action::GiveUpWaiting(worker) => state.workers[usize::from(worker)].waits = None,
            Action::Stop(worker) => {
                let it = &mut state.workers[usize::from(worker)];
                if let Doing::Holding(held) | Doing::Saving(held) | Doing::Ending(held, _) = it.doing {
                    *it = Worker { doing: Doing::Lost(held.holder), waits: None };
                }
            }
            Action::Crash(worker) => {
                state.workers[usize::from(worker)] = Worker { doing: Doing::Idle, waits: None };
            }
            Action::Deliver(message) => {
                taken(&mut state, message);
                self.deliver(&mut state, message, false);
            }
            Action::DeliverTwice(message) => self.deliver(&mut state, message, true),
            Action::Lose(message) => taken(&mut state, message),
            Action::Cancel => {
                state.acts_left -= 1;
                self.rules.cancel(&mut state.tables, state.now);
                state.witness.hear_cancelled();
                state.witness.look(&state.tables);
            }
            Action::Revoke => {
                state.acts_left -= 1;
                self.rules.revoke(&mut state.tables, state.now);
                state.witness.hear_revoked();
                state.witness.look(&state.tables);
            }
            Action::Restore => {
                state.restores_left -= 1;
                let kept = std::mem::take(&mut state.tables.receipts);
                state.tables =
                    Tables { row: self.rules.opened(), receipts: Vec::new(), attempts: Vec::new() };
                state.witness = Witness::of_a_restored_store();
                if self.setting.restored == Restored::ButReceipts {
                    state.tables.receipts = kept;
                }
            }
        }
        // What nobody waits for any more is not heard, whenever it comes.
        let workers = &state.workers;
        state.network.retain(|message| {
            message.answer.is_none()
                || workers[usize::from(message.worker)].waits == Some((message.request, message.sent_at))
        });
        state.network.sort_unstable();
        let (workers, witness) = (&state.workers, &mut state.witness);
        witness.forget(|holder| workers.iter().any(|worker| worker.doing.holder() == Some(holder)));
        self.keep_time(last, &action, &mut state);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties =
            vec![Property::<Self>::always("ONE-RECEIPT", |_, state| state.witness.holds(Law::OneReceipt))];
        // Tables that do not fit each other break everything else by themselves.
        if self.setting.restored == Restored::ButReceipts {
            return properties;
        }
        properties.extend([
            Property::<Self>::always("FENCE-UP", |_, state| state.witness.holds(Law::FenceUp)),
            Property::<Self>::always("ONE-HOLDER", |_, state| state.witness.holds(Law::OneHolder)),
            Property::<Self>::always("NO-LATE-SAVE", |_, state| state.witness.holds(Law::NoLateSave)),
            Property::<Self>::always("NO-LAZARUS", |_, state| state.witness.holds(Law::NoLazarus)),
            Property::<Self>::always("IN-ORDER", |_, state| state.witness.holds(Law::InOrder)),
            Property::<Self>::always("ALL-OR-NOTHING", |_, state| state.witness.holds(Law::AllOrNothing)),
            Property::<Self>::always("RESUME", |_, state| state.witness.holds(Law::Resume)),
            Property::<Self>::always("TRUTH", |_, state| state.witness.holds(Law::Truth)),
            Property::<Self>::always("BLOCKED-NOT-FAILED", |_, state| {
                state.witness.holds(Law::BlockedNotFailed)
            }),
            Property::<Self>::always("LIVENESS", |model, state| {
                state.witness.holds(Law::Liveness) && model.is_claimable(state)
            }),
        ]);
        if self.setting.troubles.is_some() {
            properties.extend([
                Property::<Self>::always("LIVENESS, claimed in time", |_, state| {
                    state.pace.is_claimed_in_time()
                }),
                Property::<Self>::always("LIVENESS, completed in time", |_, state| {
                    state.pace.is_completed_in_time()
                }),
            ]);
        }
        // Whoever holds a lease that the store has forgotten cannot know.
        if self.setting.restored == Restored::Never {
            properties.push(Property::<Self>::always("SELF-STOP", |model, state| model.stops_in_time(state)));
        }
        properties
    }
}
