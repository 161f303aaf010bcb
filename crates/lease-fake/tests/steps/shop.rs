//! A shop whose steps are good, or bad in a way that a test chooses.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use lease_core::{
    Clock, Document, Effect, EffectKind, Effects, PhaseList, Plan, PlanName, PlanVersion, Priority, RunId,
    RunKey, Submit,
};
use lease_fake::FakeClock;
use lease_fake::steps::{Call, Done, Findings, Steps, Trial};
use serde_json::{Value, json};

/// What is bad about a shop's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    Nothing,
    /// It orders without showing the idempotency key.
    OrdersWithoutKey,
    /// Its receipt has a random part.
    RandomReceipt,
    /// Its row has a random part.
    RandomRow,
    /// It takes the order's number from its own memory, and not from the receipt.
    Remembers,
    /// The same, and it expects the number to be there.
    Insists,
    /// The second call of a key is refused.
    SaysNoTheSecondTime,
    /// It never can.
    SaysNo,
    /// It puts the fencing token into its receipt.
    TellsItsNumber,
    /// It sleeps for longer than a lease, and its worker's clock with it.
    HoldsUpTheClock,
}

/// The shop's wholesaler: one order for each key that it was shown.
#[derive(Default)]
struct Wholesaler {
    orders: u32,
    keys: BTreeSet<String>,
}

/// The steps, and the wholesaler that they order from.
pub(crate) struct Shop<'a> {
    fault: Fault,
    clock: &'a FakeClock,
    random: &'a Cell<u32>,
    wholesaler: RefCell<Wholesaler>,
    /// What may differ between two receipts.
    lenient: bool,
}

/// What a worker keeps in memory.
#[derive(Default)]
pub(crate) struct Memory {
    order: Option<u32>,
}

impl Shop<'_> {
    /// Orders, and says which order that is. A key that was shown before orders nothing more.
    fn order(&self, key: Option<&str>) -> Result<u32, String> {
        let mut wholesaler = self.wholesaler.borrow_mut();
        let known = key.is_some_and(|key| !wholesaler.keys.insert(key.to_owned()));
        if known && self.fault == Fault::SaysNoTheSecondTime {
            return Err("this key was used".to_owned());
        }
        wholesaler.orders += u32::from(!known);
        Ok(wholesaler.orders)
    }

    fn next_random(&self) -> u32 {
        self.random.set(self.random.get() + 1);
        self.random.get()
    }

    async fn ordered(&self, memory: &mut Memory, call: &Call) -> Result<Done, String> {
        let wait = Duration::from_secs(200);
        if self.fault == Fault::HoldsUpTheClock {
            self.clock.advance(wait);
        }
        // Longer than a lease: the heartbeat keeps it.
        self.clock.sleep_until(self.clock.now().plus(wait)).await;
        let key = Some(call.idempotency_key.as_str());
        let number = self.order(key.filter(|_| self.fault != Fault::OrdersWithoutKey))?;
        memory.order = Some(number);
        let mut receipt = json!({ "order": number });
        match self.fault {
            Fault::RandomReceipt => receipt["token"] = self.next_random().into(),
            Fault::TellsItsNumber => receipt["number"] = call.lease.fence.get().into(),
            Fault::Nothing
            | Fault::OrdersWithoutKey
            | Fault::RandomRow
            | Fault::Remembers
            | Fault::Insists
            | Fault::SaysNoTheSecondTime
            | Fault::SaysNo
            | Fault::HoldsUpTheClock => {}
        }
        Ok(Done::receipt(document(receipt)))
    }

    fn booked(&self, memory: &Memory, call: &Call) -> Result<Done, String> {
        let order = match self.fault {
            Fault::Remembers => memory.order.ok_or("no order was placed")?,
            Fault::Insists => memory.order.expect("the order was placed before"),
            Fault::SaysNo => return Err("the books are closed".to_owned()),
            Fault::Nothing
            | Fault::OrdersWithoutKey
            | Fault::RandomReceipt
            | Fault::RandomRow
            | Fault::SaysNoTheSecondTime
            | Fault::TellsItsNumber
            | Fault::HoldsUpTheClock => {
                let order = call.receipts.first().and_then(|receipt| receipt.body.fields()["order"].as_u64());
                u32::try_from(order.ok_or("no receipt of an order")?).unwrap()
            }
        };
        let page = if self.fault == Fault::RandomRow { self.next_random() } else { 1 };
        let row = document(json!({ "order": order, "page": page, "for": call.job.input.fields()["for"] }));
        let effect = Effect { kind: EffectKind::new("book").unwrap(), body: row };
        let effects = Effects::new(vec![effect]).unwrap();
        Ok(Done { receipt: document(json!({ "booked": order })), effects })
    }
}

impl Steps for Shop<'_> {
    type Process = Memory;
    type Seen = u32;

    fn start(&self) -> Memory {
        Memory::default()
    }

    async fn step(&self, memory: &mut Memory, call: &Call) -> Result<Done, String> {
        match call.phase.as_str() {
            "ordered" => self.ordered(memory, call).await,
            "booked" => self.booked(memory, call),
            _ => Ok(Done::receipt(Document::default())),
        }
    }

    async fn seen(&self) -> u32 {
        self.wholesaler.borrow().orders
    }

    fn same(&self, phase: &lease_core::PhaseName, first: &Done, again: &Done) -> bool {
        if self.lenient && phase.as_str() == "ordered" {
            let order = |done: &Done| done.receipt.fields()["order"].clone();
            return order(first) == order(again);
        }
        first == again
    }
}

/// A trial of a shop.
pub(crate) struct Tried {
    trial: Trial,
    random: Cell<u32>,
    fault: Fault,
    lenient: bool,
}

impl Tried {
    pub(crate) fn new(fault: Fault) -> Self {
        let phases = PhaseList::from_names(["ordered", "booked", "filed"]).unwrap();
        let plan = Plan::new(PlanName::new("shop").unwrap(), PlanVersion::new(1).unwrap(), phases, "");
        let trial = Trial::new(Submit {
            id: RunId::new(uuid::Uuid::from_u128(1)),
            key: RunKey::new("tea").unwrap(),
            plan,
            priority: Priority::default(),
            input: document(json!({ "for": "Zoë" })),
        });
        Self { trial, random: Cell::new(0), fault, lenient: false }
    }

    /// Receipts of an order are the same when their orders are.
    pub(crate) fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }

    fn open(&self) -> Shop<'_> {
        Shop {
            fault: self.fault,
            clock: self.trial.clock(),
            random: &self.random,
            wholesaler: RefCell::default(),
            lenient: self.lenient,
        }
    }

    pub(crate) fn twice(&self) -> Findings {
        let trial = self.trial.every_step_twice(async || self.open());
        lease_fake::drive::run(self.trial.clock(), trial).unwrap()
    }

    pub(crate) fn failed(&self) -> Findings {
        let trial = self.trial.every_step_failed_once(async || self.open());
        lease_fake::drive::run(self.trial.clock(), trial).unwrap()
    }
}

/// The findings as lines of text.
pub(crate) fn told(findings: &Findings) -> Vec<String> {
    findings.to_string().lines().map(str::to_owned).collect()
}

fn document(value: Value) -> Document {
    Document::from_value(value).unwrap()
}
