-- Reads a run's receipts in the order of its phases.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 run
SELECT c.phase, c.fence, c.body::text AS body, (extract(epoch FROM c.saved_at) * 1000000)::bigint AS saved_us
FROM lease.receipts c JOIN lease.runs r ON r.id = c.run_id
WHERE c.run_id = $1::uuid
ORDER BY array_position(r.phases, c.phase)
