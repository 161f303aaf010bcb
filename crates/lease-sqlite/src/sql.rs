//! The statements, one file each, as this crate sends them.

macro_rules! statements {
    ($($name:ident = $file:literal,)+) => {
        $(pub(crate) const $name: &str = include_str!(concat!("../sql/", $file, ".sql"));)+

        /// Every statement by the name of its file: what tests prepare and benchmarks run.
        pub const STATEMENTS: &[(&str, &str)] = &[$(($file, $name),)+];
    };
}

statements! {
    ACTIONS = "actions",
    ADD_ACTION = "add_action",
    ADD_RECEIPT = "add_receipt",
    ATTEMPT = "attempt",
    ATTEMPTS = "attempts",
    BLOCK_ATTEMPT = "block_attempt",
    CLAIMABLE = "claimable",
    CLOCK = "clock",
    END_ATTEMPT = "end_attempt",
    FIND = "find",
    HOLD = "hold",
    LIST = "list",
    LIVE_LEASE = "live_lease",
    NEXT_LOOK = "next_look",
    NOTE_PLAN = "note_plan",
    ONE_ROW = "one_row",
    OPEN_ATTEMPT = "open_attempt",
    OPEN_RUN = "open_run",
    PLAN = "plan",
    RECEIPTS = "receipts",
    RENEW = "renew",
    RUN = "run",
    RUN_BY_KEY = "run_by_key",
    RUNS_AFTER = "runs_after",
    SEAL = "seal",
    SEALED = "sealed",
    STRANDED = "stranded",
    SUPERSEDE_ATTEMPTS = "supersede_attempts",
    UNSEAL = "unseal",
    VIEW = "view",
    WRITE_RUN = "write_run",
}
