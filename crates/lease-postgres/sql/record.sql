-- Reads a run back with all that belongs to it, in the form in which it is taken in.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 run
SELECT (jsonb_build_object(
        'id', r.id, 'key', r.key, 'plan', r.plan, 'plan_version', r.plan_version, 'plan_digest', r.plan_digest,
        'phases', r.phases, 'priority', r.priority, 'phase', r.phase, 'phase_fence', r.phase_fence,
        'phase_owner', r.phase_owner, 'phase_digest', r.phase_digest, 'status', r.status, 'paused', r.paused,
        'fence', r.fence, 'owner', r.owner, 'expires_us', (extract(epoch FROM r.lease_expires_at) * 1000000)::bigint,
        'lease_ended', r.lease_ended, 'losses', r.losses, 'failures', r.failures)
    || jsonb_build_object(
        'due_us', (extract(epoch FROM r.due_at) * 1000000)::bigint, 'key_epoch', r.key_epoch, 'input', r.input,
        'input_digest', r.input_digest, 'error', r.error,
        'submitted_us', (extract(epoch FROM r.submitted_at) * 1000000)::bigint,
        'receipts', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('phase', t.phase, 'fence', t.fence, 'body', t.body,
                'saved_us', (extract(epoch FROM t.saved_at) * 1000000)::bigint)
                ORDER BY array_position(r.phases, t.phase)), '[]')
            FROM lease.receipts t WHERE t.run_id = r.id),
        'attempts', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('fence', t.fence, 'owner', t.owner,
                'claimed_us', (extract(epoch FROM t.claimed_at) * 1000000)::bigint, 'from_phase', t.from_phase,
                'ended_us', (extract(epoch FROM t.ended_at) * 1000000)::bigint, 'outcome', t.outcome,
                'reason', t.reason) ORDER BY t.fence), '[]')
            FROM lease.attempts t WHERE t.run_id = r.id),
        'actions', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('acted_us', (extract(epoch FROM t.acted_at) * 1000000)::bigint,
                'action', t.action, 'acted_by', t.acted_by, 'reason', t.reason) ORDER BY t.id), '[]')
            FROM lease.actions t WHERE t.run_id = r.id)))::text AS document
FROM lease.runs r
WHERE r.id = $1::uuid
