-- Runs, their receipts and attempts, the plans they use and what operators did to them.
--
-- Why one wide row per run: every verdict is judged on the locked row of the run and on nothing else, because other
-- tables are read by the statement's snapshot, which is older than the lock. So the row keeps who has or had the
-- current number, how that lease ended, and which save set the phase.
--
-- No column has a default that reads a clock: statements write their times themselves, after the lock.

CREATE DOMAIN lease.digest AS text COLLATE "C"
    CONSTRAINT digest_is_sha256 CHECK (VALUE ~ '^[0-9a-f]{64}$');

CREATE TABLE lease.plans (
    name    text         NOT NULL,
    version int          NOT NULL,
    digest  lease.digest NOT NULL,
    phases  text[]       NOT NULL,
    CONSTRAINT plans_pkey PRIMARY KEY (name, version),
    CONSTRAINT plans_content UNIQUE (name, version, digest),
    CONSTRAINT plans_name_length CHECK (octet_length(name) BETWEEN 1 AND 64),
    CONSTRAINT plans_version_positive CHECK (version > 0),
    CONSTRAINT plans_phases_count CHECK (array_ndims(phases) = 1 AND cardinality(phases) BETWEEN 1 AND 64)
);

CREATE TABLE lease.runs (
    id               uuid         NOT NULL,
    key              text         NOT NULL,
    plan             text         NOT NULL,
    plan_version     int          NOT NULL,
    plan_digest      lease.digest NOT NULL,
    phases           text[]       NOT NULL,
    priority         int          NOT NULL,
    phase            text         NOT NULL,      -- saved last; 'submitted' before the first
    phase_fence      bigint,                     -- by which claim,
    phase_owner      text,                       -- by whom,
    phase_digest     lease.digest,               -- and what was sent: tells a save that landed from another one
    status           text         NOT NULL,
    paused           boolean      NOT NULL,
    fence            bigint       NOT NULL DEFAULT 0,   -- never goes down; 0: never claimed
    owner            text,                       -- who has or had this number; stays when the lease ends
    lease_expires_at timestamptz,
    lease_ended      text,                       -- how the lease of this number ended; NULL with a number: held or lapsed
    losses           int          NOT NULL,
    failures         int          NOT NULL,
    due_at           timestamptz  NOT NULL,
    key_epoch        int          NOT NULL,
    input            jsonb        NOT NULL,
    input_digest     lease.digest NOT NULL,
    error            jsonb,
    submitted_at     timestamptz  NOT NULL,
    CONSTRAINT runs_pkey PRIMARY KEY (id),
    CONSTRAINT runs_key_unique UNIQUE (key),
    CONSTRAINT runs_plan_registered FOREIGN KEY (plan, plan_version, plan_digest)
        REFERENCES lease.plans (name, version, digest),
    CONSTRAINT runs_key_length CHECK (char_length(key) BETWEEN 1 AND 200),
    CONSTRAINT runs_phases_count CHECK (array_ndims(phases) = 1 AND cardinality(phases) BETWEEN 1 AND 64),
    CONSTRAINT runs_priority_range CHECK (priority BETWEEN -16 AND 16),
    CONSTRAINT runs_phase_known CHECK (phase = 'submitted' OR phase = ANY (phases)),
    CONSTRAINT runs_mark_whole CHECK (
        (phase = 'submitted') = (phase_fence IS NULL)
        AND (phase_fence IS NULL) = (phase_owner IS NULL)
        AND (phase_fence IS NULL) = (phase_digest IS NULL)),
    CONSTRAINT runs_mark_not_ahead CHECK (phase_fence BETWEEN 1 AND fence),
    CONSTRAINT runs_status_known CHECK (status IN ('open', 'waiting', 'completed', 'failed', 'cancelled')),
    CONSTRAINT runs_completed_with_last_phase CHECK ((status = 'completed') = (phase = phases[cardinality(phases)])),
    CONSTRAINT runs_paused_while_unfinished CHECK (NOT paused OR status NOT IN ('completed', 'cancelled')),
    CONSTRAINT runs_error_while_failed CHECK ((status = 'failed') = (error IS NOT NULL)),
    CONSTRAINT runs_fence_not_negative CHECK (fence >= 0),
    CONSTRAINT runs_owner_with_fence CHECK ((fence = 0) = (owner IS NULL)),
    CONSTRAINT runs_owner_length CHECK (octet_length(owner) BETWEEN 1 AND 256),
    CONSTRAINT runs_lease_whole CHECK ((lease_expires_at IS NULL) = (fence = 0 OR lease_ended IS NOT NULL)),
    CONSTRAINT runs_lease_ended_with_fence CHECK (lease_ended IS NULL OR fence > 0),
    CONSTRAINT runs_lease_ended_known CHECK (lease_ended IN
        ('completed', 'yielded', 'retrying', 'waiting', 'failed', 'cancelled', 'revoked', 'lapsed')),
    CONSTRAINT runs_held_only_while_open CHECK (lease_expires_at IS NULL OR status = 'open'),
    CONSTRAINT runs_counts_not_negative CHECK (losses >= 0 AND failures >= 0 AND key_epoch >= 0),
    CONSTRAINT runs_times_finite CHECK (isfinite(due_at) AND isfinite(lease_expires_at)),
    CONSTRAINT runs_input_object CHECK (jsonb_typeof(input) = 'object')
) WITH (fillfactor = 50);

