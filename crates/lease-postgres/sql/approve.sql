-- Saves the phase that a run waits for: a claim and a save in one.
-- Keeps: FENCE-UP, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING; a second approve of the same phase changes nothing; durable.
-- Clock: the store's, once the row is locked, for the receipt, the attempt and the due instant.
-- Takes: $1 run, $2 who, $3 why, $4 phase, $5 owner of the approval's claim, $6 digest, $7 receipt
WITH durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), locked AS MATERIALIZED (
    SELECT r.id, r.phases, r.phase, r.phase_owner, r.status, r.paused, r.fence, r.owner, r.lease_ended, r.failures,
           r.key_epoch, CASE WHEN r.phase = 'submitted' THEN r.phases[1]
                ELSE r.phases[array_position(r.phases, r.phase) + 1] END AS next_phase
    FROM lease.runs r
    WHERE r.id = $1::uuid AND (SELECT mode FROM durably) IS NOT NULL
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now FROM locked l
), judged AS MATERIALIZED (
    SELECT s.*, $4::text = s.phases[cardinality(s.phases)] AS completes, CASE
        WHEN s.phase = $4::text AND s.phase_owner = $5::text THEN 'already_so'
        WHEN s.status = 'waiting' AND s.next_phase = $4::text THEN
            CASE WHEN s.fence = 9223372036854775807 THEN 'exhausted' ELSE 'done' END
        WHEN array_position(s.phases, $4::text) <= array_position(s.phases, s.phase) THEN 'phase_saved'
        WHEN s.status = 'waiting' THEN 'waits_for'
        ELSE 'status' END AS verdict
    FROM seen s
), done AS (
    UPDATE lease.runs r
    SET phase = $4::text, phase_fence = j.fence + 1, phase_owner = $5::text, phase_digest = $6::text,
        fence = j.fence + 1, owner = $5::text, lease_expires_at = NULL, lease_ended = 'completed',
        losses = 0, failures = 0, error = NULL, due_at = j.now,
        status = CASE WHEN j.completes THEN 'completed' ELSE 'open' END,
        paused = j.paused AND NOT j.completes
    FROM judged j
    WHERE r.id = j.id AND j.verdict = 'done'
    RETURNING r.id, r.fence, j.phase AS from_phase, j.now
), receipt AS (
    INSERT INTO lease.receipts (run_id, phase, fence, body, saved_at)
    SELECT d.id, $4::text, d.fence, $7::jsonb, d.now FROM done d
), closed AS (
    UPDATE lease.attempts a
    SET ended_at = d.now, outcome = 'superseded'
    FROM done d
    WHERE a.run_id = d.id AND a.fence < d.fence AND a.ended_at IS NULL
), attempt AS (
    INSERT INTO lease.attempts (run_id, fence, owner, claimed_at, from_phase, ended_at, outcome, reason)
    SELECT d.id, d.fence, $5::text, d.now, d.from_phase, d.now, 'completed', $7::jsonb FROM done d
), logged AS (
    INSERT INTO lease.actions (run_id, acted_at, action, acted_by, reason)
    SELECT d.id, d.now, 'approve', $2::text, $3::text FROM done d
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' WHEN j.verdict = 'done' AND d.id IS NULL THEN NULL ELSE j.verdict END AS verdict,
    j.status, j.next_phase, j.fence, j.owner,
    CASE WHEN d.id IS NOT NULL THEN pg_notify('lease_work', '')::text END AS told
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN done d ON true
