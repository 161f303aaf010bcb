-- Counts open runs of plans that a worker does not know.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 digests of known plans
SELECT p.name, p.version, p.digest, open.runs
FROM lease.plans p CROSS JOIN LATERAL (
    SELECT ready.runs + held.runs + paused.runs AS runs
    FROM (
        SELECT count(*) AS runs FROM lease.runs r
        WHERE r.plan_digest = p.digest AND r.status = 'open' AND NOT r.paused
            AND (r.fence = 0 OR r.lease_ended IS NOT NULL)) ready, (
        SELECT count(*) AS runs FROM lease.runs r
        WHERE r.plan_digest = p.digest AND r.status = 'open' AND r.fence > 0 AND r.lease_ended IS NULL) held, (
        SELECT count(*) AS runs FROM lease.runs r
        WHERE r.plan_digest = p.digest AND r.status = 'open' AND r.paused
            AND (r.fence = 0 OR r.lease_ended IS NOT NULL)) paused
) open
WHERE p.digest <> ALL ($1::text[]) AND open.runs > 0
ORDER BY p.name, p.version
