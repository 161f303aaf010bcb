-- Claims one run, or sets it aside as failed where it lost one lease too many or has no number left, or says why not.
-- Keeps: FENCE-UP, ONE-HOLDER, RESUME; a claim, once answered, is durable.
-- Clock: the store's, once the row is locked, for the verdict and the new expiry; and at the end of the statement.
-- Takes: $1 run, $2 owner, $3 TTL in milliseconds, $4 digests of known plans, $5 loss limit
WITH durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), locked AS MATERIALIZED (
    SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.phase, r.status, r.paused, r.fence, r.owner,
           r.lease_expires_at, r.lease_ended, r.losses, r.failures, r.due_at, r.key_epoch
    FROM lease.runs r
    WHERE r.id = $1::uuid AND (SELECT mode FROM durably) IS NOT NULL
    FOR NO KEY UPDATE
), seen AS MATERIALIZED (
    SELECT l.*, clock_timestamp() AS now, l.fence > 0 AND l.lease_ended IS NULL AS unended,
           l.losses + (l.fence > 0 AND l.lease_ended IS NULL)::int AS losses_now,
           CASE WHEN l.phase = 'submitted' THEN l.phases[1]
                ELSE l.phases[array_position(l.phases, l.phase) + 1] END AS next_phase
    FROM locked l
), judged AS MATERIALIZED (
    SELECT s.*, CASE
        WHEN s.status IN ('completed', 'failed', 'cancelled') THEN 'finished'
        WHEN s.plan_digest <> ALL ($4::text[]) THEN 'unknown_plan'
        WHEN s.unended AND s.lease_expires_at > s.now THEN 'busy'
        WHEN s.status = 'waiting' THEN 'waiting'
        WHEN s.paused THEN 'paused'
        WHEN s.due_at > s.now THEN 'not_due'
        WHEN s.losses_now > $5::int THEN 'set_aside'
        WHEN s.fence = 9223372036854775807 THEN 'exhausted'
        WHEN s.status = 'open' AND s.plan_digest = ANY ($4::text[]) AND s.due_at <= s.now
            AND (s.fence = 0 OR s.lease_ended IS NOT NULL OR s.lease_expires_at <= s.now) THEN 'granted' END AS verdict
    FROM seen s
), changed AS (
    UPDATE lease.runs r
    SET fence = CASE WHEN j.verdict = 'granted' THEN j.fence + 1 ELSE j.fence END,
        owner = CASE WHEN j.verdict = 'granted' THEN $2::text ELSE j.owner END,
        lease_expires_at = CASE WHEN j.verdict = 'granted' THEN j.now + $3::bigint * interval '1 millisecond' END,
        lease_ended = CASE WHEN j.verdict = 'granted' THEN NULL WHEN j.unended THEN 'lapsed' ELSE j.lease_ended END,
        losses = j.losses_now,
        status = CASE WHEN j.verdict = 'granted' THEN j.status ELSE 'failed' END,
        error = CASE j.verdict
            WHEN 'set_aside' THEN jsonb_build_object('phase', j.next_phase, 'kind', 'set_aside',
                'attempts', j.losses_now::bigint + j.failures,
                'message', format('its lease ran out %s times in a row at this phase', j.losses_now))
            WHEN 'exhausted' THEN jsonb_build_object('phase', j.next_phase, 'kind', 'fence_exhausted',
                'attempts', j.losses_now::bigint + j.failures,
                'message', 'its fencing token stands at the top of its range, so it cannot be claimed again') END
    FROM judged j
    WHERE r.id = j.id AND j.verdict IN ('granted', 'set_aside', 'exhausted')
    RETURNING r.id, r.fence, r.lease_expires_at, r.error, r.input
), closed AS (
    -- ON CONFLICT also reaches an attempt that was committed after this statement's snapshot.
    INSERT INTO lease.attempts AS a (run_id, fence, owner, claimed_at, from_phase, ended_at, outcome)
    SELECT j.id, j.fence, j.owner, j.now, j.phase, j.now, 'superseded'
    FROM changed c JOIN judged j ON j.id = c.id
    WHERE j.unended
    ON CONFLICT (run_id, fence) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome
    WHERE a.ended_at IS NULL
), closed_older AS (
    UPDATE lease.attempts a
    SET ended_at = j.now, outcome = 'superseded'
    FROM changed c JOIN judged j ON j.id = c.id
    WHERE a.run_id = c.id AND a.fence < j.fence AND a.ended_at IS NULL
), opened AS (
    INSERT INTO lease.attempts (run_id, fence, owner, claimed_at, from_phase)
    SELECT j.id, c.fence, $2::text, j.now, j.phase
    FROM changed c JOIN judged j ON j.id = c.id
    WHERE j.verdict = 'granted'
)
SELECT CASE WHEN j.id IS NULL THEN 'gone' ELSE j.verdict END AS verdict, coalesce(c.fence, j.fence) AS fence, j.owner AS holder, j.status,
    j.key, j.plan, j.plan_version, j.plan_digest, j.phases, j.phase, j.next_phase, j.losses_now AS losses, j.failures,
    j.key_epoch, CASE WHEN j.verdict = 'granted' THEN c.input::text END AS input, c.error::text AS error,
    (extract(epoch FROM j.due_at) * 1000000)::bigint AS due_us,
    (extract(epoch FROM coalesce(c.lease_expires_at, j.lease_expires_at)) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM j.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us,
    -- A refusal has nothing that must survive a crash, so it need not wait for the disk.
    CASE WHEN c.id IS NULL THEN set_config('synchronous_commit', 'off', true) END AS lazily
FROM (VALUES (1)) one
LEFT JOIN judged j ON true
LEFT JOIN changed c ON true
