-- Ends a lease and fails the run.
-- Keeps: BLOCKED-NOT-FAILED: a stale holder can never fail a run; durable.
-- Clock: the store's, once the row is locked, for the verdict.
-- Takes: $1 run, $2 owner, $3 fence, $4 from phase, $5 error
WITH durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), locked AS MATERIALIZED (
    SELECT r.id, r.phase, r.status, r.paused, r.fence, r.owner, r.lease_expires_at, r.lease_ended
    FROM lease.runs r
    WHERE r.id = $1::uuid AND (SELECT mode FROM durably) IS NOT NULL
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now FROM locked l
), standing AS MATERIALIZED (
    SELECT s.*, coalesce(s.fence = $3::bigint AND s.owner = $2::text AND s.status IN ('open', 'waiting')
        AND s.lease_ended IS NULL AND s.lease_expires_at > s.now, false) AS held
    FROM seen s
), judged AS MATERIALIZED (
    SELECT s.*, CASE
        WHEN s.fence = $3::bigint AND s.owner = $2::text AND s.lease_ended = 'failed' THEN 'already'
        WHEN NOT s.held THEN 'lost'
        WHEN s.phase <> $4::text THEN 'phase_conflict'
        WHEN s.held AND s.phase = $4::text THEN 'done' END AS verdict
    FROM standing s
), failed AS (
    UPDATE lease.runs r
    SET status = 'failed', lease_expires_at = NULL, lease_ended = 'failed', error = $5::jsonb
    FROM judged j
    WHERE r.id = j.id AND j.verdict = 'done'
    RETURNING r.id, j.now
), ended AS (
    UPDATE lease.attempts a
    SET ended_at = d.now, outcome = 'failed', reason = $5::jsonb
    FROM failed d
    WHERE a.run_id = d.id AND a.fence = $3::bigint
        AND (a.outcome IS NULL OR a.outcome = 'blocked')
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' WHEN j.verdict = 'done' AND d.id IS NULL THEN NULL ELSE j.verdict END AS verdict,
    j.phase, j.status, j.paused, j.fence, j.owner, j.lease_ended,
    (extract(epoch FROM j.lease_expires_at) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM j.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us,
    CASE WHEN j.verdict IS DISTINCT FROM 'done' AND j.verdict IS DISTINCT FROM 'already'
        THEN set_config('synchronous_commit', 'off', true) END AS lazily
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN failed d ON true
