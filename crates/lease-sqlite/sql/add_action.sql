-- Keeps what an operator did.
-- Keeps: TRUTH.
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 now, ?3 action, ?4 by whom, ?5 why
INSERT INTO lease_actions (run_id, acted_us, action, acted_by, reason) VALUES (?1, ?2, ?3, ?4, ?5)
