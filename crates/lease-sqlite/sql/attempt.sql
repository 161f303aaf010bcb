-- Reads one attempt and the clock, under the write lock.
-- Keeps: BLOCKED-NOT-FAILED: the run's row is not looked at.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 run, ?2 fence
SELECT a.fence, a.owner, a.claimed_us, a.from_phase, a.ended_us, a.outcome, a.reason, c.now_us
FROM store_clock c
LEFT JOIN lease_attempts a ON a.run_id = ?1 AND a.fence = ?2
