//! Command steps: what they are given and what their ends mean.

use std::collections::BTreeSet;

use lease_core::Document;
use serde_json::{Value, json};
use supplier_runner::step::StepEnd;

use crate::world::{World, ended, failure, receipt};

#[tokio::test]
async fn a_command_gets_the_document_its_folder_and_who_asks() {
    let world = World::new();
    let step = world.script(
        r#"cat > got.json
        printf '{"run":"%s","phase":"%s","fence":"%s","key":"%s","token":"%s"}' \
            "$RUN_ID" "$PHASE" "$FENCING_TOKEN" "$IDEMPOTENCY_KEY" "$PORTAL_TOKEN""#,
    );
    let request = world.request(7);
    let end = receipt(ended(&step, &request).await);
    let run = request.run().to_string();
    let expected = json!({
        "run": run, "phase": "done", "fence": "7", "key": format!("{run}:done"), "token": "t0ps3cret",
    });
    assert_eq!(serde_json::from_str::<Value>(&end).unwrap(), expected);
    assert_eq!(world.read("got.json"), **request.document());
}

#[tokio::test]
async fn the_document_has_the_same_bytes_on_every_attempt() {
    let world = World::new();
    let step = world.script("cat > \"got-$FENCING_TOKEN.json\"; exit 75");
    for fence in [1, 2] {
        assert!(matches!(ended(&step, &world.request(fence)).await, StepEnd::Again { .. }));
    }
    assert_eq!(world.read("got-1.json"), world.read("got-2.json"));
}

#[tokio::test]
async fn nothing_else_of_the_workers_environment_reaches_a_command() {
    let world = World::new();
    let step = world.script("env > got.env; echo '{}'");
    assert_eq!(receipt(ended(&step, &world.request(1)).await), "{}");
    let got = world.read("got.env");
    let names: BTreeSet<&str> = got.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let given = ["PATH", "HOME", "RUN_ID", "PHASE", "FENCING_TOKEN", "IDEMPOTENCY_KEY", "PORTAL_TOKEN"];
    // The shell makes the second group by itself.
    let expected: BTreeSet<&str> = given.into_iter().chain(["PWD", "OLDPWD", "SHLVL", "_"]).collect();
    let others: Vec<&&str> = names.difference(&expected).filter(|name| !name.starts_with('L')).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(given.iter().all(|name| names.contains(name) || std::env::var_os(name).is_none()), "{names:?}");
}

#[tokio::test]
async fn exit_75_is_another_try_and_other_ends_are_failures_with_the_end_of_stderr() {
    let world = World::new();
    let step = world.script("echo 'portal is busy' >&2; exit 75");
    let message = "sh asked to be tried again (exit 75): portal is busy".to_owned();
    assert_eq!(ended(&step, &world.request(1)).await, StepEnd::Again { message, after: None });

    let step = world.script("echo '{}'; echo \"$PORTAL_TOKEN was refused\" >&2; exit 3");
    assert_eq!(failure(ended(&step, &world.request(2)).await), "sh ended with exit code 3: *** was refused");

    let step = world.script("kill -SEGV $$");
    assert_eq!(failure(ended(&step, &world.request(3)).await), "sh was ended by signal 11");

    let step = world.script("head -c 50000000 /dev/zero >&2; echo 'the reason' >&2; exit 1");
    let message = failure(ended(&step, &world.request(4)).await);
    assert!(message.ends_with("the reason") && message.len() < 4 * 1024);
}

/// Case 24.
#[tokio::test]
async fn case_24_two_gibibytes_on_stdout_are_ended_early_and_kept_out_of_memory() {
    let world = World::new();
    let step = world.script("exec head -c 2147483648 /dev/zero");
    let message = failure(ended(&step, &world.request(1)).await);
    assert_eq!(message, "sh printed more than 1 MiB and was ended");
}

/// Case 24.
#[tokio::test]
async fn case_24_what_is_no_receipt_is_a_clear_failure() {
    let world = World::new();
    for (script, why) in [
        ("true", "it is empty; expected a JSON object"),
        ("printf '{\"a\":\"\\377\"}'", "it is not UTF-8 (invalid utf-8 sequence of 1 bytes from index 6)"),
        ("echo '[1]'", ".: not a JSON object"),
        ("echo 'all done'", ".: not valid JSON: expected value at line 1 column 1"),
    ] {
        let end = ended(&world.script(script), &world.request(1)).await;
        assert_eq!(failure(end), format!("what sh printed is no receipt: {why}"));
    }
}

/// Case 25.
#[tokio::test]
async fn case_25_receipts_are_kept_exactly_or_refused_with_the_path() {
    let world = World::new();
    let exact = world.script("cat > /dev/null; echo '{\"n\": 9007199254740993, \"d\": 0.10}'");
    assert_eq!(receipt(ended(&exact, &world.request(1)).await), r#"{"d":0.10,"n":9007199254740993}"#);
    let nul = world.script(r#"printf '%s' '{"a": {"b": ["\u0000"]}}'"#);
    let message = failure(ended(&nul, &world.request(2)).await);
    assert!(message.ends_with("a.b[0]: holds a NUL character (\\u0000)"), "{message}");
    let deep = world.script(
        r#"printf '{"tags":'; head -c 10000 /dev/zero | tr '\0' '['; head -c 10000 /dev/zero | tr '\0' ']'; echo '}'"#,
    );
    let message = failure(ended(&deep, &world.request(3)).await);
    assert!(message.contains("tags[0][0]") && message.contains("64 levels"), "{message}");
}

#[tokio::test]
async fn a_command_that_does_not_read_its_input_does_not_hang_the_step() {
    let world = World::new();
    let long = Document::from_value(json!({ "name": "x".repeat(700_000) })).unwrap();
    let request = world.request_with(1, long);
    assert_eq!(receipt(ended(&world.script("echo '{}'"), &request).await), "{}");
    let closed = world.script("exec 0<&-; echo '{}'");
    assert_eq!(receipt(ended(&closed, &request).await), "{}");
}

#[tokio::test]
async fn a_script_is_found_beside_its_plan_and_a_missing_one_fails_when_it_goes() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let script = world.write("screen.sh", "#!/bin/sh\necho '{\"at\": \"home\"}'\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let plan = world.single("command = [\"./screen.sh\"]");
    let step = crate::world::only_step(&plan);
    assert_eq!(receipt(ended(&step, &world.request(1)).await), r#"{"at":"home"}"#);
    std::fs::remove_file(script).unwrap();
    let message = failure(ended(&step, &world.request(2)).await);
    assert!(message.starts_with("could not start ./screen.sh: No such file"), "{message}");
}
