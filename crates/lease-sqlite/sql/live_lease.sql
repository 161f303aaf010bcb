-- Looks for a run that somebody holds, under the write lock.
-- Keeps: ONE-HOLDER: what is held does not move.
-- Clock: the store's, as the statement runs.
-- Takes: nothing
SELECT r.key, r.owner, r.lease_expires_us - c.now_us AS left_us
FROM lease_runs r, store_clock c
WHERE r.status = 'open' AND r.lease_expires_us IS NOT NULL AND r.lease_expires_us > c.now_us
ORDER BY r.lease_expires_us DESC
LIMIT 1
