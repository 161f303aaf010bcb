-- Keeps the receipt of a phase.
-- Keeps: ONE-RECEIPT: a second one for the phase is refused (receipts_one_per_phase).
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 phase, ?3 fence, ?4 body, ?5 now
INSERT INTO lease_receipts (run_id, phase, fence, body, saved_us) VALUES (?1, ?2, ?3, ?4, ?5)
