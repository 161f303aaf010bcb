-- Fails a run at the phase that it waits for.
-- Keeps: TRUTH: the error names who rejected it; only the phase waited for can be rejected.
-- Clock: the store's, once the row is locked, for the log.
-- Takes: $1 run, $2 who, $3 why, $4 phase, $5 message
WITH durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), locked AS MATERIALIZED (
    SELECT r.id, r.phases, r.phase, r.phase_owner, r.status, r.paused, r.fence, r.owner, r.lease_ended, r.failures,
           r.key_epoch, CASE WHEN r.phase = 'submitted' THEN r.phases[1]
                ELSE r.phases[array_position(r.phases, r.phase) + 1] END AS next_phase
    FROM lease.runs r
    WHERE r.id = $1::uuid AND (SELECT mode FROM durably) IS NOT NULL
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now FROM locked l
), judged AS MATERIALIZED (
    SELECT s.*, CASE
        WHEN s.status = 'waiting' AND s.next_phase = $4::text THEN 'done'
        WHEN array_position(s.phases, $4::text) <= array_position(s.phases, s.phase) THEN 'phase_saved'
        WHEN s.status = 'waiting' THEN 'waits_for'
        ELSE 'status' END AS verdict
    FROM seen s
), done AS (
    -- A check is first made on the row as the snapshot has it: what checks tie together is written together.
    UPDATE lease.runs r
    SET status = 'failed', error = jsonb_build_object('phase', $4::text, 'kind', 'rejected', 'message', $5::text,
        'attempts', j.failures::bigint + 1), fence = j.fence, owner = j.owner, lease_expires_at = NULL, lease_ended = j.lease_ended
    FROM judged j
    WHERE r.id = j.id AND j.verdict = 'done'
    RETURNING r.id, j.now
), logged AS (
    INSERT INTO lease.actions (run_id, acted_at, action, acted_by, reason)
    SELECT d.id, d.now, 'reject', $2::text, $3::text FROM done d
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' WHEN j.verdict = 'done' AND d.id IS NULL THEN NULL ELSE j.verdict END AS verdict,
    j.status, j.next_phase, j.fence, j.owner
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN done d ON true
