-- Reads a run and the clock, under the write lock: what every verdict is judged on. Without such a run, the clock alone.
-- Keeps: NO-LATE-SAVE: the lock is held before the clock is read.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 run
SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.priority, r.phase, r.phase_fence, r.phase_owner,
    r.phase_digest, r.status, r.paused, r.fence, r.owner, r.lease_expires_us, r.lease_ended, r.losses, r.failures, r.due_us,
    r.key_epoch, r.input, r.input_digest, r.error, r.submitted_us, c.now_us
FROM store_clock c
LEFT JOIN lease_runs r ON r.id = ?1
