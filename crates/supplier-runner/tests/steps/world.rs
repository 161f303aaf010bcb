//! A folder with a plan in it, and requests for its phases.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lease_core::{Document, FencingToken, Job, LeaseId, OwnerId, Phase, RunId, RunKey};
use supplier_runner::plan::{PlanError, RunnablePlan, load_plan};
use supplier_runner::step::{Step, StepDone, StepEnd, StepRequest};
use tempfile::TempDir;

/// Long enough for a busy machine; nothing waits for it when all goes well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A folder for one test.
pub(crate) struct World {
    folder: TempDir,
    run: RunId,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), run: RunId::new(uuid::Uuid::new_v4()) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What the file holds once it holds a whole line.
    pub(crate) async fn line(&self, name: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(text) = fs::read_to_string(self.path(name))
                && let Some(line) = text.strip_suffix('\n')
            {
                return line.to_owned();
            }
            assert!(Instant::now() < deadline, "{name} was not written");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The plan in this text, with the test's own environment and two variables.
    pub(crate) fn plan(&self, text: &str) -> Result<RunnablePlan, PlanError> {
        self.plan_with(text, "t0ps3cret")
    }

    pub(crate) fn plan_with(&self, text: &str, token: &str) -> Result<RunnablePlan, PlanError> {
        let path = self.write("plan.toml", text);
        load_plan(&path, &|name| match name {
            "PORTAL_TOKEN" => Some(token.to_owned()),
            "BROKEN" => Some("a\nb".to_owned()),
            "DATABASE_URL" => Some("postgres://secret".to_owned()),
            name => std::env::var(name).ok(),
        })
    }

    /// A plan of one phase, `done`, that does this.
    pub(crate) fn single(&self, does: &str) -> RunnablePlan {
        let text = format!("name = \"p\"\nversion = 1\n[[phase]]\nname = \"done\"\n{does}\n");
        self.plan(&text).unwrap()
    }

    /// The step that runs this shell script.
    pub(crate) fn script(&self, script: &str) -> Arc<dyn Step> {
        self.write("script.sh", script);
        only_step(&self.single("command = [\"sh\", \"script.sh\"]\nenv = [\"PORTAL_TOKEN\"]"))
    }

    /// The request for the only phase of a plan.
    pub(crate) fn request(&self, fence: u64) -> StepRequest {
        self.request_with(fence, Document::from_json(br#"{"key":"S-1","name":"Caf\u00e9"}"#).unwrap())
    }

    pub(crate) fn request_with(&self, fence: u64, input: Document) -> StepRequest {
        let lease = LeaseId {
            run: self.run,
            owner: OwnerId::from_stored("tester").unwrap(),
            fence: FencingToken::new(fence).unwrap(),
        };
        let job = Job {
            key: RunKey::new("S-1").unwrap(),
            plan: self.single("uses = \"approval\"").plan,
            phase: Phase::Submitted,
            losses: 0,
            failures: 0,
            key_epoch: 0,
            input,
        };
        StepRequest::new(&lease, &job, Vec::new()).unwrap()
    }
}

pub(crate) fn only_step(plan: &RunnablePlan) -> Arc<dyn Step> {
    let [phase] = plan.phases() else { panic!("one phase") };
    Arc::clone(&phase.step)
}

/// The step's end, within the test's patience.
pub(crate) async fn ended(step: &Arc<dyn Step>, request: &StepRequest) -> StepEnd {
    tokio::time::timeout(PATIENCE, step.run(request)).await.expect("the step ends by itself")
}

pub(crate) fn receipt(end: StepEnd) -> String {
    match end {
        StepEnd::Done(StepDone { receipt, .. }) => receipt.to_json(),
        StepEnd::Again { .. } | StepEnd::Failed { .. } | StepEnd::AwaitApproval => {
            panic!("not done: {end:?}")
        }
    }
}

pub(crate) fn failure(end: StepEnd) -> String {
    match end {
        StepEnd::Failed { kind: "step", message } => message,
        StepEnd::Failed { .. } | StepEnd::Done(_) | StepEnd::Again { .. } | StepEnd::AwaitApproval => {
            panic!("no failure of the step: {end:?}")
        }
    }
}
