-- Makes a live lease last a whole TTL from now.
-- Keeps: NO-LAZARUS, ONE-HOLDER; commits lazily, since a forgotten renewal only lets the lease run out sooner.
-- Clock: the store's, once the row is locked, for the verdict and the new expiry; and at the end of the statement.
-- Takes: $1 run, $2 owner, $3 fence, $4 TTL in milliseconds
WITH lazily AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true) AS mode
), locked AS MATERIALIZED (
    SELECT r.id, r.phase, r.status, r.paused, r.fence, r.owner, r.lease_expires_at, r.lease_ended
    FROM lease.runs r
    WHERE r.id = $1::uuid AND (SELECT mode FROM lazily) IS NOT NULL
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now FROM locked l
), judged AS MATERIALIZED (
    SELECT s.*, coalesce(s.fence = $3::bigint AND s.owner = $2::text AND s.status IN ('open', 'waiting')
        AND s.lease_ended IS NULL AND s.lease_expires_at > s.now, false) AS held
    FROM seen s
), renewed AS (
    UPDATE lease.runs r
    SET lease_expires_at = j.now + $4::bigint * interval '1 millisecond'
    FROM judged j
    WHERE r.id = j.id AND j.held
    RETURNING r.id, r.lease_expires_at
)
SELECT CASE WHEN d.id IS NOT NULL THEN 'done' WHEN j.id IS NULL THEN 'gone' ELSE 'lost' END AS verdict,
    j.phase, j.status, j.paused, j.fence, j.owner, j.lease_ended,
    (extract(epoch FROM coalesce(d.lease_expires_at, j.lease_expires_at)) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM j.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN renewed d ON true
