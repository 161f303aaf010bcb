-- Lets a paused run be claimed again.
-- Keeps: the status, the lease and every counter stand as they are.
-- Clock: the store's, once the row is locked, for the log.
-- Takes: $1 run, $2 who, $3 why
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
        WHEN s.status IN ('open', 'waiting', 'failed') AND s.paused THEN 'done'
        WHEN s.status IN ('open', 'waiting', 'failed') THEN 'already_so'
        ELSE 'status' END AS verdict
    FROM seen s
), done AS (
    UPDATE lease.runs r
    SET paused = false
    FROM judged j
    WHERE r.id = j.id AND j.verdict = 'done'
    RETURNING r.id, j.now
), logged AS (
    INSERT INTO lease.actions (run_id, acted_at, action, acted_by, reason)
    SELECT d.id, d.now, 'resume', $2::text, $3::text FROM done d
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' WHEN j.verdict = 'done' AND d.id IS NULL THEN NULL ELSE j.verdict END AS verdict,
    j.status, j.next_phase, j.fence, j.owner,
    CASE WHEN d.id IS NOT NULL THEN pg_notify('lease_work', '')::text END AS told
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN done d ON true
