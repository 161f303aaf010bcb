-- Opens a run that is due at once, unless one with this key is there.
-- Keeps: one run per key; one content per plan name and version (the foreign key to lease.plans decides a race).
-- Clock: the store's, once, for the instants of the submit.
-- Takes: $1 run, $2 key, $3 plan, $4 version, $5 plan digest, $6 phases, $7 priority, $8 input, $9 input digest
WITH durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), tick AS MATERIALIZED (
    SELECT clock_timestamp() AS now FROM durably WHERE mode IS NOT NULL
), by_key AS MATERIALIZED (
    SELECT r.id, r.plan, r.plan_version, r.plan_digest, r.input_digest
    FROM lease.runs r
    WHERE r.key = $2::text
), by_id AS MATERIALIZED (
    SELECT r.id FROM lease.runs r WHERE r.id = $1::uuid AND r.key <> $2::text
), registered AS MATERIALIZED (
    SELECT p.digest FROM lease.plans p WHERE p.name = $3::text AND p.version = $4::int
), opened AS (
    INSERT INTO lease.runs (id, key, plan, plan_version, plan_digest, phases, priority, phase, status, paused, fence,
                            losses, failures, due_at, key_epoch, input, input_digest, submitted_at)
    SELECT $1::uuid, $2::text, $3::text, $4::int, $5::text, $6::text[], $7::int, 'submitted', 'open', false, 0,
           0, 0, t.now, 0, $8::jsonb, $9::text, t.now
    FROM tick t
    WHERE NOT EXISTS (SELECT FROM by_key) AND NOT EXISTS (SELECT FROM registered g WHERE g.digest <> $5::text)
    ON CONFLICT DO NOTHING
    RETURNING id
), noted AS (
    INSERT INTO lease.plans (name, version, digest, phases)
    SELECT $3::text, $4::int, $5::text, $6::text[]
    FROM opened
    WHERE NOT EXISTS (SELECT FROM registered)
    ON CONFLICT DO NOTHING
)
SELECT CASE
        WHEN o.id IS NOT NULL THEN 'opened'
        WHEN k.id IS NOT NULL THEN 'existing'
        WHEN g.digest <> $5::text THEN 'plan_conflict'
        WHEN i.id IS NOT NULL THEN 'id_taken'
        ELSE 'ask_again' END AS verdict,        -- a racing submit won, and this snapshot does not see its run
    k.id AS run, k.plan, k.plan_version, k.plan_digest, k.input_digest, g.digest AS registered,
    CASE WHEN o.id IS NOT NULL THEN pg_notify('lease_work', '')::text END AS told
FROM (VALUES (1)) one
LEFT JOIN by_key k ON true
LEFT JOIN by_id i ON true
LEFT JOIN registered g ON true
LEFT JOIN opened o ON true
