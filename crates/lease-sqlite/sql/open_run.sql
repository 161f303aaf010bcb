-- Opens a run.
-- Keeps: one run per key (UNIQUE), one content per plan name and version (the foreign key).
-- Clock: none; what was read before counts.
-- Takes: ?1 id, ?2 key, ?3 plan, ?4 version, ?5 plan digest, ?6 phases, ?7 priority, ?8 now, ?9 input, ?10 input digest
INSERT INTO lease_runs (id, key, plan, plan_version, plan_digest, phases, priority, phase, status, paused, fence, losses,
    failures, due_us, key_epoch, input, input_digest, submitted_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'submitted', 'open', 0, 0, 0, 0, ?8, 0, ?9, ?10, ?8)
