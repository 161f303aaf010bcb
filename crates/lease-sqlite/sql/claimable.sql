-- Finds the next runs to claim, higher priority first, then the longest due.
-- Keeps: LIVENESS; the write lock is held, so what is found stays so.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 digests of known plans, ?2 runs not to be claimed (both JSON arrays), ?3 limit
WITH tick AS MATERIALIZED (SELECT now_us FROM store_clock)
SELECT id FROM (
    SELECT * FROM (
        SELECT r.id, r.priority, r.due_us
        FROM lease_runs r, tick t
        WHERE r.status = 'open' AND r.paused = 0 AND r.lease_expires_us IS NULL AND r.due_us <= t.now_us
            AND r.plan_digest IN (SELECT value FROM json_each(?1)) AND r.id NOT IN (SELECT value FROM json_each(?2))
        ORDER BY r.priority DESC, r.due_us, r.id
        LIMIT ?3)
    UNION ALL
    SELECT r.id, r.priority, r.due_us
    FROM lease_runs r, tick t
    WHERE r.status = 'open' AND r.paused = 0 AND r.lease_expires_us IS NOT NULL AND r.lease_expires_us <= t.now_us
        AND r.due_us <= t.now_us AND r.plan_digest IN (SELECT value FROM json_each(?1))
        AND r.id NOT IN (SELECT value FROM json_each(?2)))
ORDER BY priority DESC, due_us, id
LIMIT ?3
