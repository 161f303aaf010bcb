-- Takes in a run from another store, with its plan, receipts, attempts and actions.
-- Keeps: FENCE-UP, ONE-RECEIPT: numbers come as they stood; an id or a key that is taken is refused (runs_pkey, runs_key_unique).
-- Clock: none; every instant is the record's own.
-- Takes: $1 the record, as lease-core writes it down
WITH record AS MATERIALIZED (
    SELECT run.*, $1::jsonb AS whole
    FROM jsonb_to_record($1::jsonb) AS run (
        id uuid, key text, plan text, plan_version int, plan_digest text, phases text[], priority int, phase text,
        phase_fence bigint, phase_owner text, phase_digest text, status text, paused boolean, fence bigint, owner text,
        expires_us bigint, lease_ended text, losses int, failures int, due_us bigint, key_epoch int, input jsonb,
        input_digest text, error jsonb, submitted_us bigint)
), planned AS (
    INSERT INTO lease.plans (name, version, digest, phases)
    SELECT r.plan, r.plan_version, r.plan_digest, r.phases FROM record r
    ON CONFLICT DO NOTHING
), opened AS (
    INSERT INTO lease.runs (id, key, plan, plan_version, plan_digest, phases, priority, phase, phase_fence, phase_owner,
        phase_digest, status, paused, fence, owner, lease_expires_at, lease_ended, losses, failures, due_at, key_epoch,
        input, input_digest, error, submitted_at)
    SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.priority, r.phase, r.phase_fence,
        r.phase_owner, r.phase_digest, r.status, r.paused, r.fence, r.owner,
        timestamptz 'epoch' + r.expires_us * interval '1 microsecond', r.lease_ended, r.losses, r.failures,
        timestamptz 'epoch' + r.due_us * interval '1 microsecond', r.key_epoch, r.input, r.input_digest,
        nullif(r.error, 'null'::jsonb), timestamptz 'epoch' + r.submitted_us * interval '1 microsecond'
    FROM record r
    RETURNING id
), receipted AS (
    INSERT INTO lease.receipts (run_id, phase, fence, body, saved_at)
    SELECT o.id, t.phase, t.fence, t.body, timestamptz 'epoch' + t.saved_us * interval '1 microsecond'
    FROM opened o, record r,
        jsonb_to_recordset(r.whole -> 'receipts') AS t (phase text, fence bigint, body jsonb, saved_us bigint)
    RETURNING run_id
), attempted AS (
    INSERT INTO lease.attempts (run_id, fence, owner, claimed_at, from_phase, ended_at, outcome, reason)
    SELECT o.id, t.fence, t.owner, timestamptz 'epoch' + t.claimed_us * interval '1 microsecond', t.from_phase,
        timestamptz 'epoch' + t.ended_us * interval '1 microsecond', t.outcome, nullif(t.reason, 'null'::jsonb)
    FROM opened o, record r, jsonb_to_recordset(r.whole -> 'attempts') AS t (fence bigint, owner text,
        claimed_us bigint, from_phase text, ended_us bigint, outcome text, reason jsonb)
    RETURNING run_id
), acted AS (
    INSERT INTO lease.actions (run_id, acted_at, action, acted_by, reason)
    SELECT o.id, timestamptz 'epoch' + (t.row ->> 'acted_us')::bigint * interval '1 microsecond', t.row ->> 'action',
        t.row ->> 'acted_by', t.row ->> 'reason'
    FROM opened o, record r, jsonb_array_elements(r.whole -> 'actions') WITH ORDINALITY AS t (row, place)
    ORDER BY t.place
    RETURNING run_id
)
SELECT (SELECT count(*) FROM opened) AS runs, (SELECT count(*) FROM receipted) AS receipts,
    (SELECT count(*) FROM attempted) AS attempts, (SELECT count(*) FROM acted) AS actions
