-- Ends an attempt, by its holder or by an operator.
-- Keeps: TRUTH: an end known before stays, save a `blocked` that the holder's own request overtook.
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 fence, ?3 now, ?4 outcome, ?5 reason
UPDATE lease_attempts SET ended_us = ?3, outcome = ?4, reason = ?5
WHERE run_id = ?1 AND fence = ?2
  AND (outcome IS NULL OR (outcome = 'blocked' AND ?4 IN ('completed', 'yielded', 'retrying', 'waiting', 'failed')))
