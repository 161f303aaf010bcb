//! `transfer`: runs move from a file to PostgreSQL with their numbers, all of them or none.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Database, Ended, Folder, Program, eventually, supplier};

/// A file with runs in every state that needs no live lease.
struct Source {
    folder: Folder,
    url: String,
    plan: std::path::PathBuf,
}

impl Source {
    fn new() -> Self {
        let folder = Folder::new();
        folder.script(
            "screen.sh",
            "read -r request; case $request in *bad*) exit 3;; *) echo '{\"hits\": 100}';; esac",
        );
        let phases = [
            ("validated", "uses = \"validate\""),
            ("screened", "command = [\"./screen.sh\"]"),
            ("confirmed", "uses = \"approval\""),
            ("registered", "uses = \"register\""),
        ];
        let plan = folder.plan("plan.toml", "long", 1, &phases);
        let url = format!("sqlite://{}", folder.path("runs.db").display());
        let source = Self { folder, url, plan };
        source.on(&["migrate"]).expect_code(0);
        // Completed ones, with rows in the supplier's tables.
        let records: Vec<String> = (0..20).map(|number| supplier(&format!("DONE-{number:02}"))).collect();
        let file = source.folder.write("done.ndjson", records.join("\n"));
        source.program().args(["run"]).file(&file).end().expect_code(0);
        // Waiting ones, a failed one, a cancelled one, a paused one, and one never claimed.
        let records = ["WAIT-1", "WAIT-2", "bad-1", "CANCEL-1", "PAUSE-1"].map(supplier);
        let file = source.folder.write("long.ndjson", records.join("\n"));
        source.program().args(["submit", "--plan"]).file(&source.plan).file(&file).end().expect_code(0);
        source.on(&["pause", "PAUSE-1", "--by", "kim", "--reason", "look at it"]).expect_code(0);
        source.on(&["cancel", "CANCEL-1", "--by", "kim", "--yes"]).expect_code(0);
        source.program().args(["work", "--drain", "--plan"]).file(&source.plan).end().expect_code(20);
        source.on(&["approve", "WAIT-2", "--phase", "confirmed", "--by", "ann"]).expect_code(0);
        let file = source.folder.write("new.ndjson", supplier("NEW-1"));
        source.program().args(["submit"]).file(&file).end().expect_code(0);
        source
    }

    fn program(&self) -> Program {
        Program::new().env("DATABASE_URL", &self.url)
    }

    fn on(&self, args: &[&str]) -> Ended {
        self.program().args(args.iter().copied()).end()
    }

    fn transfer(&self, to: &Database) -> Ended {
        Program::new().args(["--json", "transfer", "--from", &self.url, "--to", to.url()]).end()
    }
}

/// All runs as `show` tells of them, without what passes with time.
fn everything(program: impl Fn() -> Program) -> Vec<Value> {
    let listed = program().args(["--json", "list", "--limit", "100"]).end().expect_code(0).json();
    let keys = listed["runs"].as_array().unwrap().iter().map(|run| run["key"].as_str().unwrap().to_owned());
    keys.map(|key| {
        let mut shown = program().args(["--json", "show", &key]).end().expect_code(0).json();
        shown["run"]["lease"].take();
        shown
    })
    .collect()
}

#[test]
fn fence_up_runs_in_all_states_move_with_their_numbers_and_work_goes_on() {
    let (source, target) = (Source::new(), Database::migrated());
    let before = everything(|| source.program());
    let told = source.transfer(&target).expect_code(0).json();
    assert_eq!(told["runs"], json!(26));
    for (there, here) in everything(|| target.program()).iter().zip(&before) {
        assert_eq!(there, here);
    }
    let rows = |table: &str| target.number(&format!("SELECT count(*) FROM supplier.{table}"));
    assert_eq!((rows("setups"), rows("purchase_accounts")), (20, 20));

    // The source can be read, and says where its runs went to whoever wants more.
    assert_eq!(everything(|| source.program()), before);
    let file = source.folder.write("more.ndjson", supplier("MORE-1"));
    source.program().args(["submit"]).file(&file).end().expect_code(1).expect_told("moved to postgres://");
    source.on(&["work", "--drain", "--poll", "50ms"]).expect_code(1).expect_told("moved to postgres://");
    source.transfer(&target).expect_code(22).expect_told("have moved to postgres://");

    // Work goes on there, and numbers only rise.
    target
        .program()
        .args(["work", "--drain", "--plan", "built-in", "--plan"])
        .file(&source.plan)
        .end()
        .expect_code(0);
    let after = everything(|| target.program());
    for (before, after) in before.iter().zip(&after) {
        let fence = |run: &Value| run["run"]["fence"].as_u64().unwrap();
        assert!(fence(after) >= fence(before), "{after}");
    }
    let status = |key: &str| {
        let run = after.iter().find(|shown| shown["run"]["key"] == key).unwrap();
        run["run"]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (status("WAIT-1"), status("WAIT-2"), status("NEW-1")),
        ("waiting".into(), "completed".into(), "completed".into())
    );
    assert_eq!(
        (status("bad-1"), status("CANCEL-1"), status("PAUSE-1")),
        ("failed".into(), "cancelled".into(), "open".into())
    );
}

#[test]
fn all_or_nothing_a_transfer_that_cannot_arrive_leaves_both_as_they_were() {
    let (source, target) = (Source::new(), Database::migrated());
    let file = source.folder.write("theirs.ndjson", supplier("DONE-07"));
    target.program().args(["submit"]).file(&file).end().expect_code(0);
    source.transfer(&target).expect_code(1).expect_told("runs_key_unique");
    assert_eq!(target.number("SELECT count(*) FROM lease.runs"), 1);
    assert_eq!(target.number("SELECT count(*) FROM supplier.setups"), 0);
    source.on(&["work", "--drain"]).expect_code(0);
    let swapped = Program::new().args(["transfer", "--to", &source.url, "--from", target.url()]).end();
    swapped.expect_code(2).expect_told("from sqlite://");
}

#[test]
fn one_holder_a_run_that_somebody_holds_does_not_move() {
    let (folder, target) = (Folder::new(), Database::migrated());
    folder.script("slow.sh", "echo > began; until [ -e go ]; do sleep 0.05; done; echo '{}'");
    let plan = folder.plan("plan.toml", "slow", 1, &[("slept", "command = [\"./slow.sh\"]")]);
    let url = format!("sqlite://{}", folder.path("runs.db").display());
    let program = || Program::new().env("DATABASE_URL", &url);
    let file = folder.write("one.ndjson", supplier("HELD-1"));
    let submit = program().args(["submit", "--migrate", "--plan"]).file(&plan).file(&file);
    submit.end().expect_code(0);
    let mut worker = program().args(["work", "--plan"]).file(&plan).start();
    eventually("the step's start", || folder.path("began").exists().then_some(()));
    let transfer = || Program::new().args(["transfer", "--from", &url, "--to", target.url()]).end();
    transfer().expect_code(69).expect_told("holds the run of HELD-1");
    folder.write("go", "");
    worker.signal(Signal::TERM);
    worker.end_soon().expect_code(0);
    transfer().expect_code(0);
}
