-- Reads runs in the order of their submission.
-- Keeps: nothing is changed.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 status, ?2 outcome of the newest attempt, ?3 key (each NULL: any), ?4 limit
SELECT * FROM (
    SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.priority, r.phase, r.phase_fence, r.phase_owner,
    r.phase_digest, r.status, r.paused, r.fence, r.owner, r.lease_expires_us, r.lease_ended, r.losses, r.failures, r.due_us,
    r.key_epoch, r.input, r.input_digest, r.error, r.submitted_us, c.now_us,
        (SELECT a.outcome FROM lease_attempts a WHERE a.run_id = r.id ORDER BY a.fence DESC LIMIT 1) AS last_outcome
    FROM lease_runs r, store_clock c
    WHERE (?1 IS NULL OR r.status = ?1) AND (?3 IS NULL OR r.key = ?3))
WHERE ?2 IS NULL OR last_outcome = ?2
ORDER BY submitted_us, id
LIMIT ?4
