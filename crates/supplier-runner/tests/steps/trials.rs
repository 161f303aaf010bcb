//! The product's own steps, each done twice and failed at every point.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use lease_core::{Document, Priority, RunId, RunKey, Submit};
use lease_fake::steps::{Call, Done, Findings, Steps, Trial};
use serde_json::{Value, json};
use supplier_runner::plan::{RunnablePlan, built_in};
use supplier_runner::step::{StepDone, StepEnd, StepRequest};

use crate::portal::TestPortal;
use crate::world::World;

/// A plan with every kind of step that acts by itself: the portal stands at `URL`.
const PLAN: &str = r#"
name = "every-kind"
version = 1
[[phase]]
name = "validated"
uses = "validate"
[[phase]]
name = "ordered"
command = ["sh", "order.sh"]
[[phase]]
name = "announced"
http = { url = "URL" }
[[phase]]
name = "registered"
uses = "register"
[[phase]]
name = "purchasing_enabled"
uses = "open_purchasing"
"#;

/// The steps of a plan file, with a folder and a portal of their own.
struct Ours {
    world: World,
    portal: TestPortal,
    plan: String,
    /// Whether the portal looks at the idempotency key that it is shown.
    honours_keys: bool,
}

impl Ours {
    async fn open(plan: &str, script: &str, honours_keys: bool) -> Self {
        let world = World::new();
        world.write("order.sh", script);
        let portal = TestPortal::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await;
        let plan = plan.replace("URL", &portal.url("/suppliers"));
        Self { world, portal, plan, honours_keys }
    }
}

impl Steps for Ours {
    /// The file is read anew by each worker.
    type Process = RunnablePlan;
    /// The orders in the folder, and how often the portal did something for each key.
    type Seen = (Vec<String>, BTreeMap<String, usize>);

    fn start(&self) -> RunnablePlan {
        if self.plan.is_empty() { built_in() } else { self.world.plan(&self.plan).unwrap() }
    }

    async fn step(&self, process: &mut RunnablePlan, call: &Call) -> Result<Done, String> {
        let request = StepRequest::new(&call.lease, &call.job, call.receipts.clone());
        let request = request.ok_or("the receipts are not those of the phases saved so far")?;
        assert_eq!(request.idempotency_key(), call.idempotency_key);
        let step = Arc::clone(&process.step_for(&call.phase).unwrap().step);
        match step.run(&request).await {
            StepEnd::Done(StepDone { receipt, effects }) => Ok(Done { receipt, effects }),
            StepEnd::Again { message, .. } | StepEnd::Failed { message, .. } => Err(message),
            StepEnd::AwaitApproval => Err("a person has to approve this".to_owned()),
        }
    }

    async fn seen(&self) -> Self::Seen {
        let folder = fs::read_dir(self.world.path("")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut orders: Vec<String> = names.filter(|name| name.starts_with("order-")).collect();
        orders.sort();
        let mut announced = BTreeMap::new();
        for request in self.portal.received() {
            let count = announced.entry(request.header("Idempotency-Key").unwrap().to_owned()).or_insert(0);
            *count = if self.honours_keys { 1 } else { *count + 1 };
        }
        (orders, announced)
    }
}

/// An order that is the same file for the same key.
const ORDER: &str = r#"cat > "order-$IDEMPOTENCY_KEY"; echo "{\"ordered\": \"$IDEMPOTENCY_KEY\"}""#;

fn supplier() -> Value {
    json!({
        "key": "S-1", "legal_name": "Café GmbH", "country": "DE", "tax_id": "DE136695976",
        "iban": "DE89370400440532013000", "bic": "DEUTDEFF", "currency": "EUR", "email": "ap@cafe.example",
    })
}

/// Both trials of a plan: every step twice, and every step failed once.
async fn tried(plan: &str, script: &str, honours_keys: bool) -> [Findings; 2] {
    let ours = Ours::open(plan, script, honours_keys).await;
    // Commands of tests that run beside this one are told by their run's id.
    let trial = Trial::new(Submit {
        id: RunId::new(uuid::Uuid::new_v4()),
        key: RunKey::new("S-1").unwrap(),
        plan: ours.start().plan,
        priority: Priority::default(),
        input: Document::from_value(supplier()).unwrap(),
    });
    let open = async || Ours::open(plan, script, honours_keys).await;
    [trial.every_step_twice(open).await, trial.every_step_failed_once(open).await]
}

/// RESUME, ONE-RECEIPT.
#[tokio::test]
async fn the_built_in_plan_can_be_done_twice_and_fail_anywhere() {
    for findings in tried("", "", true).await {
        assert!(findings.is_empty(), "{findings}");
    }
}

/// RESUME, ONE-RECEIPT.
#[tokio::test]
async fn command_and_http_steps_hand_on_what_makes_them_safe_to_repeat() {
    for findings in tried(PLAN, ORDER, true).await {
        assert!(findings.is_empty(), "{findings}");
    }
}

#[tokio::test]
async fn a_script_that_orders_anew_and_a_portal_that_ignores_its_key_are_found() {
    let anew = r#"cat > "order-$FENCING_TOKEN"; echo '{}'"#;
    for findings in tried(PLAN, anew, true).await {
        let text = findings.to_string();
        assert!(text.contains("ordered, after a death between the step and its save: the world"), "{text}");
        assert!(!text.contains("announced, "), "{text}");
    }
    for findings in tried(PLAN, ORDER, false).await {
        let text = findings.to_string();
        assert!(text.contains("announced, after a death between the step and its save: the world"), "{text}");
        assert!(!text.contains("ordered, "), "{text}");
    }
}
