-- Ends the attempts that never came back, up to a number.
-- Keeps: TRUTH: an end known before stays.
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 fence, ?3 now
UPDATE lease_attempts SET ended_us = ?3, outcome = 'superseded'
WHERE run_id = ?1 AND fence <= ?2 AND ended_us IS NULL
