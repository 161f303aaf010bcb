//! The statements, one file each, as this crate sends them.

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $file:literal,)+) => {
        $(pub(crate) const $name: &str = include_str!(concat!("../sql/", $file, ".sql"));)+

        /// Every statement by the name of its file: what tests prepare and benchmarks run.
        pub const STATEMENTS: &[(&str, &str)] = &[$(($file, $name),)+];
    };
}

statements! {
    ACTIONS = "actions",
    APPROVE = "approve",
    ATTEMPTS = "attempts",
    CANCEL = "cancel",
    CHECK_PLAN = "check_plan",
    CLAIM = "claim",
    CLAIM_NEXT = "claim_next",
    FAIL = "fail",
    FIND = "find",
    FIND_TRANSFER = "find_transfer",
    IMPORT_RUN = "import_run",
    LIST = "list",
    MARK_BLOCKED = "mark_blocked",
    NOTE_TRANSFER = "note_transfer",
    PAUSE = "pause",
    RECEIPTS = "receipts",
    RECORD = "record",
    REJECT = "reject",
    RELEASE = "release",
    RENEW = "renew",
    RENEW_MANY = "renew_many",
    RESUME = "resume",
    RETRY = "retry",
    REVOKE = "revoke",
    RUNS_AFTER = "runs_after",
    SAVE = "save",
    STANDING = "standing",
    STRANDED = "stranded",
    SUBMIT = "submit",
    VIEW = "view",
}