-- A heartbeat writes lease_expires_at and nothing else. It stays an in-page (HOT) update because that column is in no
-- index, index predicates included, and because a page keeps room for a new version of every row on it.

-- What claim_next takes from, in the order in which it takes.
CREATE INDEX runs_ready ON lease.runs (plan_digest, priority DESC, due_at, id)
    WHERE status = 'open' AND NOT paused AND (fence = 0 OR lease_ended IS NOT NULL);

-- Held runs: few, and looked through for lapsed leases.
CREATE INDEX runs_held ON lease.runs (plan_digest)
    WHERE status = 'open' AND fence > 0 AND lease_ended IS NULL;

-- Paused runs that nobody holds: with the two above, every open run is in exactly one index. An index over all open
-- runs would be taken for the held ones by a plan that was made while the table was empty.
CREATE INDEX runs_paused ON lease.runs (plan_digest)
    WHERE status = 'open' AND paused AND (fence = 0 OR lease_ended IS NOT NULL);

-- Lists, in the order of submission.
CREATE INDEX runs_submitted ON lease.runs (submitted_at, id);

CREATE TABLE lease.receipts (
    run_id   uuid        NOT NULL,
    phase    text        NOT NULL,
    fence    bigint      NOT NULL,
    body     jsonb       NOT NULL,
    saved_at timestamptz NOT NULL,
    CONSTRAINT receipts_one_per_phase PRIMARY KEY (run_id, phase),
    CONSTRAINT receipts_of_run FOREIGN KEY (run_id) REFERENCES lease.runs (id),
    CONSTRAINT receipts_phase_saved CHECK (phase <> 'submitted'),
    CONSTRAINT receipts_fence_positive CHECK (fence > 0),
    CONSTRAINT receipts_body_object CHECK (jsonb_typeof(body) = 'object')
);

CREATE TABLE lease.attempts (
    run_id     uuid        NOT NULL,
    fence      bigint      NOT NULL,
    owner      text        NOT NULL,
    claimed_at timestamptz NOT NULL,
    from_phase text        NOT NULL,
    ended_at   timestamptz,
    outcome    text,
    reason     jsonb,
    CONSTRAINT attempts_one_per_fence PRIMARY KEY (run_id, fence),
    CONSTRAINT attempts_of_run FOREIGN KEY (run_id) REFERENCES lease.runs (id),
    CONSTRAINT attempts_fence_positive CHECK (fence > 0),
    CONSTRAINT attempts_owner_length CHECK (octet_length(owner) BETWEEN 1 AND 256),
    CONSTRAINT attempts_outcome_known CHECK (outcome IN
        ('completed', 'yielded', 'retrying', 'waiting', 'failed', 'cancelled', 'revoked', 'superseded', 'blocked')),
    CONSTRAINT attempts_ended_whole CHECK ((ended_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT attempts_reason_object CHECK (jsonb_typeof(reason) = 'object')
) WITH (fillfactor = 85);

CREATE TABLE lease.actions (
    id       bigint      GENERATED ALWAYS AS IDENTITY,
    run_id   uuid        NOT NULL,
    acted_at timestamptz NOT NULL,
    action   text        NOT NULL,
    acted_by text        NOT NULL,
    reason   text,
    CONSTRAINT actions_pkey PRIMARY KEY (id),
    CONSTRAINT actions_of_run FOREIGN KEY (run_id) REFERENCES lease.runs (id),
    CONSTRAINT actions_known CHECK (action IN
        ('approve', 'reject', 'cancel', 'retry', 'pause', 'resume', 'revoke')),
    CONSTRAINT actions_by_length CHECK (char_length(acted_by) BETWEEN 1 AND 200)
);

CREATE INDEX actions_by_run ON lease.actions (run_id, id);
