//! Settings that do not fit each other (case 14), and other wrong usage.

use crate::support::{Database, Program};

#[test]
fn case_14_settings_that_do_not_fit_are_refused_at_start_naming_the_rule() {
    let database = Database::migrated();
    let refused = [
        (&["--ttl", "0"][..], "ttl of 0ns is not between 1 ms and 7 days"),
        (&["--heartbeat", "0"], "heartbeat is zero"),
        (&["--heartbeat", "2m"], "two of them must fit into the ttl"),
        (&["--ttl", "3s", "--heartbeat", "3s"], "two of them must fit into the ttl"),
        (&["--margin", "3m"], "is not shorter than half of the ttl"),
        (&["--statement-timeout", "2m"], "statement_timeout of 120s is not shorter than the ttl"),
        (&["--lock-timeout", "5m"], "lock_timeout of 300s is not shorter than the ttl"),
        (&["--lock-timeout", "0"], "lock_timeout of 0ns is not shorter than the ttl"),
        (&["--concurrency", "0"], "concurrency of 0"),
        (&["--poll", "0"], "poll of 0ns"),
        (&["--loss-limit", "0"], "loss limit of 0"),
        (&["--name", "two words"], "is not 1 to 64 visible ASCII characters"),
    ];
    for (flags, rule) in refused {
        database.program().args(["work", "--drain"]).args(flags).end().expect_code(2).expect_told(rule);
    }
    database.program().args(["work", "--drain", "--ttl", "500ms", "--concurrency", "1"]).end().expect_code(0);
}

#[test]
fn wrong_usage_is_2_and_help_is_not() {
    for args in
        [&[][..], &["setup"], &["list", "--colour"], &["run"], &["work", "--ttl", "5"], &["approve", "A"]]
    {
        assert!(!Program::new().args(args).end().expect_code(2).stderr.is_empty());
    }
    let help = Program::new().args(["--help"]).end().expect_code(0).stdout;
    for text in ["migrate", "approve", "Exit codes", "65"] {
        assert!(help.contains(text), "{text}");
    }
    Program::new().args(["work", "--help"]).end().expect_code(0);
    Program::new().args(["--version"]).end().expect_code(0);
}

#[test]
fn logs_are_json_on_request_and_never_on_standard_output() {
    let database = Database::migrated();
    let program = database.program().env("RUST_LOG", "debug").args([
        "work",
        "--drain",
        "--log-format",
        "json",
        "--json",
    ]);
    let ended = program.end().expect_code(0);
    assert_eq!(ended.stdout, "");
    for line in ended.stderr.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}
