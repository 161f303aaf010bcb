-- Looks for a transfer that arrived.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 transfer
SELECT t.runs, t.digest::text AS digest FROM lease.transfers t WHERE t.id = $1::uuid
