-- Reads one run, with the outcome of its newest attempt.
-- Keeps: nothing is changed.
-- Clock: the store's, as the statement runs, so that a reader can tell how much of a lease is left.
-- Takes: ?1 run
SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.priority, r.phase, r.phase_fence, r.phase_owner,
    r.phase_digest, r.status, r.paused, r.fence, r.owner, r.lease_expires_us, r.lease_ended, r.losses, r.failures, r.due_us,
    r.key_epoch, r.input, r.input_digest, r.error, r.submitted_us, c.now_us,
    (SELECT a.outcome FROM lease_attempts a WHERE a.run_id = r.id ORDER BY a.fence DESC LIMIT 1) AS last_outcome
FROM lease_runs r, store_clock c
WHERE r.id = ?1
