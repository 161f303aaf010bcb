-- Claims the next due runs, higher priority first, then the longest due; sets aside those that lost one lease too many.
-- Keeps: FENCE-UP, ONE-HOLDER, RESUME, LIVENESS; waits for no row; claims, once answered, are durable.
-- Clock: the store's, before the search and once the rows are locked (none is waited for); and at the end.
-- Takes: $1 owners, $2 TTL in milliseconds, $3 digests of known plans, $4 loss limit, $5 runs not to be claimed
WITH RECURSIVE durably AS MATERIALIZED (
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode
), tick AS MATERIALIZED (
    SELECT clock_timestamp() AS at FROM durably WHERE mode IS NOT NULL
), known AS MATERIALIZED (
    SELECT DISTINCT k.digest FROM unnest($3::text[]) k (digest)
), levels (digest, priority) AS (                   -- one look at the index for each plan and priority in use
    SELECT k.digest, top.priority
    FROM known k CROSS JOIN LATERAL (
        SELECT r.priority FROM lease.runs r
        WHERE r.status = 'open' AND NOT r.paused AND (r.fence = 0 OR r.lease_ended IS NOT NULL)
            AND r.plan_digest = k.digest
        ORDER BY r.priority DESC LIMIT 1) top
    UNION ALL
    SELECT l.digest, below.priority
    FROM levels l CROSS JOIN LATERAL (
        SELECT r.priority FROM lease.runs r
        WHERE r.status = 'open' AND NOT r.paused AND (r.fence = 0 OR r.lease_ended IS NOT NULL)
            AND r.plan_digest = l.digest AND r.priority < l.priority
        ORDER BY r.priority DESC LIMIT 1) below
), lapsed AS MATERIALIZED (
    SELECT * FROM (                                 -- its attempt is locked with the run, and counts only if both are
        SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.phase, r.priority, r.due_at, r.fence,
               r.owner, r.lease_ended, r.losses, r.failures, r.key_epoch
        FROM known k JOIN lease.runs r ON r.plan_digest = k.digest
            JOIN lease.attempts a ON a.run_id = r.id AND a.fence = r.fence
        WHERE r.status = 'open' AND r.fence > 0 AND r.lease_ended IS NULL AND NOT r.paused
            AND r.lease_expires_at <= (SELECT at FROM tick) AND r.due_at <= (SELECT at FROM tick)
            AND r.id <> ALL ($5::uuid[])
        ORDER BY r.priority DESC, r.due_at, r.id
        LIMIT cardinality($1::text[])
        FOR NO KEY UPDATE OF r, a SKIP LOCKED) enough
    LIMIT 256                                       -- constants tell the planner how few rows these are
), bare AS MATERIALIZED (                           -- lapsed runs without their attempt: restored in part
    SELECT * FROM (
        SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.phase, r.priority, r.due_at, r.fence,
               r.owner, r.lease_ended, r.losses, r.failures, r.key_epoch
        FROM known k JOIN lease.runs r ON r.plan_digest = k.digest
        WHERE r.status = 'open' AND r.fence > 0 AND r.lease_ended IS NULL AND NOT r.paused
            AND r.lease_expires_at <= (SELECT at FROM tick) AND r.due_at <= (SELECT at FROM tick)
            AND r.id <> ALL ($5::uuid[])
            AND NOT EXISTS (SELECT FROM lease.attempts a WHERE a.run_id = r.id AND a.fence = r.fence)
        ORDER BY r.priority DESC, r.due_at, r.id
        LIMIT cardinality($1::text[])
        FOR NO KEY UPDATE OF r SKIP LOCKED) enough
    LIMIT 256
), ready AS MATERIALIZED (
    SELECT * FROM (
        SELECT next.*
        FROM (SELECT DISTINCT l.priority FROM levels l ORDER BY l.priority DESC) p
        CROSS JOIN LATERAL (
            SELECT due.*
            FROM levels l CROSS JOIN LATERAL (
                SELECT r.id, r.key, r.plan, r.plan_version, r.plan_digest, r.phases, r.phase, r.priority, r.due_at,
                       r.fence, r.owner, r.lease_ended, r.losses, r.failures, r.key_epoch
                FROM lease.runs r
                WHERE r.status = 'open' AND NOT r.paused AND (r.fence = 0 OR r.lease_ended IS NOT NULL)
                    AND r.plan_digest = l.digest AND r.priority = l.priority
                    AND r.due_at <= (SELECT at FROM tick) AND r.id <> ALL ($5::uuid[])
                ORDER BY r.due_at, r.id
                LIMIT cardinality($1::text[])
                FOR NO KEY UPDATE SKIP LOCKED) due
            WHERE l.priority = p.priority
            ORDER BY due.due_at, due.id
            LIMIT cardinality($1::text[])) next
        LIMIT cardinality($1::text[])) enough
    LIMIT 256
), found AS MATERIALIZED (
    SELECT * FROM lapsed UNION ALL SELECT * FROM bare UNION ALL SELECT * FROM ready
), to_close AS MATERIALIZED (                       -- older ones that never ended, too, without a wait
    SELECT a.run_id, a.fence
    FROM found f JOIN lease.attempts a ON a.run_id = f.id
    WHERE a.ended_at IS NULL
    FOR NO KEY UPDATE OF a SKIP LOCKED
), candidates AS MATERIALIZED (
    SELECT * FROM found f
    WHERE NOT EXISTS (
        SELECT FROM lease.attempts a
        WHERE a.run_id = f.id AND a.ended_at IS NULL
            AND (a.run_id, a.fence) NOT IN (SELECT t.run_id, t.fence FROM to_close t))
), locked AS MATERIALIZED (
    SELECT clock_timestamp() AS now FROM (SELECT count(*) FROM candidates) all_of_them
), judged AS MATERIALIZED (
    SELECT c.*, n.now, c.fence > 0 AND c.lease_ended IS NULL AS unended,
           c.losses + (c.fence > 0 AND c.lease_ended IS NULL)::int AS losses_now,
           CASE WHEN c.phase = 'submitted' THEN c.phases[1]
                ELSE c.phases[array_position(c.phases, c.phase) + 1] END AS next_phase,
           CASE WHEN c.losses + (c.fence > 0 AND c.lease_ended IS NULL)::int > $4::int THEN 'set_aside'
                WHEN c.fence = 9223372036854775807 THEN 'exhausted'
                ELSE 'granted' END AS verdict
    FROM candidates c CROSS JOIN locked n
), placed AS MATERIALIZED (
    SELECT j.*, count(*) FILTER (WHERE j.verdict = 'granted')
        OVER (ORDER BY j.priority DESC, j.due_at, j.id ROWS UNBOUNDED PRECEDING) AS slot
    FROM judged j
), picked AS MATERIALIZED (
    SELECT * FROM placed
    WHERE slot < cardinality($1::text[]) OR (verdict = 'granted' AND slot = cardinality($1::text[]))
    LIMIT 512
), changed AS (
    UPDATE lease.runs r
    SET fence = CASE WHEN p.verdict = 'granted' THEN p.fence + 1 ELSE p.fence END,
        owner = CASE WHEN p.verdict = 'granted' THEN ($1::text[])[p.slot] ELSE p.owner END,
        lease_expires_at = CASE WHEN p.verdict = 'granted' THEN p.now + $2::bigint * interval '1 millisecond' END,
        lease_ended = CASE WHEN p.verdict = 'granted' THEN NULL WHEN p.unended THEN 'lapsed' ELSE p.lease_ended END,
        losses = p.losses_now,
        status = CASE WHEN p.verdict = 'granted' THEN 'open' ELSE 'failed' END,
        error = CASE p.verdict
            WHEN 'set_aside' THEN jsonb_build_object('phase', p.next_phase, 'kind', 'set_aside',
                'attempts', p.losses_now::bigint + p.failures,
                'message', format('its lease ran out %s times in a row at this phase', p.losses_now))
            WHEN 'exhausted' THEN jsonb_build_object('phase', p.next_phase, 'kind', 'fence_exhausted',
                'attempts', p.losses_now::bigint + p.failures,
                'message', 'its fencing token stands at the top of its range, so it cannot be claimed again') END
    FROM picked p
    WHERE r.id = p.id
    RETURNING r.id, r.fence, r.owner, r.lease_expires_at, r.error, r.input
), closed AS (
    -- ON CONFLICT also reaches an attempt that was committed after this statement's snapshot.
    INSERT INTO lease.attempts AS a (run_id, fence, owner, claimed_at, from_phase, ended_at, outcome)
    SELECT p.id, p.fence, p.owner, p.now, p.phase, p.now, 'superseded'
    FROM changed c JOIN picked p ON p.id = c.id
    WHERE p.unended
    ON CONFLICT (run_id, fence) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome
    WHERE a.ended_at IS NULL
), closed_older AS (
    UPDATE lease.attempts a
    SET ended_at = p.now, outcome = 'superseded'
    FROM changed c JOIN picked p ON p.id = c.id
    WHERE a.run_id = c.id AND a.fence < p.fence AND a.ended_at IS NULL
), opened AS (
    INSERT INTO lease.attempts (run_id, fence, owner, claimed_at, from_phase)
    SELECT p.id, c.fence, c.owner, p.now, p.phase
    FROM changed c JOIN picked p ON p.id = c.id
    WHERE p.verdict = 'granted'
), idle AS MATERIALIZED (                           -- only where slots stay free: when to look again
    SELECT count(*) FILTER (WHERE p.verdict = 'granted') < cardinality($1::text[]) AS free FROM picked p
), upcoming AS MATERIALIZED (
    SELECT CASE WHEN i.free THEN (
            SELECT min(soonest.due_at)
            FROM levels l CROSS JOIN LATERAL (
                SELECT r.due_at FROM lease.runs r
                WHERE r.status = 'open' AND NOT r.paused AND (r.fence = 0 OR r.lease_ended IS NOT NULL)
                    AND r.plan_digest = l.digest AND r.priority = l.priority
                    AND (r.due_at > (SELECT now FROM locked) OR (r.id <> ALL ($5::uuid[])   -- due, but passed over
                        AND NOT EXISTS (SELECT FROM changed c WHERE c.id = r.id)))
                ORDER BY r.due_at LIMIT 1) soonest) END AS due_at,
        CASE WHEN i.free THEN least((
            SELECT min(r.lease_expires_at)
            FROM known k JOIN lease.runs r ON r.plan_digest = k.digest
            WHERE r.status = 'open' AND r.fence > 0 AND r.lease_ended IS NULL AND NOT r.paused
                AND (r.lease_expires_at > (SELECT now FROM locked) OR (r.id <> ALL ($5::uuid[])
                    AND NOT EXISTS (SELECT FROM changed c WHERE c.id = r.id)))), (
            SELECT min(c.lease_expires_at) FROM changed c)) END AS lapse_at
    FROM idle i
)
SELECT p.verdict, p.id AS run, c.fence, c.owner, p.key, p.plan, p.plan_version, p.plan_digest, p.phases, p.phase,
    p.losses_now AS losses, p.failures, p.key_epoch,
    CASE WHEN p.verdict = 'granted' THEN c.input::text END AS input, c.error::text AS error,
    (extract(epoch FROM c.lease_expires_at) * 1000000)::bigint AS expires_us,
    (extract(epoch FROM u.due_at) * 1000000)::bigint AS next_due_us,
    (extract(epoch FROM u.lapse_at) * 1000000)::bigint AS next_lapse_us,
    (extract(epoch FROM n.now) * 1000000)::bigint AS now_us,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS end_us,
    CASE WHEN c.id IS NULL THEN set_config('synchronous_commit', 'off', true) END AS lazily
FROM locked n
CROSS JOIN upcoming u
LEFT JOIN (changed c JOIN picked p ON p.id = c.id) ON true
ORDER BY p.priority DESC, p.due_at, p.id
