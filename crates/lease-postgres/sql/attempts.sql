-- Reads a run's attempts, oldest first.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 run
SELECT a.fence, a.owner, a.from_phase, a.outcome, a.reason::text AS reason,
    (extract(epoch FROM a.claimed_at) * 1000000)::bigint AS claimed_us,
    (extract(epoch FROM a.ended_at) * 1000000)::bigint AS ended_us
FROM lease.attempts a
WHERE a.run_id = $1::uuid
ORDER BY a.fence
