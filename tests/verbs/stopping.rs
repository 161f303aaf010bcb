//! Telling a worker to stop (case 22), by SIGTERM and Ctrl-C.

use rustix::process::Signal;

use crate::support::{Database, Folder, Started, eventually};

/// A worker in the middle of a slow step of run `A`.
struct Slow {
    database: Database,
    folder: Folder,
    plan: std::path::PathBuf,
}

impl Slow {
    fn new() -> Self {
        let (database, folder) = (Database::migrated(), Folder::new());
        folder.script(
            "slow.sh",
            "echo $$ > began; until [ -e go ]; do sleep 0.05; done; echo '{\"slow\": true}'",
        );
        let phases = [("slept", "command = [\"./slow.sh\"]"), ("validated", "uses = \"validate\"")];
        let plan = folder.plan("plan.toml", "slow", 1, &phases);
        let file = folder.suppliers(&["A"]);
        database.program().args(["submit", "--plan"]).file(&plan).file(&file).end().expect_code(0);
        Self { database, folder, plan }
    }

    fn start(&self, verb: &[&str]) -> Started {
        let worker = self.database.program().args(verb).args(["--plan"]).file(&self.plan).start();
        eventually("the step's start", || self.step().map(|_| ()));
        worker
    }

    fn start_under_nohup(&self, verb: &[&str]) -> Started {
        let program = self.database.program().under("nohup");
        let worker = program.args(verb).args(["--plan"]).file(&self.plan).start();
        eventually("the step's start", || self.step().map(|_| ()));
        worker
    }

    /// The step's process, once it has begun.
    fn step(&self) -> Option<i32> {
        std::fs::read_to_string(self.folder.path("began")).ok()?.trim().parse().ok()
    }

    /// Waits until the process of the step is gone.
    fn step_is_ended(&self) {
        let step = rustix::process::Pid::from_raw(self.step().unwrap()).unwrap();
        eventually("the end of the step's process", || {
            rustix::process::test_kill_process(step).is_err().then_some(())
        });
    }

    fn state(&self) -> String {
        let state = "SELECT concat_ws(' ', status, phase, fence, lease_ended) FROM lease.runs";
        self.database.rows(state).remove(0)
    }

    fn outcomes(&self) -> Vec<String> {
        self.database.rows("SELECT concat_ws(' ', fence, outcome) FROM lease.attempts ORDER BY fence")
    }

    /// Another worker takes the run at once and finishes it.
    fn goes_on(&self) {
        self.folder.write("go", "");
        self.database.program().args(["work", "--drain", "--plan"]).file(&self.plan).end().expect_code(0);
    }
}

/// Sends the signal until the program has ended: two that come together may count as one.
fn until_ended(program: &mut Started, signal: Signal) {
    eventually("the program's end", || {
        let ended = !program.runs();
        if !ended {
            program.signal(signal);
        }
        ended.then_some(())
    });
}

#[test]
fn case_22_a_step_that_ends_within_its_grace_is_saved_and_the_run_is_free_at_once() {
    let slow = Slow::new();
    let log = slow.folder.path("log");
    let mut worker = slow.database.program().args(["work", "--plan"]).file(&slow.plan).log_to(&log).start();
    eventually("the step's start", || slow.step());
    worker.signal(Signal::TERM);
    // It has to hear of it before the step ends.
    eventually("the worker to be told", || {
        std::fs::read_to_string(&log).unwrap().contains("told to stop").then_some(())
    });
    // Still at it: the grace period is 30 s.
    assert!(worker.runs());
    slow.folder.write("go", "");
    worker.end_soon().expect_code(0);
    assert_eq!(slow.state(), "open slept 1 yielded");
    slow.goes_on();
    assert_eq!(slow.outcomes(), ["1 yielded", "2 completed"]);
}

#[test]
fn case_22_a_step_past_its_grace_is_ended_unsaved_and_the_run_is_free_at_once() {
    let slow = Slow::new();
    let mut worker = slow.start(&["work", "--grace", "100ms"]);
    worker.signal(Signal::INT);
    worker.end_soon().expect_code(0);
    assert_eq!(slow.state(), "open submitted 1 yielded");
    slow.step_is_ended();
    slow.goes_on();
    assert_eq!(slow.outcomes(), ["1 yielded", "2 completed"]);
}

#[test]
fn case_22_a_second_signal_ends_the_worker_at_once_and_the_lease_lapses_by_itself() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let slow = Slow::new();
        let mut worker = slow.start(&["work", "--ttl", "2s"]);
        worker.signal(signal);
        worker.signal(signal);
        until_ended(&mut worker, signal);
        worker.end().expect_code(code);
        assert_eq!(slow.state(), "open submitted 1", "the lease was not released");
        slow.step_is_ended();
        slow.goes_on();
        assert_eq!(slow.outcomes(), ["1 superseded", "2 completed"]);
    }
}

#[test]
fn a_run_that_is_told_to_stop_says_so_unless_all_is_done() {
    let slow = Slow::new();
    let file = slow.folder.suppliers(&["A"]);
    let mut run = slow.start(&["run", "--grace", "100ms", file.to_str().unwrap()]);
    run.signal(Signal::TERM);
    let ended = run.end_soon().expect_code(143);
    assert!(ended.stdout.ends_with("1 supplier: 0 completed here, 1 not finished\n"), "{}", ended.stdout);
}

/// Whoever reads the results has stopped reading: nothing can be written, and two signals still end it.
#[test]
fn a_reader_that_has_stopped_reading_does_not_keep_the_program_alive() {
    let (database, folder) = (Database::migrated(), Folder::new());
    let keys: Vec<String> = (0..150).map(|number| format!("K{number}")).collect();
    let file = folder.suppliers(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    let mut run = database.program().args(["--json", "run"]).file(&file).start();
    eventually("all runs to be completed", || {
        let open = database.rows("SELECT count(*)::text FROM lease.runs WHERE status = 'completed'");
        (open == ["150"]).then_some(())
    });
    run.signal(Signal::TERM);
    assert!(run.runs(), "its results do not fit into a pipe, and wait to be read");
    until_ended(&mut run, Signal::TERM);
    run.end().expect_code(143);
}

/// A terminal that is closed ends its worker like SIGTERM; one under `nohup` goes on.
#[test]
fn a_closed_terminal_stops_a_worker_in_good_order_unless_that_is_ignored() {
    let slow = Slow::new();
    let mut worker = slow.start(&["work", "--grace", "100ms"]);
    worker.signal(Signal::HUP);
    worker.end_soon().expect_code(0).expect_told("told to stop");
    slow.step_is_ended();
    assert_eq!(slow.state(), "open submitted 1 yielded");

    let slow = Slow::new();
    let mut worker = slow.start_under_nohup(&["work"]);
    worker.signal(Signal::HUP);
    slow.folder.write("go", "");
    eventually("the run's end", || (slow.state() == "completed validated 1 completed").then_some(()));
    worker.signal(Signal::TERM);
    worker.end_soon().expect_code(0);
}
