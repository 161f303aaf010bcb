-- Reads one run, with the outcome of its newest attempt.
-- Keeps: nothing is locked or changed.
-- Clock: the store's, as the row is read, so that a reader can tell how much of a lease is left.
-- Takes: $1 run
SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.priority, r.phase, r.phase_fence, r.phase_owner,
    r.phase_digest, r.status, r.paused, r.fence, r.owner, r.lease_ended, r.losses, r.failures, r.key_epoch,
    r.input::text AS input, r.input_digest, r.error::text AS error,
    (extract(epoch FROM r.lease_expires_at) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM r.due_at) * 1000000)::bigint AS due_us,
    (extract(epoch FROM r.submitted_at) * 1000000)::bigint AS submitted_us,
    newest.outcome AS last_outcome,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
FROM lease.runs r
LEFT JOIN LATERAL (
    SELECT a.outcome FROM lease.attempts a WHERE a.run_id = r.id ORDER BY a.fence DESC LIMIT 1) newest ON true
WHERE r.id = $1::uuid
