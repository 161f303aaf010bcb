-- Reads who holds each run of a list and the clock: what a renewal is judged on. Without such a run, the clock alone.
-- Keeps: NO-LAZARUS: for a renewal the write lock is held before the clock is read.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 leases, a JSON array of [run, owner, fence]
SELECT r.fence, r.owner, r.lease_expires_us, r.lease_ended, r.status, r.paused, c.now_us
FROM store_clock c
CROSS JOIN json_each(?1) l
LEFT JOIN lease_runs r ON r.id = l.value ->> 0
ORDER BY l.key
