-- Ends an attempt that never ended.
-- Keeps: TRUTH: an end known before stays.
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 fence, ?3 now, ?4 outcome, ?5 reason
UPDATE lease_attempts SET ended_us = ?3, outcome = ?4, reason = ?5
WHERE run_id = ?1 AND fence = ?2 AND ended_us IS NULL
