-- Records on the attempt that its holder was turned away.
-- Keeps: BLOCKED-NOT-FAILED, TRUTH: the run's row is not touched; an end known before stays, save that by a takeover.
-- Clock: none; what was read with the attempt counts.
-- Takes: ?1 run, ?2 fence, ?3 owner, ?4 end, ?5 reason
UPDATE lease_attempts SET ended_us = ?4, outcome = 'blocked', reason = ?5
WHERE run_id = ?1 AND fence = ?2 AND owner = ?3 AND (outcome IS NULL OR outcome = 'superseded')
