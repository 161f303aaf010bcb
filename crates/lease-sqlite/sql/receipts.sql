-- Reads a run's receipts in the order of its phases.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 run
SELECT t.phase, t.fence, t.body, t.saved_us
FROM lease_runs r, json_each(r.phases) p
JOIN lease_receipts t ON t.run_id = r.id AND t.phase = p.value
WHERE r.id = ?1
ORDER BY p.key
