//! What each operator's action is answered, and writes, on each state: the table of
//! `lease_core::Operator`'s module, spelled out. `acting` goes through it.

/// The action, the states in which it is answered so, and the answer with what it writes.
pub(crate) const TABLE: &[(&str, &[&str], &str)] = &[
    ("approve a", &["never", "never, paused"], "refused: open"),
    ("approve a", NEVER_WAITS_BUT_HAS_A, "refused: saved already"),
    ("approve a", WAITING, "refused: saved already"),
    ("approve b", &["never", "never, paused"], "refused: open"),
    ("approve b", OPEN_AT_A, "refused: open"),
    ("approve b", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("approve b", &["cancelled"], "refused: cancelled"),
    ("approve b", &["completed", "waiting for c"], "refused: saved already"),
    ("approve b", &["approved"], "already so"),
    (
        "approve b",
        &["waiting", "waiting, paused"],
        "done; phase = b; mark = 3 ops#1; status = open; hold = 3 ops#1 ended: completed; failures = 0; \
         due = +100s; receipt b by 3 at +100s: {\"approved_by\":\"ops\",\"reason\":\"why\"}; \
         attempts to 2 superseded; attempt 3 of ops#1 at a, +100s; \
         attempt 3 ends completed: {\"approved_by\":\"ops\",\"reason\":\"why\"}; log approve by ops: why, at +100s",
    ),
    ("approve b as another", &["never", "never, paused"], "refused: open"),
    ("approve b as another", OPEN_AT_A, "refused: open"),
    ("approve b as another", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("approve b as another", &["cancelled"], "refused: cancelled"),
    ("approve b as another", &["completed", "approved", "waiting for c"], "refused: saved already"),
    (
        "approve b as another",
        &["waiting", "waiting, paused"],
        "done; phase = b; mark = 3 ops#2; status = open; hold = 3 ops#2 ended: completed; failures = 0; \
         due = +100s; receipt b by 3 at +100s: {\"approved_by\":\"ops\",\"reason\":\"why\"}; \
         attempts to 2 superseded; attempt 3 of ops#2 at a, +100s; \
         attempt 3 ends completed: {\"approved_by\":\"ops\",\"reason\":\"why\"}; log approve by ops: why, at +100s",
    ),
    ("approve c", &["never", "never, paused", "approved"], "refused: open"),
    ("approve c", OPEN_AT_A, "refused: open"),
    ("approve c", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("approve c", &["cancelled"], "refused: cancelled"),
    ("approve c", &["completed"], "refused: saved already"),
    ("approve c", &["waiting", "waiting, paused"], "refused: waits for b"),
    (
        "approve c",
        &["waiting for c"],
        "done; phase = c; mark = 3 ops#1; status = completed; paused = false; \
         hold = 3 ops#1 ended: completed; due = +100s; \
         receipt c by 3 at +100s: {\"approved_by\":\"ops\",\"reason\":\"why\"}; \
         attempts to 2 superseded; attempt 3 of ops#1 at b, +100s; \
         attempt 3 ends completed: {\"approved_by\":\"ops\",\"reason\":\"why\"}; log approve by ops: why, at +100s",
    ),
    ("reject b", &["never", "never, paused"], "refused: open"),
    ("reject b", OPEN_AT_A, "refused: open"),
    ("reject b", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("reject b", &["cancelled"], "refused: cancelled"),
    ("reject b", &["completed", "approved", "waiting for c"], "refused: saved already"),
    (
        "reject b",
        &["waiting", "waiting, paused"],
        "done; status = failed; error = rejected failed at b: rejected by ops: why (try 2); \
         log reject by ops: why, at +100s",
    ),
    ("reject c", &["never", "never, paused", "approved"], "refused: open"),
    ("reject c", OPEN_AT_A, "refused: open"),
    ("reject c", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("reject c", &["cancelled"], "refused: cancelled"),
    ("reject c", &["completed"], "refused: saved already"),
    ("reject c", &["waiting", "waiting, paused"], "refused: waits for b"),
    (
        "reject c",
        &["waiting for c"],
        "done; status = failed; error = rejected failed at c: rejected by ops: why (try 1); \
         log reject by ops: why, at +100s",
    ),
    ("cancel", &["never", "free", "revoked", "approved", "waiting"], CANCELLED),
    ("cancel", &["never, paused", "free, paused", "waiting, paused", "waiting for c"], CANCELLED_PAUSED),
    (
        "cancel",
        &["held", "lapsed"],
        "done; status = cancelled; hold = 2 b ended: cancelled; \
         attempt 2 ends cancelled: {\"by\":\"ops\",\"reason\":\"why\"}; log cancel by ops: why, at +100s",
    ),
    (
        "cancel",
        &["held, paused", "lapsed, paused"],
        "done; status = cancelled; paused = false; hold = 2 b ended: cancelled; \
         attempt 2 ends cancelled: {\"by\":\"ops\",\"reason\":\"why\"}; log cancel by ops: why, at +100s",
    ),
    ("cancel", &["completed"], "refused: completed"),
    ("cancel", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("cancel", &["cancelled"], "already so"),
    ("retry", &["never", "never, paused", "approved"], "refused: open"),
    ("retry", OPEN_AT_A, "refused: open"),
    ("retry", WAITING, "refused: waiting"),
    ("retry", &["completed"], "refused: completed"),
    ("retry", &["cancelled"], "refused: cancelled"),
    (
        "retry",
        &["failed", "failed, paused", "rejected"],
        "done; status = open; failures = 0; due = +100s; error = none; log retry by ops: why, at +100s",
    ),
    (
        "retry",
        &["set aside"],
        "done; status = open; losses = 0; due = +100s; error = none; log retry by ops: why, at +100s",
    ),
    ("retry anew", &["never", "never, paused", "approved"], "refused: open"),
    ("retry anew", OPEN_AT_A, "refused: open"),
    ("retry anew", WAITING, "refused: waiting"),
    ("retry anew", &["completed"], "refused: completed"),
    ("retry anew", &["cancelled"], "refused: cancelled"),
    (
        "retry anew",
        &["failed", "failed, paused", "rejected"],
        "done; status = open; failures = 0; due = +100s; key epoch = 1; error = none; \
         log retry by ops: why, at +100s",
    ),
    (
        "retry anew",
        &["set aside"],
        "done; status = open; losses = 0; due = +100s; key epoch = 1; error = none; \
         log retry by ops: why, at +100s",
    ),
    (
        "pause",
        &["never", "free", "held", "lapsed", "revoked", "approved", "waiting"],
        "done; paused = true; log pause by ops: why, at +100s",
    ),
    ("pause", PAUSED, "already so"),
    ("pause", &["completed"], "refused: completed"),
    ("pause", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("pause", &["cancelled"], "refused: cancelled"),
    ("resume", PAUSED, RESUMED),
    ("resume", &["failed, paused"], RESUMED),
    ("resume", &["never", "free", "held", "lapsed", "revoked", "approved", "waiting"], "already so"),
    ("resume", &["failed", "rejected", "set aside"], "already so"),
    ("resume", &["completed"], "refused: completed"),
    ("resume", &["cancelled"], "refused: cancelled"),
    ("revoke 1", FREE, "refused: not held"),
    ("revoke 1", &["revoked", "waiting", "waiting, paused", "waiting for c"], "refused: not held"),
    ("revoke 1", &["held", "held, paused", "lapsed", "lapsed, paused"], "refused: held by 2 b"),
    ("revoke 1", &["completed"], "refused: completed"),
    ("revoke 1", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("revoke 1", &["cancelled"], "refused: cancelled"),
    ("revoke 2", FREE, "refused: not held"),
    ("revoke 2", &["waiting", "waiting, paused", "waiting for c"], "refused: not held"),
    ("revoke 2", &["revoked"], "already so"),
    (
        "revoke 2",
        &["held", "held, paused", "lapsed", "lapsed, paused"],
        "done; hold = 2 b ended: revoked; attempt 2 ends revoked: {\"by\":\"ops\",\"reason\":\"why\"}; \
         log revoke by ops: why, at +100s",
    ),
    ("revoke 2", &["completed"], "refused: completed"),
    ("revoke 2", &["failed", "failed, paused", "rejected", "set aside"], "refused: failed"),
    ("revoke 2", &["cancelled"], "refused: cancelled"),
];

const CANCELLED: &str = "done; status = cancelled; log cancel by ops: why, at +100s";
const CANCELLED_PAUSED: &str = "done; status = cancelled; paused = false; log cancel by ops: why, at +100s";
const RESUMED: &str = "done; paused = false; log resume by ops: why, at +100s";

/// Open, with phase `a` saved last.
const OPEN_AT_A: &[&str] =
    &["free", "free, paused", "held", "held, paused", "lapsed", "lapsed, paused", "revoked"];
/// Open, and nobody has it.
const FREE: &[&str] = &["never", "never, paused", "free", "free, paused", "approved"];
const WAITING: &[&str] = &["waiting", "waiting, paused", "waiting for c"];
/// Open or waiting, and paused.
const PAUSED: &[&str] =
    &["never, paused", "free, paused", "held, paused", "lapsed, paused", "waiting, paused", "waiting for c"];
const NEVER_WAITS_BUT_HAS_A: &[&str] = &[
    "free",
    "free, paused",
    "held",
    "held, paused",
    "lapsed",
    "lapsed, paused",
    "revoked",
    "approved",
    "completed",
    "failed",
    "failed, paused",
    "rejected",
    "set aside",
    "cancelled",
];
