//! A worker whose database goes away while work is under way.

use serde_json::json;

use crate::line::Line;
use crate::stage::Stage;
use crate::support::eventually;

/// SELF-STOP, TRUTH, LIVENESS: cut off, the worker ends its step by itself; mended, it records the
/// loss and goes on.
#[test]
fn self_stop_a_worker_that_is_cut_off_ends_its_step_and_goes_on_when_the_database_is_back() {
    let stage = Stage::new(
        r#"
        echo $$ > "pid-$FENCING_TOKEN"
        touch "began-$FENCING_TOKEN"
        [ "$FENCING_TOKEN" != 1 ] || sleep 1000
        echo '{}'
        "#,
    );
    let line = Line::to(stage.database.url());
    let worker = stage.worker("a", "2s").args(["--drain"]).env("DATABASE_URL", line.url()).start();
    stage.wait_for("began-1");
    line.cut();
    let process = stage.lines("pid-1").pop().unwrap();
    eventually("the step's process to be ended", || {
        (!std::path::Path::new("/proc").join(&process).exists()).then_some(())
    });
    stage.wait_for_lapse();
    line.mend();

    let ended = worker.end_soon().expect_code(75);
    let blocked: Vec<_> =
        ended.json_lines().into_iter().filter(|event| event["outcome"] == "blocked").collect();
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0]["fence"], 1);
    let why = blocked[0]["reason"]["why"].as_str().unwrap();
    assert!(why == "unconfirmed" || why == "expired", "{why}");
    assert_eq!(stage.attempts(), ["1 blocked", "2 completed"]);
    assert_eq!(stage.show()["run"]["status"], json!("completed"));
}
