-- Counts open runs of plans that a worker does not know.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 digests of known plans
SELECT p.name, p.version, p.digest, open.runs
FROM lease.plans p CROSS JOIN LATERAL (
    SELECT count(*) AS runs FROM lease.runs r WHERE r.status = 'open' AND r.plan_digest = p.digest) open
WHERE p.digest <> ALL ($1::text[]) AND open.runs > 0
ORDER BY p.name, p.version
