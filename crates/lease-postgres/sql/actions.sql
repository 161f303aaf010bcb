-- Reads what operators did to a run, oldest first.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 run
SELECT a.action, a.acted_by, a.reason, (extract(epoch FROM a.acted_at) * 1000000)::bigint AS acted_us
FROM lease.actions a
WHERE a.run_id = $1::uuid
ORDER BY a.id
