//! The plans in `examples/plans` really run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use lease_core::{Document, PhaseName};
use supplier_runner::plan::{RunnablePlan, load_plan};
use supplier_runner::step::{Step, StepEnd};
use supplier_runner::supplier::SupplierRecord;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::world::{World, ended, failure, receipt};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans")
}

fn load(path: &Path) -> RunnablePlan {
    load_plan(path, &|name| match name {
        "PORTAL_TOKEN" => Some("t0ps3cret".to_owned()),
        name => std::env::var(name).ok(),
    })
    .unwrap()
}

fn step(plan: &RunnablePlan, phase: &str) -> Arc<dyn Step> {
    Arc::clone(&plan.step_for(&PhaseName::new(phase).unwrap()).unwrap().step)
}

fn supplier(legal_name: &str) -> Document {
    Document::from_value(serde_json::json!({ "key": "S-1", "legal_name": legal_name })).unwrap()
}

#[tokio::test]
async fn the_screening_plan_lets_suppliers_pass_and_stops_those_on_its_list() {
    let world = World::new();
    let screened = step(&load(&examples().join("screening.toml")), "screened");
    let passed = ended(&screened, &world.request_with(1, supplier("Café \"Zum Löwen\" GmbH"))).await;
    assert_eq!(receipt(passed), r#"{"hit":false,"screened_against":3}"#);
    let stopped = ended(&screened, &world.request_with(1, supplier("OSTWIND Handelskontor GmbH"))).await;
    assert!(failure(stopped).contains("exit code 1: the supplier is on the list of blocked parties"));
}

#[test]
fn no_example_supplier_is_on_the_list() {
    let list = fs::read_to_string(examples().join("steps/blocked-parties.txt")).unwrap().to_lowercase();
    let file = examples().join("../suppliers.csv");
    let reading = supplier_runner::supplier::read_files(&[file], None);
    let names = reading.records.iter().map(|read| SupplierRecord::legal_name(&read.value).as_str());
    assert!(names.clone().count() >= 40);
    let blocked: Vec<&str> = names.filter(|name| list.contains(&name.to_lowercase())).collect();
    assert!(blocked.is_empty(), "{blocked:?}");
}

/// The example portal on a free port. It ends when this is dropped.
async fn portal() -> (Child, String) {
    let mut child = Command::new("python3")
        .arg(examples().join("portal.py"))
        .arg("0")
        .env("PORTAL_TOKEN", "t0ps3cret")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("python3 is needed for the example portal");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.next_line().await.unwrap().unwrap();
    let url = line.strip_prefix("listening on ").unwrap().to_owned();
    // The portal logs to this pipe; somebody has to read it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

#[tokio::test]
async fn the_announcing_plan_speaks_with_the_example_portal() {
    let (_portal, url) = portal().await;
    let world = World::new();
    let text = fs::read_to_string(examples().join("announcing.toml")).unwrap();
    let text = text.replace("http://127.0.0.1:8080/suppliers", &url);
    let announced = step(&load(&world.write("announcing.toml", &text)), "announced");

    let first = receipt(ended(&announced, &world.request(2)).await);
    assert_eq!(first, r#"{"portal_id":"P-0001","supplier":"S-1"}"#);
    // Done once more by the next claim: the same receipt, nothing new.
    assert_eq!(receipt(ended(&announced, &world.request(3)).await), first);
    // A worker that lost its lease comes late.
    let late = failure(ended(&announced, &world.request(2)).await);
    assert!(late.ends_with("answered 412: {\"error\": \"token 2 is older than 3\"}"), "{late}");
    // Another body under the same key.
    let other = ended(&announced, &world.request_with(3, supplier("Other"))).await;
    assert!(failure(other).contains("answered 409"));
    let mut busy = 0;
    for _ in 0..4 {
        let world = World::new();
        if let StepEnd::Again { after, .. } = ended(&announced, &world.request(1)).await {
            busy += 1;
            assert_eq!(after, Some(std::time::Duration::from_secs(1)));
            assert!(receipt(ended(&announced, &world.request(1)).await).contains("P-0005"));
        }
    }
    assert_eq!(busy, 1);
}
