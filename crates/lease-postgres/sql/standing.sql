-- Reads whether a lease may still be used.
-- Keeps: nothing is locked or changed.
-- Clock: the store's, after the row was read.
-- Takes: $1 run
WITH run AS MATERIALIZED (
    SELECT r.id, r.phase, r.status, r.paused, r.fence, r.owner, r.lease_expires_at, r.lease_ended
    FROM lease.runs r
    WHERE r.id = $1::uuid
), seen AS MATERIALIZED (
    SELECT r.*, clock_timestamp() AS now FROM run r
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' ELSE 'seen' END AS verdict,
    j.phase, j.status, j.paused, j.fence, j.owner, j.lease_ended,
    (extract(epoch FROM j.lease_expires_at) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM j.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us
FROM (VALUES (1)) one
LEFT JOIN seen j ON true
