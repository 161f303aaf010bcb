-- Records on the attempt that its holder was turned away.
-- Keeps: BLOCKED-NOT-FAILED, TRUTH: the run's row is not touched; an end known before stays, save that by a takeover.
-- Clock: the store's, once the attempt is locked, for its end.
-- Takes: $1 run, $2 owner, $3 fence, $4 reason
WITH locked AS MATERIALIZED (
    SELECT a.run_id, a.fence, a.ended_at, a.outcome
    FROM lease.attempts a
    WHERE a.run_id = $1::uuid AND a.fence = $3::bigint AND a.owner = $2::text
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now FROM locked l
), marked AS (
    UPDATE lease.attempts a
    SET ended_at = coalesce(s.ended_at, s.now), outcome = 'blocked', reason = $4::jsonb
    FROM seen s
    WHERE a.run_id = s.run_id AND a.fence = s.fence AND (s.outcome IS NULL OR s.outcome = 'superseded')
    RETURNING a.run_id
)
SELECT CASE WHEN s.run_id IS NULL THEN 'gone' WHEN m.run_id IS NULL THEN 'ended' ELSE 'recorded' END AS verdict,
    s.outcome
FROM (VALUES (1)) one
LEFT JOIN seen s ON true
LEFT JOIN marked m ON true
