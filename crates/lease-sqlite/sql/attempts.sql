-- Reads a run's attempts, oldest first.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 run
SELECT a.fence, a.owner, a.claimed_us, a.from_phase, a.ended_us, a.outcome, a.reason
FROM lease_attempts a
WHERE a.run_id = ?1
ORDER BY a.fence
