-- Says when the next run of a known plan falls due, and when the next lease runs out, in microseconds from now.
-- Keeps: LIVENESS: zero for one that may be claimed and was passed over.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 digests of known plans, ?2 runs not to be claimed (both JSON arrays)
WITH tick AS MATERIALIZED (SELECT now_us FROM store_clock)
SELECT (
    SELECT min(max(r.due_us - t.now_us, 0))
    FROM lease_runs r, tick t
    WHERE r.status = 'open' AND r.paused = 0 AND r.lease_expires_us IS NULL
        AND r.plan_digest IN (SELECT value FROM json_each(?1))
        AND (r.due_us > t.now_us OR r.id NOT IN (SELECT value FROM json_each(?2)))) AS due_in_us, (
    SELECT min(max(r.lease_expires_us - t.now_us, 0))
    FROM lease_runs r, tick t
    WHERE r.status = 'open' AND r.paused = 0 AND r.lease_expires_us IS NOT NULL
        AND r.plan_digest IN (SELECT value FROM json_each(?1))
        AND (r.lease_expires_us > t.now_us OR r.id NOT IN (SELECT value FROM json_each(?2)))) AS lapse_in_us
