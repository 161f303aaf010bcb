//! Case 24, the part about processes: nothing of a step is left once its attempt has ended.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use supplier_runner::step::Step;

use crate::world::{PATIENCE, World, ended, receipt};

/// Whether the process is there and not just waiting to be reaped.
fn lives(process: &str) -> bool {
    let shown = Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap();
    let state = String::from_utf8(shown.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

async fn gone(process: &str) {
    let deadline = Instant::now() + PATIENCE;
    while lives(process) {
        assert!(Instant::now() < deadline, "process {process} is left");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Starts the step, waits until each of `files` names a process, drops the step, and sees them gone.
async fn all_gone_once_dropped(world: &World, step: Arc<dyn Step>, files: &[&str]) {
    let request = world.request(1);
    let running = tokio::spawn(async move { step.run(&request).await });
    let mut processes = Vec::new();
    for file in files {
        processes.push(world.line(file).await);
    }
    assert!(processes.iter().all(|process| lives(process)), "{processes:?}");
    assert!(!running.is_finished());
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for process in processes {
        gone(&process).await;
    }
}

#[tokio::test]
async fn case_24_a_command_that_closes_its_output_and_lives_on_is_ended_with_its_attempt() {
    let world = World::new();
    let step = world.script("exec 1>&- 2>&-; echo $$ > pid; exec sleep 600");
    all_gone_once_dropped(&world, step, &["pid"]).await;
}

#[tokio::test]
async fn case_24_dropping_a_step_ends_children_that_ignore_every_signal_they_can() {
    let world = World::new();
    let step = world.script(
        "trap '' TERM INT HUP
        sh -c 'trap \"\" TERM INT HUP; echo $$ > child; sleep 600; sleep 600' &
        echo $$ > pid; wait; wait",
    );
    all_gone_once_dropped(&world, step, &["pid", "child"]).await;
}

#[tokio::test]
async fn case_24_a_child_left_behind_does_not_hold_the_step_up_and_is_ended() {
    let world = World::new();
    let step = world.script("sleep 600 & echo $! > child; echo '{\"left\": true}'");
    assert_eq!(receipt(ended(&step, &world.request(1)).await), r#"{"left":true}"#);
    gone(&world.line("child").await).await;
}

#[tokio::test]
async fn case_24_a_child_left_behind_with_closed_pipes_is_ended_as_well() {
    let world = World::new();
    let step = world.script("sleep 600 </dev/null >/dev/null 2>&1 & echo $! > child; echo '{}'");
    assert_eq!(receipt(ended(&step, &world.request(1)).await), "{}");
    gone(&world.line("child").await).await;
}

#[tokio::test]
async fn case_24_too_much_output_ends_the_children_too() {
    let world = World::new();
    let step = world.script("sleep 600 & echo $! > child; exec head -c 2147483648 /dev/zero");
    let end = ended(&step, &world.request(1)).await;
    assert_eq!(crate::world::failure(end), "sh printed more than 1 MiB and was ended");
    gone(&world.line("child").await).await;
}

/// `timeout` makes a process group of its own, as scripts do without thinking of it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn case_24_a_child_in_a_group_of_its_own_is_ended_when_the_step_is_dropped() {
    let world = World::new();
    let step = world.script("timeout 600 sh -c 'echo $$ > child; sleep 600; true' & echo $! > group; wait");
    all_gone_once_dropped(&world, step, &["group", "child"]).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn case_24_a_child_in_a_session_of_its_own_is_ended_when_the_step_is_done() {
    let world = World::new();
    let step = world.script(
        "setsid sh -c 'echo $$ > child; sleep 600; true' &
        while [ ! -s child ]; do sleep 0.01; done
        echo '{}'",
    );
    assert_eq!(receipt(ended(&step, &world.request(1)).await), "{}");
    gone(&world.line("child").await).await;
}

/// The steps of other runs, and of the same run under another number, are left alone.
#[tokio::test]
async fn ending_one_step_leaves_the_others_alone() {
    let (world, other) = (World::new(), World::new());
    let step = other.script("echo $$ > pid; exec sleep 600");
    let request = other.request(1);
    let running = tokio::spawn(async move { step.run(&request).await });
    let process = other.line("pid").await;
    assert_eq!(receipt(ended(&world.script("echo '{}'"), &world.request(1)).await), "{}");
    assert_eq!(receipt(ended(&other.script("echo '{}'"), &other.request(2)).await), "{}");
    assert!(lives(&process));
    running.abort();
    gone(&process).await;
}
