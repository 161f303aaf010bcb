-- Saves a phase with its receipt; with the last phase the run is completed and the lease ended.
-- Keeps: NO-LATE-SAVE, ONE-HOLDER, IN-ORDER, ONE-RECEIPT, ALL-OR-NOTHING; durable, "already saved" included.
-- Clock: the store's, once the row is locked, for the verdict and the new expiry; and at the end of the statement.
-- Takes: $1 run, $2 owner, $3 fence, $4 from phase, $5 to phase, $6 digest, $7 receipt, $8 TTL in milliseconds
WITH durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), locked AS MATERIALIZED (
    SELECT r.id, r.key, r.phases, r.phase, r.phase_fence, r.phase_owner, r.phase_digest, r.status, r.paused, r.fence, r.owner,
           r.lease_expires_at, r.lease_ended
    FROM lease.runs r
    WHERE r.id = $1::uuid AND (SELECT mode FROM durably) IS NOT NULL
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now,
           CASE WHEN l.phase = 'submitted' THEN l.phases[1]
                ELSE l.phases[array_position(l.phases, l.phase) + 1] END AS next_phase,
           $5::text = l.phases[cardinality(l.phases)] AS completes
    FROM locked l
), standing AS MATERIALIZED (
    SELECT s.*, coalesce(s.fence = $3::bigint AND s.owner = $2::text AND s.status IN ('open', 'waiting')
        AND s.lease_ended IS NULL AND s.lease_expires_at > s.now, false) AS held
    FROM seen s
), judged AS MATERIALIZED (
    SELECT s.*, CASE
        WHEN s.phase = $5::text AND s.phase_fence = $3::bigint AND s.phase_owner = $2::text THEN
            CASE WHEN s.phase_digest = $6::text THEN 'already' ELSE 'receipt_conflict' END
        WHEN NOT s.held THEN 'lost'
        WHEN s.phase <> $4::text OR s.next_phase IS DISTINCT FROM $5::text THEN 'phase_conflict'
        WHEN s.held AND s.phase = $4::text AND s.next_phase = $5::text THEN 'done' END AS verdict
    FROM standing s
), saved AS (
    UPDATE lease.runs r
    SET phase = $5::text, phase_fence = $3::bigint, phase_owner = $2::text, phase_digest = $6::text,
        losses = 0, failures = 0,
        status = CASE WHEN j.completes THEN 'completed' ELSE j.status END,
        paused = j.paused AND NOT j.completes,
        lease_expires_at = CASE WHEN NOT j.completes THEN j.now + $8::bigint * interval '1 millisecond' END,
        lease_ended = CASE WHEN j.completes THEN 'completed' END
    FROM judged j
    WHERE r.id = j.id AND j.verdict = 'done'
    RETURNING r.id, r.status, r.lease_expires_at, r.lease_ended, j.now
), receipt AS (
    INSERT INTO lease.receipts (run_id, phase, fence, body, saved_at)
    SELECT d.id, $5::text, $3::bigint, $7::jsonb, d.now FROM saved d
), ended AS (
    UPDATE lease.attempts a
    SET ended_at = d.now, outcome = 'completed', reason = NULL
    FROM saved d
    WHERE d.status = 'completed' AND a.run_id = d.id AND a.fence = $3::bigint
        AND (a.outcome IS NULL OR a.outcome = 'blocked')
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' WHEN j.verdict = 'done' AND d.id IS NULL THEN NULL ELSE j.verdict END AS verdict,
    j.key, j.phase, coalesce(d.status, j.status) AS status, j.paused, j.fence, j.owner,
    CASE WHEN d.id IS NULL THEN j.lease_ended ELSE d.lease_ended END AS lease_ended,
    (extract(epoch FROM CASE WHEN d.id IS NULL THEN j.lease_expires_at ELSE d.lease_expires_at END) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM j.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us,
    -- A refusal has nothing that must survive a crash. "Already saved" must be as durable as the save.
    CASE WHEN j.verdict IS DISTINCT FROM 'done' AND j.verdict IS DISTINCT FROM 'already'
        THEN set_config('synchronous_commit', 'off', true) END AS lazily
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN saved d ON true
