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
    fn migrated() -> Self {
        let folder = Folder::new();
        folder.script(
            "screen.sh",
            "read -r request; case $request in *'\"bad-'*) exit 3;; *) echo '{\"hits\": 100}';; esac",
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
        source
    }

    /// One or a few in each state, 26 in all.
    fn new() -> Self {
        let source = Self::migrated();
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

    /// A thousand runs: 400 completed, 250 waiting of which 20 were then approved, 150 failed, 50
    /// cancelled, 50 paused, 100 never claimed.
    fn of_a_thousand() -> Self {
        let source = Self::migrated();
        let write = |name: &str, groups: &[(&str, usize)]| {
            let keys =
                groups.iter().flat_map(|&(word, many)| (0..many).map(move |n| format!("{word}-{n:03}")));
            let records: Vec<String> = keys.map(|key| supplier(&key)).collect();
            source.folder.write(name, records.join("\n"))
        };
        let done = write("done.ndjson", &[("DONE", 400)]);
        source.program().args(["run"]).file(&done).end().expect_code(0);
        let long = write("long.ndjson", &[("WAIT", 250), ("bad", 150), ("CANCEL", 50), ("PAUSE", 50)]);
        source.program().args(["submit", "--plan"]).file(&source.plan).file(&long).end().expect_code(0);
        for number in 0..50 {
            source.on(&["pause", &format!("PAUSE-{number:03}"), "--by", "kim"]).expect_code(0);
            source.on(&["cancel", &format!("CANCEL-{number:03}"), "--by", "kim", "--yes"]).expect_code(0);
        }
        source.program().args(["work", "--drain", "--plan"]).file(&source.plan).end().expect_code(20);
        for number in 0..20 {
            let key = format!("WAIT-{number:03}");
            source.on(&["approve", &key, "--phase", "confirmed", "--by", "ann"]).expect_code(0);
        }
        let new = write("new.ndjson", &[("NEW", 100)]);
        source.program().args(["submit"]).file(&new).end().expect_code(0);
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

/// All runs as `list` tells of them, without what passes with time.
fn listed(program: Program) -> Vec<Value> {
    let told = program.args(["--json", "list", "--limit", "2000"]).end().expect_code(0).json();
    let mut runs = told["runs"].as_array().unwrap().clone();
    for run in &mut runs {
        run["lease"].take();
    }
    runs
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
    source.on(&["list"]).expect_code(0).expect_told("moved to postgres://");
    source.program().args(["submit"]).file(&file).end().expect_code(22).expect_told("moved to postgres://");
    source.on(&["work", "--drain", "--poll", "50ms"]).expect_code(22).expect_told("moved to postgres://");
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

/// FENCE-UP, RESUME: the same with a thousand of them.
#[test]
fn fence_up_a_thousand_runs_move_with_their_numbers_and_work_goes_on() {
    let (source, target) = (Source::of_a_thousand(), Database::migrated());
    let before = listed(source.program());
    assert_eq!(source.transfer(&target).expect_code(0).json()["runs"], json!(1_000));
    let moved = listed(target.program());
    assert_eq!(moved.len(), 1_000);
    assert_eq!(moved, before);
    let show = |program: Program, key: &str| {
        let mut shown = program.args(["--json", "show", key]).end().expect_code(0).json();
        shown["run"]["lease"].take();
        shown
    };
    for run in moved.iter().step_by(13) {
        let key = run["key"].as_str().unwrap();
        assert_eq!(show(target.program(), key), show(source.program(), key));
    }
    let mut all_go_on = target.program().args(["work", "--drain", "--plan", "built-in", "--plan"]);
    all_go_on = all_go_on.file(&source.plan);
    all_go_on.end().expect_code(0);
    let after = listed(target.program());
    for (before, after) in before.iter().zip(&after) {
        let fence = |run: &Value| run["fence"].as_u64().unwrap();
        assert_eq!(before["key"], after["key"]);
        assert!(fence(after) >= fence(before), "{before} became {after}");
        let goes_on = before["status"] == "open" && before["paused"] == json!(false);
        assert_eq!(fence(after) > fence(before), goes_on, "{before} became {after}");
    }
    let count = |status: &str| after.iter().filter(|run| run["status"] == status).count();
    assert_eq!(
        ["completed", "waiting", "failed", "cancelled", "open"].map(count),
        [400 + 20 + 100, 230, 150, 50, 50]
    );
    // One receipt for each phase that was saved, here as there.
    let extra =
        "SELECT r.key FROM lease.runs r WHERE (SELECT count(*) FROM lease.receipts t WHERE t.run_id = r.id)
        <> CASE r.phase WHEN 'submitted' THEN 0 ELSE array_position(r.phases, r.phase) END";
    assert_eq!(target.rows(extra), [""; 0], "ONE-RECEIPT");
}

#[test]
fn all_or_nothing_a_transfer_that_cannot_arrive_leaves_both_as_they_were() {
    let (source, target) = (Source::new(), Database::migrated());
    let file = source.folder.write("theirs.ndjson", supplier("DONE-07"));
    target.program().args(["submit"]).file(&file).end().expect_code(0);
    source.transfer(&target).expect_code(65).expect_told("has a run with the key DONE-07 already");
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
    transfer().expect_code(22).expect_told("holds the run of HELD-1");
    folder.write("go", "");
    worker.signal(Signal::TERM);
    worker.end_soon().expect_code(0);
    transfer().expect_code(0);
}
