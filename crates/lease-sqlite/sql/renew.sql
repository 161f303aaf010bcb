-- Makes live leases last longer, each if it is this holder's, and returns those holds as they are now.
-- Keeps: NO-LAZARUS: owner, number and an expiry that has not come yet.
-- Clock: the store's, as the statement runs, under the write lock.
-- Takes: ?1 leases, a JSON array of [run, owner, fence], ?2 how long they are to last, in microseconds
UPDATE lease_runs AS r SET lease_expires_us = c.now_us + ?2
FROM store_clock c, json_each(?1) l
WHERE r.id = l.value ->> 0 AND r.owner = l.value ->> 1 AND r.fence = l.value ->> 2 AND r.lease_expires_us > c.now_us
RETURNING id, fence, owner, lease_expires_us, lease_ended, status, paused
