-- Runs, their receipts and attempts, the plans they use and what operators did to them, in one file.
--
-- Instants are integers: microseconds since 1970, UTC (`SELECT datetime(due_us / 1000000, 'unixepoch')` shows one). The
-- store's clock has milliseconds. Ids are text in lower case, and lists and documents are JSON text.
--
-- Why one wide row per run: a verdict looks at the run's row and nothing else, and its writer holds the file's write lock.
-- The rules are lease-core's own functions; the constraints here say once more what a row may be.

-- The store's clock: the machine's, read by the statement that needs it. Every statement names this view, so that a
-- test's own session can put another one in front of it.
CREATE VIEW store_clock AS
    SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000 AS now_us;

CREATE TABLE lease_plans (
    name    TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    version INTEGER NOT NULL CHECK (version > 0),
    digest  TEXT    NOT NULL CHECK (length(digest) = 64),
    phases  TEXT    NOT NULL CHECK (json_array_length(phases) BETWEEN 1 AND 64),
    PRIMARY KEY (name, version),
    UNIQUE (name, version, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease_runs (
    id               TEXT    NOT NULL PRIMARY KEY CHECK (length(id) = 36),
    key              TEXT    NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 200),
    plan             TEXT    NOT NULL,
    plan_version     INTEGER NOT NULL,
    plan_digest      TEXT    NOT NULL,
    phases           TEXT    NOT NULL CHECK (json_array_length(phases) BETWEEN 1 AND 64),
    priority         INTEGER NOT NULL CHECK (priority BETWEEN -16 AND 16),
    phase            TEXT    NOT NULL,         -- saved last; 'submitted' before the first
    phase_fence      INTEGER,                  -- by which claim,
    phase_owner      TEXT,                     -- by whom,
    phase_digest     TEXT,                     -- and what was sent: tells a save that landed from another one
    status           TEXT    NOT NULL CHECK (status IN ('open', 'waiting', 'completed', 'failed', 'cancelled')),
    paused           INTEGER NOT NULL CHECK (paused IN (0, 1)),
    fence            INTEGER NOT NULL CHECK (fence >= 0),   -- never goes down; 0: never claimed
    owner            TEXT    CHECK (length(CAST(owner AS BLOB)) BETWEEN 1 AND 256),
    lease_expires_us INTEGER,
    lease_ended      TEXT    CHECK (lease_ended IN
        ('completed', 'yielded', 'retrying', 'waiting', 'failed', 'cancelled', 'revoked', 'lapsed')),
    losses           INTEGER NOT NULL CHECK (losses >= 0),
    failures         INTEGER NOT NULL CHECK (failures >= 0),
    due_us           INTEGER NOT NULL,
    key_epoch        INTEGER NOT NULL CHECK (key_epoch >= 0),
    input            TEXT    NOT NULL CHECK (json_type(input) = 'object'),
    input_digest     TEXT    NOT NULL CHECK (length(input_digest) = 64),
    error            TEXT    CHECK (json_type(error) = 'object'),
    submitted_us     INTEGER NOT NULL,
    FOREIGN KEY (plan, plan_version, plan_digest) REFERENCES lease_plans (name, version, digest),
    CONSTRAINT runs_mark_whole CHECK (
        (phase = 'submitted') = (phase_fence IS NULL)
        AND (phase_fence IS NULL) = (phase_owner IS NULL) AND (phase_fence IS NULL) = (phase_digest IS NULL)),
    CONSTRAINT runs_mark_not_ahead CHECK (phase_fence IS NULL OR phase_fence BETWEEN 1 AND fence),
    CONSTRAINT runs_paused_while_unfinished CHECK (NOT paused OR status NOT IN ('completed', 'cancelled')),
    CONSTRAINT runs_error_while_failed CHECK ((status = 'failed') = (error IS NOT NULL)),
    CONSTRAINT runs_owner_with_fence CHECK ((fence = 0) = (owner IS NULL)),
    CONSTRAINT runs_lease_whole CHECK ((lease_expires_us IS NULL) = (fence = 0 OR lease_ended IS NOT NULL)),
    CONSTRAINT runs_held_only_while_open CHECK (lease_expires_us IS NULL OR status = 'open')
) STRICT;

-- What claim_next takes from, in the order in which it takes.
CREATE INDEX lease_runs_ready ON lease_runs (priority DESC, due_us, id)
    WHERE status = 'open' AND paused = 0 AND lease_expires_us IS NULL;

-- Held runs: few, and looked through for lapsed leases. The expiry is in no index: a heartbeat touches none.
CREATE INDEX lease_runs_held ON lease_runs (plan_digest)
    WHERE status = 'open' AND lease_expires_us IS NOT NULL;

-- Lists, in the order of submission.
CREATE INDEX lease_runs_submitted ON lease_runs (submitted_us, id);

CREATE TABLE lease_receipts (
    run_id   TEXT    NOT NULL REFERENCES lease_runs (id),
    phase    TEXT    NOT NULL CHECK (phase <> 'submitted'),
    fence    INTEGER NOT NULL CHECK (fence > 0),
    body     TEXT    NOT NULL CHECK (json_type(body) = 'object'),
    saved_us INTEGER NOT NULL,
    CONSTRAINT receipts_one_per_phase PRIMARY KEY (run_id, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease_attempts (
    run_id     TEXT    NOT NULL REFERENCES lease_runs (id),
    fence      INTEGER NOT NULL CHECK (fence > 0),
    owner      TEXT    NOT NULL CHECK (length(CAST(owner AS BLOB)) BETWEEN 1 AND 256),
    claimed_us INTEGER NOT NULL,
    from_phase TEXT    NOT NULL,
    ended_us   INTEGER,
    outcome    TEXT    CHECK (outcome IN ('completed', 'yielded', 'retrying', 'waiting', 'failed', 'cancelled', 'revoked',
        'superseded', 'blocked')),
    reason     TEXT    CHECK (json_type(reason) = 'object'),
    CONSTRAINT attempts_one_per_fence PRIMARY KEY (run_id, fence),
    CONSTRAINT attempts_ended_whole CHECK ((ended_us IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE lease_actions (
    id       INTEGER PRIMARY KEY,
    run_id   TEXT    NOT NULL REFERENCES lease_runs (id),
    acted_us INTEGER NOT NULL,
    action   TEXT    NOT NULL CHECK (action IN ('approve', 'reject', 'cancel', 'retry', 'pause', 'resume', 'revoke')),
    acted_by TEXT    NOT NULL CHECK (length(acted_by) BETWEEN 1 AND 200),
    reason   TEXT
) STRICT;

CREATE INDEX lease_actions_by_run ON lease_actions (run_id, id);
