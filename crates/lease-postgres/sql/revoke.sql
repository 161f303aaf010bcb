-- Takes the lease with one number, and no later one, from its holder.
-- Keeps: FENCE-UP: the number stays; a lease with another number than the one that was seen is left alone.
-- Clock: the store's, once the row is locked, for the attempt's end and the log.
-- Takes: $1 run, $2 who, $3 why, $4 the attempt's reason, $5 fence
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
        WHEN s.fence > 0 AND s.lease_ended IS NULL THEN
            CASE WHEN s.fence = $5::bigint THEN 'done' ELSE 'other_fence' END
        WHEN s.fence = $5::bigint AND s.lease_ended = 'revoked' THEN 'already_so'
        WHEN s.status IN ('completed', 'failed', 'cancelled') THEN 'status'
        ELSE 'not_held' END AS verdict
    FROM seen s
), done AS (
    -- A check is first made on the row as the snapshot has it: what checks tie together is written together.
    UPDATE lease.runs r
    SET fence = j.fence, owner = j.owner, lease_expires_at = NULL, lease_ended = 'revoked'
    FROM judged j
    WHERE r.id = j.id AND j.verdict = 'done'
    RETURNING r.id, j.now
), ended AS (
    -- ON CONFLICT also reaches an attempt that was committed after this statement's snapshot.
    INSERT INTO lease.attempts AS a (run_id, fence, owner, claimed_at, from_phase, ended_at, outcome, reason)
    SELECT j.id, j.fence, j.owner, j.now, j.phase, j.now, 'revoked', $4::jsonb
    FROM done d JOIN judged j ON j.id = d.id
    WHERE j.fence > 0 AND j.lease_ended IS NULL
    ON CONFLICT (run_id, fence) DO UPDATE
        SET ended_at = excluded.ended_at, outcome = excluded.outcome, reason = excluded.reason
    WHERE a.ended_at IS NULL
), logged AS (
    INSERT INTO lease.actions (run_id, acted_at, action, acted_by, reason)
    SELECT d.id, d.now, 'revoke', $2::text, $3::text FROM done d
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' WHEN j.verdict = 'done' AND d.id IS NULL THEN NULL ELSE j.verdict END AS verdict,
    j.status, j.next_phase, j.fence, j.owner,
    CASE WHEN d.id IS NOT NULL THEN pg_notify('lease_work', '')::text END AS told
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN done d ON true
