-- Makes each of many live leases last a whole TTL from now, and waits for no row.
-- Keeps: NO-LAZARUS, ONE-HOLDER; one locked row costs the others nothing; commits lazily, as a single renewal does.
-- Clock: the store's, once all rows that can be are locked, for the verdicts and the new expiry; and at the end.
-- Takes: $1 runs, $2 owners, $3 fences, $4 TTL in milliseconds
WITH lazily AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true) AS mode
), asked AS MATERIALIZED (
    SELECT a.* FROM unnest($1::uuid[], $2::text[], $3::bigint[]) WITH ORDINALITY a (id, owner, fence, place)
), locked AS MATERIALIZED (
    SELECT r.id, r.phase, r.status, r.paused, r.fence, r.owner, r.lease_expires_at, r.lease_ended
    FROM lease.runs r
    WHERE r.id = ANY ($1::uuid[]) AND (SELECT mode FROM lazily) IS NOT NULL
    ORDER BY r.id
    FOR NO KEY UPDATE SKIP LOCKED
), tick AS MATERIALIZED (
    SELECT clock_timestamp() AS now FROM (SELECT count(*) FROM locked) all_of_them
), judged AS MATERIALIZED (
    SELECT a.place, a.id AS run, l.*, t.now,
        coalesce(l.fence = a.fence AND l.owner = a.owner AND l.status IN ('open', 'waiting')
            AND l.lease_ended IS NULL AND l.lease_expires_at > t.now, false) AS held
    FROM tick t CROSS JOIN asked a LEFT JOIN locked l ON l.id = a.id
), renewed AS (
    UPDATE lease.runs r
    SET lease_expires_at = j.now + $4::bigint * interval '1 millisecond'
    FROM (SELECT DISTINCT ON (id) id, now FROM judged WHERE held ORDER BY id) j
    WHERE r.id = j.id AND r.id = ANY ($1::uuid[])
    RETURNING r.id, r.lease_expires_at
)
SELECT CASE
        WHEN j.held AND d.id IS NOT NULL THEN 'done'
        WHEN j.id IS NOT NULL THEN 'lost'
        WHEN EXISTS (SELECT FROM lease.runs x WHERE x.id = j.run) THEN 'not_judged'
        ELSE 'gone' END AS verdict,
    j.phase, j.status, j.paused, j.fence, j.owner, j.lease_ended,
    (extract(epoch FROM CASE WHEN j.held THEN d.lease_expires_at ELSE j.lease_expires_at END) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM j.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us
FROM judged j
LEFT JOIN renewed d ON d.id = j.id
ORDER BY j.place
