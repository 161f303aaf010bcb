-- Counts open runs of plans that the asking worker does not know.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 digests of known plans (a JSON array)
SELECT r.plan, r.plan_version, r.plan_digest, count(*) AS runs
FROM lease_runs r
WHERE r.status = 'open' AND r.plan_digest NOT IN (SELECT value FROM json_each(?1))
GROUP BY r.plan, r.plan_version, r.plan_digest
ORDER BY r.plan, r.plan_version, r.plan_digest
